// SPDX-License-Identifier: GPL-2.0-or-later
// How far a configuration has come on its way to slurmctld: it is tried, put
// into the ConfigMap, announced to the Pod, and read. Pure.
#pragma once

#include "operator/decide/configuration.h"
#include "operator/decide/objects.h"
#include "operator/decide/status.h"
#include "operator/decide/step.h"
#include "operator/decide/trial.h"

#include <optional>
#include <string>

namespace bridge::slinky {

struct ConfigState {
    Configuration wanted;
    std::string live;     // the hash of the one that slurmctld gets, or ""
    bool applied = false; // slurmctld has read that one, as slurmk8sd tells
    Trial trial;

    bool may_try() const { return wanted.known && wanted.problem.empty(); }
    bool accepted() const
    {
        return may_try() && (live == wanted.hash ||
                             trial.verdict == Trial::Verdict::accepted);
    }
};

ConfigState config_state(const Known &known, const Controller &controller);

// So that the kubelet looks at the Pod of slurmctld, and puts the files of the
// ConfigMap there at once. Returns nothing if it has done so.
std::optional<Step> announce(const Known &known, const Controller &controller,
                             const std::string &live);

// The conditions ConfigValid and ConfigApplied.
Said config_valid(const Controller &controller, const ConfigState &config);
Said config_applied(const Known &known, const Controller &controller,
                    const ConfigState &config);

} // namespace bridge::slinky
