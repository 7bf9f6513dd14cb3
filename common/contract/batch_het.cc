// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/batch_het.h"

#include "common/base/json.h"

namespace bridge {

std::string batch_het_tag(const std::string &script_name)
{
    return JsonValue::object({{"slurmk8s", 1},
                              {"sbatch", script_name},
                              {"components", some_components}})
        .dump();
}

} // namespace bridge
