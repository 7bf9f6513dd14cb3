// SPDX-License-Identifier: GPL-2.0-or-later
// What sbatch hands over with a job that is to run as a Pod, as one text:
// job_submit/k8s writes it to a file, the agent reads that when the job has a
// node. Everything in it is the user's and hostile until checked; whom the job
// belongs to is asked of Slurm, and here only compared. Pure.
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
    std::vector<std::string> arguments{};   // without the script's own name
    std::vector<std::string> environment{}; // NAME=value, as sbatch had it
    std::string output{}; // --output, with its patterns; empty: not given
    std::string error{};  // --error
    bool append = false;  // to these files; else they are emptied first
    std::string array{};  // --array, as slurmctld has taken it; empty: none
    std::string input{};  // --input, with its patterns; empty: /dev/null
    // --signal=B:…, and how long before the job's end; 0: none.
    std::uint16_t signal = 0;
    std::uint16_t signal_seconds = 0;
    std::vector<std::string> variables{}; // --k8s-env
    std::vector<std::string> volumes{};   // --k8s-volume, each once
    std::string service_account{};        // --k8s-service-account, if given
    std::string name_space{};             // --k8s-namespace, if given
    // Of several nodes: of what the key is made by which its Pods know each
    // other, 64 hexadecimal digits, random. Empty in files of an earlier
    // version.
    std::string step_key{};

    bool operator==(const BatchScript &) const = default;
};

// Records KEY=VALUE, each closed by a zero byte, which no text of Slurm has;
// the last one says that nothing is missing.
std::string encode(const BatchScript &batch);

// Code::rejected for what encode() does not write, also for a part of it.
Result<BatchScript> decode_batch_script(std::string_view text);

// The name of a script's file: 32 lower-case hexadecimal digits, random.
bool is_script_name(std::string_view name);

// The admin_comment of a batch job that has no Pod yet: see GangTag.
std::string batch_tag(const std::string &script_name);

} // namespace bridge
