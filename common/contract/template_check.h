// SPDX-License-Identifier: GPL-2.0-or-later
// Validates a site's template for the Pods of batch jobs. Pure.
#pragma once

#include "common/base/json.h"

#include <string>
#include <vector>

namespace bridge {

struct TemplateFindings {
    std::string
        reason; // the field and the reason; empty: the template is valid
    std::vector<std::string> choosable{}; // the volumes that jobs may choose
};

TemplateFindings check_template(const Json &pod);

} // namespace bridge
