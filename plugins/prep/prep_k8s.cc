// SPDX-License-Identifier: GPL-2.0-or-later
// The prep/k8s plugin: passes slurmctld's prolog and epilog hooks to the link.
// slurmd and slurmstepd load it too, and there it does nothing.
//
// Nothing here is ever freed: slurmctld never calls fini(), and ends with
// exit(0) while the link's thread is running. No destructor may destroy what
// that thread uses.
#include "common/contract/conf.h"
#include "common/contract/names.h"
#include "plugins/prep/agent_link.h"
#include "plugins/shared/slurm_conf_path.h"
#include "plugins/shared/slurmctld_job.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <thread>
#include <unistd.h>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h> // slurm_error() and its like
}

// Declared in slurmctld's prep.h.
struct PrepCallbacks {
    void (*prolog_slurmctld)(int rc, std::uint32_t job_id, bool timed_out);
    void (*epilog_slurmctld)(int rc, std::uint32_t job_id, bool timed_out);
};

extern "C" {

extern const char plugin_name[] = "Bridge to Kubernetes: prolog and epilog";
extern const char plugin_type[] = "prep/k8s";
extern const std::uint32_t plugin_version = SLURM_VERSION_NUMBER;

// Exported by slurmctld, but not declared in Slurm's public headers. It only
// sets a flag and signals a condition (job_scheduler.c).
[[gnu::weak]] void schedule(bool full_queue);
}

namespace bridge {

namespace {

AgentLink *link = nullptr; // set once, before slurmctld calls any hook

class RealSlurmctld final : public Slurmctld {
  public:
    explicit RealSlurmctld(const PrepCallbacks &callbacks)
        : callbacks_(callbacks)
    {
    }

    std::vector<std::string> nodes_of(const std::string &hostlist) override
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

    void finish(const Release &release) override
    {
        auto callback = release.hook == Hook::prolog
                            ? callbacks_.prolog_slurmctld
                            : callbacks_.epilog_slurmctld;
        callback(release.rc, release.job, false);
    }

    void kick() override
    {
        if (schedule)
            schedule(false);
    }

    // Drains by RPC, like any client: no lock of slurmctld is taken here, and
    // slurmctld does everything that belongs to a drain. This process runs as
    // SlurmUser.
    Result<> drain(const std::string &node, const std::string &reason) override
    {
        std::string name = node, words = reason; // libslurm wants char *
        std::string doing = "drain NodeName=" + node + ": ";
        node_info_msg_t *raw = nullptr;
        if (slurm_load_node_single(&raw, name.data(), SHOW_ALL) !=
            SLURM_SUCCESS)
            return fail(Code::busy, doing + slurm_strerror(errno));
        std::unique_ptr<node_info_msg_t, decltype(&slurm_free_node_info_msg)>
            info(raw, slurm_free_node_info_msg);
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

    void log(LogLevel level, const std::string &line) override
    {
        auto print = level == LogLevel::error   ? slurm_error
                     : level == LogLevel::debug ? slurm_debug
                                                : slurm_info;
        print("prep/k8s: %s", line.c_str());
    }

  private:
    const PrepCallbacks callbacks_;
};

// A mistake in k8s.conf must not stop the cluster, so defaults are used. The
// agent refuses the file and reports the mistake.
LinkSettings settings()
{
    auto conf = load_conf(k8s_conf_path());
    if (!conf)
        slurm_error("prep/k8s: cannot use k8s.conf, defaults are used: %s",
                    conf.error().message.c_str());
    LinkSettings settings;
    settings.socket_path = conf.value_or(Conf{}).socket_path;
    settings.gate_timeout = conf.value_or(Conf{}).gate_timeout;
    if (&slurm_conf && slurm_conf.state_save_location)
        settings.gate_file = std::string(slurm_conf.state_save_location) + '/' +
                             names::gate_file;
    if (&slurm_conf && slurm_conf.cluster_name)
        settings.cluster = slurm_conf.cluster_name;
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) == 0)
        settings.host = host.data();
    return settings;
}

void start_link(const PrepCallbacks &callbacks)
{
    auto *slurmctld = new RealSlurmctld(callbacks);
    auto *new_link = new AgentLink(*slurmctld, settings());

    // Signals must go to slurmctld's own threads.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        std::thread([new_link] {
            pthread_setname_np(pthread_self(), "k8s_link");
            new_link->run();
        }).detach();
        link = new_link;
    } catch (const std::exception &e) {
        slurm_error("prep/k8s: cannot start a thread, no Pod will run: %s",
                    e.what());
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

} // namespace

} // namespace bridge

extern "C" {

void prep_p_register_callbacks(PrepCallbacks *callbacks) noexcept
try {
    if (callbacks && bridge::inside_slurmctld() && !bridge::link)
        bridge::start_link(*callbacks);
} catch (const std::exception &e) { // no C++ exception may reach slurmctld
    slurm_error("prep/k8s: cannot start, no Pod will run: %s", e.what());
}

// slurmctld holds its job and node write locks (job_scheduler.c): copy, hand
// over, return.
int prep_p_prolog_slurmctld(void *job, bool *async) noexcept
try {
    *async = bridge::link && bridge::link->prolog(bridge::facts_of(job));
    return SLURM_SUCCESS;
} catch (const std::exception &e) {
    slurm_error(
        "prep/k8s: cannot hold a prolog, slurmk8sd will find the job at "
        "its next resync: %s",
        e.what());
    return SLURM_SUCCESS;
}

// slurmctld holds its job write lock (node_scheduler.c).
int prep_p_epilog_slurmctld(void *job, bool *async) noexcept
try {
    *async = bridge::link && bridge::link->epilog(bridge::facts_of(job));
    return SLURM_SUCCESS;
} catch (const std::exception &e) {
    slurm_error(
        "prep/k8s: cannot hold an epilog, slurmk8sd will find the job at "
        "its next resync: %s",
        e.what());
    return SLURM_SUCCESS;
}

int prep_p_prolog(void *, void *) noexcept
{
    return SLURM_SUCCESS;
}

int prep_p_epilog(void *, void *) noexcept
{
    return SLURM_SUCCESS;
}

// type is slurmctld's prep_call_type_t: 3 and 4 are its own prolog and epilog.
void prep_p_required(int type, bool *required) noexcept
{
    *required = bridge::inside_slurmctld() && (type == 3 || type == 4);
}
}
