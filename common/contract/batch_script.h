// SPDX-License-Identifier: GPL-2.0-or-later
// What sbatch submits with a job that is to run as a Pod, as one text.
// job_submit/k8s writes it to a file; the agent reads it when the job has a
// node. All of it comes from the user and must be checked before use. user_id
// and group_id are only compared: the owner of the job is what Slurm says.
// Pure.
#pragma once

#include "common/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bridge {

struct BatchScript {
    std::uint32_t user_id = 0;
    std::uint32_t group_id = 0;
    std::string image{};
    std::string work_dir{};
    std::string script{};
    std::vector<std::string> arguments{};   // without the script's name
    std::vector<std::string> environment{}; // NAME=value, as in sbatch
    std::string output{}; // --output, with its patterns; empty: not given
    std::string error{};  // --error
    bool append = false;  // append to these files instead of truncating them
    std::string array{};  // --array, as slurmctld accepted it; empty: none
    std::string input{};  // --input, with its patterns; empty: /dev/null
    // --signal=B:…; 0: none. How long before the job's end: seconds.
    std::uint16_t signal = 0;
    std::uint16_t signal_seconds = 0;
    std::vector<std::string> variables{}; // --k8s-env
    std::vector<std::string> volumes{};   // --k8s-volume, without duplicates
    std::string service_account{}; // --k8s-service-account; empty: not given
    std::string name_space{};      // --k8s-namespace; empty: not given
    // Jobs of several nodes: 64 random hexadecimal digits, from which the key
    // is derived that authenticates the Pods of the job to each other. Empty in
    // files of an earlier version.
    std::string step_key{};

    bool operator==(const BatchScript &) const = default;
};

// Returns the file's text: records KEY=VALUE, each ended by a zero byte, which
// no text from Slurm contains. The last record shows that the file is complete.
std::string encode(const BatchScript &batch);

// Code::newer for a text that is sound but says something that only a later
// release knows: the job must not run without it, and may run once the agent
// is upgraded. Code::rejected for anything else that encode() does not write,
// and for an incomplete text.
Result<BatchScript> decode_batch_script(std::string_view text);

// Tells whether name is the name of a script file: 32 random lower-case
// hexadecimal digits.
bool is_script_name(std::string_view name);

// Returns the admin_comment of a batch job that has no Pod yet: see GangTag.
std::string batch_tag(const std::string &script_name);

} // namespace bridge
