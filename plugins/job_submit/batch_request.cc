// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_request.h"

#include "common/base/variable_name.h"
#include "common/contract/batch_names.h"
#include "common/contract/constraints.h"
#include "common/contract/names.h"
#include "plugins/job_submit/job_desc.h"

#include <algorithm>

namespace bridge {

BatchScript batch_script(const job_desc_msg_t &desc, const BatchWish &wish,
                         bool append)
{
    BatchScript batch;
    batch.user_id = desc.user_id;
    batch.group_id = desc.group_id;
    batch.image = wish.image;
    batch.work_dir = desc.work_dir ? desc.work_dir : "";
    batch.script = desc.script;
    for (std::uint32_t i = 1; desc.argv && i < desc.argc; i++)
        if (desc.argv[i])
            batch.arguments.emplace_back(desc.argv[i]);
    for (std::uint32_t i = 0; desc.environment && i < desc.env_size; i++)
        if (desc.environment[i])
            batch.environment.emplace_back(desc.environment[i]);
    batch.output = desc.std_out ? desc.std_out : "";
    batch.error = desc.std_err ? desc.std_err : "";
    batch.append = desc.open_mode == OPEN_MODE_APPEND ||
                   (append && desc.open_mode != OPEN_MODE_TRUNCATE);
    if (desc.open_mode != 0) { // as slurmctld does
        std::erase_if(batch.environment, [](std::string_view entry) {
            return variable_name(entry) == "SLURM_OPEN_MODE";
        });
        batch.environment.emplace_back(desc.open_mode == OPEN_MODE_APPEND
                                           ? "SLURM_OPEN_MODE=a"
                                           : "SLURM_OPEN_MODE=t");
    }
    batch.array = is_array(desc) ? desc.array_inx : "";
    // sbatch fills in /dev/null by default.
    if (given(desc.std_in) && std::string_view(desc.std_in) != "/dev/null")
        batch.input = desc.std_in;
    // Without B: the signal is only for the job's steps, and there are none.
    // With a time of 0 slurmctld sends no signal before the time limit.
    if (has_signal(desc) && desc.warn_flags & KILL_JOB_BATCH &&
        desc.warn_time != 0) {
        batch.signal = desc.warn_signal;
        batch.signal_seconds = desc.warn_time;
    }
    batch.variables = wish.variables;
    batch.volumes = wish.volumes;
    batch.service_account = wish.service_account;
    batch.name_space = wish.name_space;
    return batch;
}

std::size_t size_in_secret(const BatchScript &batch, std::size_t text)
{
    constexpr std::size_t for_word = 8;  // quotes and a line break
    constexpr std::size_t for_quote = 3; // \' and two more
    std::size_t size = text;
    for (const auto *words :
         {&batch.arguments, &batch.environment, &batch.variables})
        for (const std::string &word : *words)
            size += for_word + for_quote * static_cast<std::size_t>(
                                               std::ranges::count(word, '\''));
    return size;
}

std::string batch_features(const std::string &users, const Conf &conf)
{
    return join_constraints(users,
                            {names::feature, conf.batch_template.empty()
                                                 ? names::untainted_feature
                                                 : names::batch_feature});
}

} // namespace bridge
