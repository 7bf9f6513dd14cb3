// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/shared/pod_array.h"

#include "common/contract/batch_names.h"
#include "common/contract/batch_script.h"
#include "common/contract/names.h"

#include <span>
#include <string>

namespace bridge {

const char array_stub[] =
    "#!/bin/sh\n"
    "echo 'burst_buffer/k8s has not taken this job array' >&2\n"
    "exit 1\n";

bool makes_pod_arrays(std::string_view burst_buffer_type)
{
    return burst_buffer_type == "burst_buffer/k8s" ||
           burst_buffer_type == "k8s";
}

bool is_pod_array(const job_desc_msg_t &desc)
{
    if (!desc.array_inx || !desc.script || !desc.spank_job_env ||
        std::string_view(desc.script) != array_stub)
        return false;
    const std::string mark =
        std::string(names::job_mark) + "=" + names::batch_mark;
    for (const char *text :
         std::span(desc.spank_job_env, desc.spank_job_env_size)) {
        std::string_view entry = text ? text : "";
        if (entry.starts_with(mark) &&
            is_script_name(entry.substr(mark.size())))
            return true;
    }
    return false;
}

} // namespace bridge
