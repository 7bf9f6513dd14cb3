// SPDX-License-Identifier: GPL-2.0-or-later
// The files that a site gives to its slurmctld by reference: ConfigMaps of the
// Controller's namespace, and the keys of jwksKeyRef. They are copied into the
// ConfigMap that slurmctld has its files from, so that it gets nothing that was
// not tried. Pure.
#pragma once

#include "operator/decide/objects.h"

#include <string>

namespace bridge::slinky {

struct SiteFiles {
    bool known = true; // false: the ConfigMaps were not read yet
    TextMap texts;     // by file name
    TextMap binaries;  // in base64
    std::string lines; // of slurm.conf, for the scripts
    std::string problem;
};

// Whether it names any ConfigMap.
bool names_files(const Controller &controller);

SiteFiles site_files(const Known &known, const Controller &controller);

} // namespace bridge::slinky
