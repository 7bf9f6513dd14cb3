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
#include "plugins/prep/real_slurmctld.h"
#include "plugins/shared/signals_blocked.h"
#include "plugins/shared/slurm_conf_path.h"
#include "plugins/shared/slurmctld_job.h"

#include <cstdint>
#include <exception>
#include <pthread.h>
#include <string>
#include <thread>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h> // slurm_error() and its like

extern const char plugin_name[] = "Bridge to Kubernetes: prolog and epilog";
extern const char plugin_type[] = "prep/k8s";
extern const std::uint32_t plugin_version = SLURM_VERSION_NUMBER;
}

namespace bridge {

namespace {

AgentLink *link = nullptr; // set once, before slurmctld calls any hook

// A mistake in k8s.conf must not stop the cluster, nor a key of a later
// release, so the default of that key is used. The agent reports the mistake.
LinkSettings settings()
{
    auto [conf, trouble] = load_known_conf(k8s_conf_path());
    if (!trouble.empty())
        slurm_error("prep/k8s: cannot use all of k8s.conf, defaults are used: "
                    "%s",
                    trouble.c_str());
    LinkSettings settings;
    settings.socket_path = conf.socket_path;
    settings.gate_timeout = conf.gate_timeout;
    if (&slurm_conf && slurm_conf.state_save_location)
        settings.gate_file = std::string(slurm_conf.state_save_location) + '/' +
                             names::gate_file;
    if (&slurm_conf && slurm_conf.cluster_name)
        settings.cluster = slurm_conf.cluster_name;
    settings.host = this_host();
    return settings;
}

void start_link(const PrepCallbacks &callbacks)
{
    auto *slurmctld = new RealSlurmctld(callbacks);
    auto *new_link = new AgentLink(*slurmctld, settings());

    SignalsBlocked blocked;
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
}

} // namespace

} // namespace bridge

extern "C" {

void prep_p_register_callbacks(bridge::PrepCallbacks *callbacks) noexcept
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
