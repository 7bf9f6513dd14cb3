// SPDX-License-Identifier: GPL-2.0-or-later
// What slurmk8s check needs to know about Slurm, as values.
#pragma once

#include "common/base/result.h"
#include "common/slurm/api.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

struct PartitionFacts {
    std::string name;
    std::vector<std::string> nodes;
    bool up = true;
    bool suspends = false;       // preempted jobs are suspended
    bool exclusive = false;      // OverSubscribe=EXCLUSIVE
    bool forces_sharing = false; // OverSubscribe=FORCE
    bool memory_default = false; // DefMemPerCPU or DefMemPerNode
    std::uint16_t priority_tier = 1;
    std::chrono::seconds grace_time{0};
};

struct SlurmFacts {
    std::string version;    // of slurmctld, such as "26.05.5"
    std::string built_for;  // of the headers that our plugins were built with
    std::string conf_path;  // its slurm.conf
    std::string slurm_user; // name of SlurmUser
    std::uint32_t slurm_user_id = 0;
    std::vector<std::string> job_submit_plugins; // "k8s"
    std::vector<std::string> prep_plugins;       // "script", "k8s"
    std::vector<std::string> node_features_plugins;
    std::vector<std::string> gres_types;
    std::string burst_buffer;    // such as "k8s"; "": none
    bool prolog_scripts = false; // a Prolog, Epilog or …Slurmctld is set
    std::optional<std::uint32_t> max_nodes; // nothing: not set
    std::uint32_t max_jobs = 0;             // MaxJobCount; 0: not known
    std::chrono::seconds min_job_age{0};    // 0: without limit
    std::chrono::seconds complete_wait{0};
    std::string select_type;
    bool counts_memory = false; // SelectTypeParameters=CR_…_Memory
    bool memory_default = false;
    bool enforces_part_limits = false;
    bool enforces_all_limits = false; // EnforcePartLimits=ALL
    std::string scheduler_type;
    std::map<std::string, std::string> scheduler_parameters; // by name
    bool gang = false;            // PreemptMode=…,GANG
    bool powers_down = false;     // SuspendProgram and SuspendTime
    bool spares_some = false;     // SuspendExcNodes or SuspendExcParts
    bool accounting = false;      // slurmdbd is used
    bool stores_comment = false;  // AccountingStoreFlags=job_comment
    bool enforces_limits = false; // AccountingStorageEnforce=limits
    // All words of these two settings; their values are empty.
    std::map<std::string, std::string> store_flags;
    std::map<std::string, std::string> enforced;
    // The QoS of slurmdbd; nothing if there is no slurmdbd or it does not
    // answer.
    std::optional<std::set<std::string>> qos;
    // The users with an association in this cluster; nothing if
    // AccountingStorageEnforce asks for none, or slurmdbd does not answer.
    std::optional<std::set<std::string>> associated_users;
    std::string state_save_location;
    std::vector<PartitionFacts> partitions;
    std::vector<SlurmNode> nodes;
};

// Asks slurmctld, and slurmdbd if there is one; blocks while they do not
// answer. Code::busy: slurmctld did not answer.
Result<SlurmFacts> load_slurm_facts(Slurm &slurm);

} // namespace bridge
