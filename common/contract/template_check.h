// SPDX-License-Identifier: GPL-2.0-or-later
// Looks at a site's template for the Pods of batch jobs. Pure.
#pragma once

#include "common/base/json.h"

#include <string>
#include <vector>

namespace bridge {

struct TemplateFindings {
    std::string why; // the field, and what is wrong with it; empty: nothing
    std::vector<std::string> choosable{}; // volumes, as it says
};

TemplateFindings check_template(const Json &pod);

} // namespace bridge
