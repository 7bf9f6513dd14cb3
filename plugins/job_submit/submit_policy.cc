// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/submit_policy.h"

#include "common/contract/names.h"

#include <cstddef>
#include <cstring>
#include <set>
#include <string_view>

namespace bridge {

namespace {

using Desc = job_desc_msg_t;

struct Field {
    const char *name; // as scontrol has it, if it does
    bool (*changed)(const Desc &desc, const Desc &unset);
};

template <auto field> bool differs(const Desc &desc, const Desc &unset)
{
    return desc.*field != unset.*field;
}

// slurmctld sets some flags for values that a description, even an update,
// leaves out (slurm_protocol_pack.c).
bool flags_differ(const Desc &desc, const Desc &unset)
{
    constexpr std::uint64_t defaults = USE_DEFAULT_ACCT | USE_DEFAULT_PART |
                                       USE_DEFAULT_QOS | USE_DEFAULT_WCKEY;
    return (desc.bitflags & ~defaults) != unset.bitflags;
}

// Fields that the owner of a placeholder job may not change. Fields that are
// not in this table may be changed:
//    priority, alloc_sid, nice
//        hold, release, or lower the priority: _update_job() in job_mgr.c lets
//        no user raise a priority or set a negative nice
//    time_limit, end_time
//        _update_job() lets no user extend a running job; a pending one at
//        most to the limit of its partition, as any user's job
//    begin_time, comment
// The table also leaves out fields that address the job, that slurmctld sets
// itself before it calls us (alloc_node, user_id, site_factor), or that no
// update reads.
constexpr Field forbidden[] = {
    {"Account", differs<&Desc::account>},
    {"AcctgFreq", differs<&Desc::acctg_freq>},
    {"AdminComment", differs<&Desc::admin_comment>},
    {"Args", differs<&Desc::argc>},
    {"ArrayTaskThrottle", differs<&Desc::array_inx>},
    {"BatchFeatures", differs<&Desc::batch_features>},
    {"BoardsPerNode", differs<&Desc::boards_per_node>},
    {"BurstBuffer", differs<&Desc::burst_buffer>},
    {"ClusterFeatures", differs<&Desc::cluster_features>},
    {"Clusters", differs<&Desc::clusters>},
    {"Container", differs<&Desc::container>},
    {"ContainerId", differs<&Desc::container_id>},
    {"ContainerType", differs<&Desc::container_type>},
    {"Contiguous", differs<&Desc::contiguous>},
    {"CoreSpec", differs<&Desc::core_spec>},
    {"CpuBind", differs<&Desc::cpu_bind>},
    {"CpuBindType", differs<&Desc::cpu_bind_type>},
    {"CpuFreqGov", differs<&Desc::cpu_freq_gov>},
    {"CpuFreqMax", differs<&Desc::cpu_freq_max>},
    {"CpuFreqMin", differs<&Desc::cpu_freq_min>},
    {"CPUsPerTask", differs<&Desc::cpus_per_task>},
    {"CpusPerTres", differs<&Desc::cpus_per_tres>},
    {"Deadline", differs<&Desc::deadline>},
    {"DelayBoot", differs<&Desc::delay_boot>},
    {"Dependency", differs<&Desc::dependency>},
    {"Environment", differs<&Desc::env_size>},
    {"ExcNodeList", differs<&Desc::exc_nodes>},
    {"Extra", differs<&Desc::extra>},
    {"Features", differs<&Desc::features>},
    {"Flags", flags_differ},
    {"GroupId", differs<&Desc::group_id>},
    {"JobName", differs<&Desc::name>},
    {"JobSize", differs<&Desc::job_size_str>},
    {"KillOnNodeFail", differs<&Desc::kill_on_node_fail>},
    {"Licenses", differs<&Desc::licenses>},
    {"MailType", differs<&Desc::mail_type>},
    {"MailUser", differs<&Desc::mail_user>},
    {"MaxCPUs", differs<&Desc::max_cpus>},
    {"MaxNodes", differs<&Desc::max_nodes>},
    {"MCSLabel", differs<&Desc::mcs_label>},
    {"MemBind", differs<&Desc::mem_bind>},
    {"MemBindType", differs<&Desc::mem_bind_type>},
    {"MemPerTres", differs<&Desc::mem_per_tres>},
    {"MemUpdateDelay", differs<&Desc::mem_update_delay>},
    {"MemUpdateMargin", differs<&Desc::mem_update_margin>},
    {"MinCPUsNode", differs<&Desc::pn_min_cpus>},
    {"MinMemory", differs<&Desc::pn_min_memory>},
    {"MinTmpDiskNode", differs<&Desc::pn_min_tmp_disk>},
    {"Network", differs<&Desc::network>},
    {"NumCPUs", differs<&Desc::min_cpus>},
    {"NumNodes", differs<&Desc::min_nodes>},
    {"NumTasks", differs<&Desc::num_tasks>},
    {"OomKillStep", differs<&Desc::oom_kill_step>},
    {"OpenMode", differs<&Desc::open_mode>},
    {"Overcommit", differs<&Desc::overcommit>},
    {"OverSubscribe", differs<&Desc::shared>},
    {"Partition", differs<&Desc::partition>},
    {"PlaneSize", differs<&Desc::plane_size>},
    {"Prefer", differs<&Desc::prefer>},
    {"Profile", differs<&Desc::profile>},
    {"QOS", differs<&Desc::qos>},
    {"Reboot", differs<&Desc::reboot>},
    {"ReqCores", differs<&Desc::cores_per_socket>},
    {"ReqNodeList", differs<&Desc::req_nodes>},
    {"ReqSockets", differs<&Desc::sockets_per_node>},
    {"ReqThreads", differs<&Desc::threads_per_core>},
    {"Requeue", differs<&Desc::requeue>},
    {"ReservationName", differs<&Desc::reservation>},
    {"ResvPorts", differs<&Desc::resv_port_cnt>},
    {"Script", differs<&Desc::script>},
    {"SegmentSize", differs<&Desc::segment_size>},
    {"SELinuxContext", differs<&Desc::req_context>},
    {"SocketsPerBoard", differs<&Desc::sockets_per_board>},
    {"SpankEnvironment", differs<&Desc::spank_job_env_size>},
    {"StdErr", differs<&Desc::std_err>},
    {"StdIn", differs<&Desc::std_in>},
    {"StdOut", differs<&Desc::std_out>},
    {"Switches", differs<&Desc::req_switch>},
    {"TaskDist", differs<&Desc::task_dist>},
    {"TasksPerBoard", differs<&Desc::ntasks_per_board>},
    {"TasksPerCore", differs<&Desc::ntasks_per_core>},
    {"TasksPerNode", differs<&Desc::ntasks_per_node>},
    {"TasksPerSocket", differs<&Desc::ntasks_per_socket>},
    {"TasksPerTres", differs<&Desc::ntasks_per_tres>},
    {"TimeMin", differs<&Desc::time_min>},
    {"TresBind", differs<&Desc::tres_bind>},
    {"TresFreq", differs<&Desc::tres_freq>},
    {"TresPerJob", differs<&Desc::tres_per_job>},
    {"TresPerNode", differs<&Desc::tres_per_node>},
    {"TresPerSocket", differs<&Desc::tres_per_socket>},
    {"TresPerTask", differs<&Desc::tres_per_task>},
    {"wait-for-switch", differs<&Desc::wait4switch>},
    {"WaitAllNodes", differs<&Desc::wait_all_nodes>},
    {"WarnFlags", differs<&Desc::warn_flags>},
    {"WarnSignal", differs<&Desc::warn_signal>},
    {"WarnTime", differs<&Desc::warn_time>},
    {"WCKey", differs<&Desc::wckey>},
    {"WorkDir", differs<&Desc::work_dir>},
    {"X11", differs<&Desc::x11>},
};

constexpr std::uint32_t root = 0;

// Texts that are split into words or compared. Those that are only copied are
// left to slurmctld.
struct Text {
    const char *name;
    char *Desc::*text;
};

constexpr Text texts[] = {
    {"partition", &Desc::partition},
    {"features", &Desc::features},
    {"prefer", &Desc::prefer},
    {"account", &Desc::account},
    {"qos", &Desc::qos},
    {"alloc_node", &Desc::alloc_node},
    {"tres_per_job", &Desc::tres_per_job},
    {"tres_per_node", &Desc::tres_per_node},
    {"tres_per_socket", &Desc::tres_per_socket},
    {"tres_per_task", &Desc::tres_per_task},
};
constexpr std::size_t max_text = 1024; // bytes
constexpr std::uint32_t max_entries = 4096;

} // namespace

std::optional<std::string> too_large_reason(const job_desc_msg_t &desc)
{
    for (const Text &one : texts)
        if (const char *text = desc.*one.text;
            text && strnlen(text, max_text + 1) > max_text)
            return std::string("The job's ") + one.name + ": more than " +
                   std::to_string(max_text) + " characters.";
    if (desc.spank_job_env && desc.spank_job_env_size > max_entries)
        return "The job's SPANK environment has more than " +
               std::to_string(max_entries) + " variables.";
    return std::nullopt;
}

bool is_agent(std::uint32_t uid, std::uint32_t slurm_user)
{
    return uid == root || uid == slurm_user;
}

std::optional<std::string> submit_refusal_reason(const job_desc_msg_t &desc)
{
    if (!(desc.bitflags & EXTERNAL_JOB))
        return std::nullopt;
    return "External jobs stand for Kubernetes Pods here and cannot be "
           "submitted. Apply a Pod that names Slurm as its scheduler instead "
           "(kubectl apply).";
}

std::vector<bool> kept_entries(std::span<char *const> spank_job_env)
{
    constexpr std::size_t name_limit = 256; // including the final 0; both
    constexpr std::size_t value_limit = 256 * 1024; // from env.c, bytes
    std::set<std::string_view> taken{names::job_mark, names::hook_job_mark};
    std::vector<bool> kept;
    for (const char *text : spank_job_env) {
        std::string_view entry = text ? text : "";
        std::string_view name = entry.substr(0, entry.find('='));
        kept.push_back(name.size() < entry.size() && name.size() < name_limit &&
                       entry.size() - name.size() <= value_limit &&
                       taken.insert(name).second);
    }
    return kept;
}

std::optional<std::string> modify_refusal_reason(const job_desc_msg_t &desc,
                                                 const job_desc_msg_t &unset)
{
    std::string list;
    for (const Field &field : forbidden)
        if (field.changed(desc, unset))
            list += (list.empty() ? "" : ", ") + std::string(field.name);
    if (list.empty())
        return std::nullopt;
    return list + " of a job that stands for Kubernetes Pods cannot be "
                  "changed, change the Pods. Its priority and time limit can "
                  "be lowered, its begin time and comment be set, and it can "
                  "be held and released.";
}

} // namespace bridge
