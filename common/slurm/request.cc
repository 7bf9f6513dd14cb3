// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/request.h"

#include "common/contract/names.h"
#include "common/slurm/strings.h"

namespace bridge {

namespace {

std::uint16_t shared_of(Sharing sharing)
{
    switch (sharing) {
    case Sharing::nobody:
        return JOB_SHARED_NONE;
    case Sharing::same_user:
        return JOB_SHARED_USER;
    case Sharing::same_mcs_label:
        return JOB_SHARED_MCS;
    default:
        return NO_VAL16; // as the partition says
    }
}

time_t time_of(std::chrono::sys_seconds time)
{
    return static_cast<time_t>(time.time_since_epoch().count());
}

} // namespace

SubmitRequest::SubmitRequest(const JobDescription &job)
{
    static char work_dir[] = "/";
    slurm_init_job_desc_msg(&message);
    message.bitflags |= EXTERNAL_JOB;
    message.work_dir = work_dir;
    message.name = borrow_if_any(job.name);
    message.user_id = job.user_id;
    message.group_id = job.group_id; // otherwise it would be our own
    message.requeue = 0;
    set_size(job);
    set_wishes(job);
    set_marks(job);
}

void SubmitRequest::set_size(const JobDescription &job)
{
    message.num_tasks = job.tasks;
    message.cpus_per_task = job.cpus_per_task;
    message.min_cpus = job.tasks * job.cpus_per_task;
    message.min_nodes = job.min_nodes;
    // With a maximum, slurmctld uses that many nodes if it can. Without one it
    // packs the tasks, on at most one node for each task
    // (JOB_IMPLICIT_MAX_NODES).
    if (job.max_nodes < job.tasks || job.tasks == 1)
        message.max_nodes = job.max_nodes;
    message.pn_min_memory = job.memory_per_node.value != 0
                                ? job.memory_per_node.value
                                : job.memory_per_cpu.value | MEM_PER_CPU;
    message.tres_per_node = borrow_if_any(job.gres);
    message.tres_per_task = borrow_if_any(job.gres_per_task);
    if (job.time_limit) // 0 is unlimited, as in sbatch --time
        message.time_limit = *job.time_limit == 0 ? INFINITE : *job.time_limit;
}

void SubmitRequest::set_wishes(const JobDescription &job)
{
    message.account = borrow_if_any(job.account);
    message.qos = borrow_if_any(job.qos);
    message.wckey = borrow_if_any(job.wckey);
    message.partition = borrow_if_any(job.partition);
    message.reservation = borrow_if_any(job.reservation);
    message.licenses = borrow_if_any(job.licenses);
    message.dependency = borrow_if_any(job.dependency);
    message.mcs_label = borrow_if_any(job.mcs_label);
    message.comment = borrow_if_any(job.comment);
    message.features = borrow_if_any(job.features);
    message.prefer = borrow_if_any(job.prefer);
    message.begin_time = time_of(job.begin);
    message.deadline = time_of(job.deadline);
    if (job.priority)
        message.priority = *job.priority;
    if (job.nice != 0)
        message.nice =
            static_cast<std::uint32_t>(std::int64_t{NICE_OFFSET} + job.nice);
    message.shared = shared_of(job.sharing);
    if (job.contiguous)
        message.contiguous = 1;
    if (job.switches)
        message.req_switch = *job.switches;
    if (job.switches_wait)
        message.wait4switch =
            static_cast<std::uint32_t>(job.switches_wait->count());
    if (job.segment != 0)
        message.segment_size = job.segment;
}

void SubmitRequest::set_marks(const JobDescription &job)
{
    comment_ = encode(job.tag);
    message.admin_comment = borrow(comment_);
    mark_ = std::string(names::job_mark) + "=" + job.tag.uid;
    spank_env_[0] = mark_.data();
    message.spank_job_env = spank_env_;
    message.spank_job_env_size = 1;
}

} // namespace bridge
