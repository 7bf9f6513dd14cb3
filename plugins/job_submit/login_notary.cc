// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/login_notary.h"

#include "common/contract/login_dir.h"

#include <string_view>

namespace bridge {

std::optional<std::string> login_in(std::span<char *const> spank_job_env)
{
    const std::string prefix = std::string(names::login_variable) + "=";
    for (const char *text : spank_job_env)
        if (std::string_view entry = text ? text : "";
            entry.starts_with(prefix))
            return std::string(entry.substr(prefix.size()));
    return std::nullopt;
}

} // namespace bridge
