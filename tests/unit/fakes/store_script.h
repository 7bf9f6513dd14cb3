// SPDX-License-Identifier: GPL-2.0-or-later
// A script as job_submit/k8s stores it.
#pragma once

#include "common/contract/script_dir.h"

#include <string>
#include <string_view>

namespace bridge {

// Returns its new name.
inline Result<std::string> store_script(const ScriptDir &scripts,
                                        std::string_view text)
{
    std::string name = new_script_name();
    if (auto done = scripts.put(name, text); !done)
        return std::unexpected(done.error());
    return name;
}

} // namespace bridge
