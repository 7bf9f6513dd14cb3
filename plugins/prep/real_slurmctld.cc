// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/real_slurmctld.h"

#include "plugins/shared/slurm_conf_path.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <unistd.h>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h> // slurm_error() and its like

// Exported by slurmctld, but not declared in Slurm's public headers. schedule()
// only sets a flag and signals a condition (job_scheduler.c).
[[gnu::weak]] void schedule(bool full_queue);
// When slurmctld began to be in control; 0 on standby (controller.c).
[[gnu::weak]] extern time_t control_time;
}

namespace bridge {

namespace {

Controllers controllers()
{
    Controllers all;
    if (!&slurm_conf)
        return all;
    for (std::uint32_t i = 0; i < slurm_conf.control_cnt; i++)
        if (slurm_conf.control_machine[i])
            all.hosts.emplace_back(slurm_conf.control_machine[i]);
    if (slurm_conf.state_save_location)
        all.state_save_location = slurm_conf.state_save_location;
    return all;
}

// Returns our index. slurmctld does not start on a host that is none of these.
std::size_t index_in(const Controllers &all)
{
    auto us = find_controller(all, this_host());
    if (!us && all.hosts.size() > 1)
        slurm_error("prep/k8s: every held job waits: %s",
                    us.error().message.c_str());
    return us.value_or(all.hosts.size());
}

// What slurmctld says of a job that need not be requeued any more.
bool is_over(int error)
{
    return error == SLURM_SUCCESS || error == ESLURM_INVALID_JOB_ID ||
           error == ESLURM_JOB_PENDING || error == ESLURM_ALREADY_DONE;
}

// What it says of one that never can be.
bool cannot_requeue(int error)
{
    return error == ESLURM_DISABLED || error == ESLURM_BATCH_ONLY ||
           error == ESLURM_NOT_HET_JOB_LEADER;
}

} // namespace

std::string this_host()
{
    std::array<char, 256> host{};
    return gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "";
}

ControlSigns::ControlSigns()
    : controllers_(controllers()),
      watch_(index_in(controllers_), controllers_.hosts.size(),
             &slurm_conf ? slurm_conf.slurmctld_timeout : 0)
{
}

ControlWatch::Finding ControlSigns::find()
{
    std::optional<ControlWatch::Seconds> term;
    if (&control_time)
        term = std::atomic_ref(control_time).load();
    // the time of day, since it goes on while the machine sleeps
    ControlWatch::Seconds now = std::time(nullptr);
    if (controllers_.hosts.size() > 1 &&
        (now != read_at_ || term != signs_.control_time)) {
        auto heartbeat = read_heartbeat(controllers_);
        signs_.heartbeat = heartbeat ? std::optional(*heartbeat) : std::nullopt;
        read_at_ = now;
    }
    signs_.control_time = term;
    return watch_.find(signs_, now);
}

std::vector<std::string> RealSlurmctld::nodes_of(const std::string &hostlist)
{
    std::vector<std::string> nodes;
    std::unique_ptr<hostlist_t, decltype(&slurm_hostlist_destroy)> hosts(
        slurm_hostlist_create(hostlist.c_str()), slurm_hostlist_destroy);
    if (!hosts)
        return nodes;
    while (char *host = slurm_hostlist_shift(hosts.get())) {
        std::unique_ptr<char, decltype(&std::free)> owned(host, std::free);
        nodes.emplace_back(host);
    }
    return nodes;
}

void RealSlurmctld::finish(const Release &release)
{
    auto callback = release.hook == Hook::prolog ? callbacks_.prolog_slurmctld
                                                 : callbacks_.epilog_slurmctld;
    callback(release.rc, release.job, false);
}

void RealSlurmctld::kick()
{
    if (schedule)
        schedule(false);
}

// Drains by RPC, like any client: no lock of slurmctld is taken here, and
// slurmctld does everything that belongs to a drain. This process runs as
// SlurmUser.
Result<> RealSlurmctld::drain(const std::string &node,
                              const std::string &reason)
{
    std::string name = node, words = reason; // libslurm wants char *
    std::string doing = "drain NodeName=" + node + ": ";
    node_info_msg_t *raw = nullptr;
    if (slurm_load_node_single(&raw, name.data(), SHOW_ALL) != SLURM_SUCCESS)
        return fail(Code::busy, doing + slurm_strerror(errno));
    std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)> info(
        raw, slurm_free_node_info_msg);
    if (info->record_count == 1 &&
        info->node_array[0].node_state & NODE_STATE_DRAIN)
        return {}; // the existing reason stays
    update_node_msg_t message;
    slurm_init_update_node_msg(&message);
    message.node_names = name.data();
    message.node_state = NODE_STATE_DRAIN;
    message.reason = words.data();
    if (slurm_update_node(&message) != SLURM_SUCCESS)
        return fail(Code::busy, doing + slurm_strerror(errno));
    return {};
}

// JOB_RUNNING: only if this run has not ended.
Result<> RealSlurmctld::requeue(JobRef job)
{
    slurm_step_id_t step{};
    step.sluid = job.sluid.value;
    step.job_id = job.id;
    step.step_het_comp = NO_VAL;
    step.step_id = NO_VAL;
    int error = slurm_requeue(step, JOB_RUNNING);
    if (error == SLURM_ERROR && errno != 0)
        error = errno;
    if (is_over(error))
        return {};
    return fail(cannot_requeue(error) ? Code::rejected : Code::busy,
                "requeue JobId=" + std::to_string(job.id) + ": " +
                    slurm_strerror(error));
}

void RealSlurmctld::log(LogLevel level, const std::string &line)
{
    auto print = level == LogLevel::error   ? slurm_error
                 : level == LogLevel::debug ? slurm_debug
                                            : slurm_info;
    print("prep/k8s: %s", line.c_str());
}

} // namespace bridge
