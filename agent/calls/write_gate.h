// SPDX-License-Identifier: GPL-2.0-or-later
// Surrounds each write of the agent to Slurm, Kubernetes and slurmctld's
// plugin. Before a write it asks whether this process may write at all; before
// and after it are the points at which a test can kill the process
// (fault_points.h). GatedHttp, GuardedSlurm, GuardedLease and HookServer use
// it, from any thread; nothing else writes.
#pragma once

#include "common/base/log.h"
#include "common/base/result.h"

#include <array>
#include <functional>
#include <utility>

namespace bridge {

// Each kind of write, named after the call that makes it.
enum class Write {
    // Slurm
    submit,
    submit_het,
    submit_shadow,
    complete,
    cancel,
    resume_job,
    set_priority,
    set_partitions,
    set_comment,
    set_tag,
    create_node,
    delete_node,
    set_features,
    set_topology,
    set_extra,
    rebuild_partitions,
    drain,
    resume,
    set_down,
    reconfigure,
    // GatedHttp, as KubeApi and WorkerApi call them
    bind,
    set_unscheduled,
    fail_pod,
    stamp,
    expire_pod,
    set_disrupted,
    evict_pod,
    delete_pod,
    create_pod,
    put_secret,
    delete_secret,
    create_service,
    create_config_map,
    post_event,
    select_node,
    give_volume,
    write_claim,
    write_claim_status,
    create_claim,
    delete_claim,
    set_extended_claim,
    patch_node,
    patch_group,
    patch_worker,
    // HookServer
    send_start,
    send_fail,
    send_clean,
    // GuardedLease
    lease,
};

inline constexpr std::array write_names = {
    "submit",
    "submit_het",
    "submit_shadow",
    "complete",
    "cancel",
    "resume_job",
    "set_priority",
    "set_partitions",
    "set_comment",
    "set_tag",
    "create_node",
    "delete_node",
    "set_features",
    "set_topology",
    "set_extra",
    "rebuild_partitions",
    "drain",
    "resume",
    "set_down",
    "reconfigure",
    "bind",
    "set_unscheduled",
    "fail_pod",
    "stamp",
    "expire_pod",
    "set_disrupted",
    "evict_pod",
    "delete_pod",
    "create_pod",
    "put_secret",
    "delete_secret",
    "create_service",
    "create_config_map",
    "post_event",
    "select_node",
    "give_volume",
    "write_claim",
    "write_claim_status",
    "create_claim",
    "delete_claim",
    "set_extended_claim",
    "patch_node",
    "patch_group",
    "patch_worker",
    "send_start",
    "send_fail",
    "send_clean",
    "lease",
};
static_assert(write_names.size() == static_cast<std::size_t>(Write::lease) + 1);

constexpr const char *write_name(Write write)
{
    return write_names[static_cast<std::size_t>(write)];
}

class WriteGate {
  public:
    enum class Moment { before, after };
    // Fails with Code::busy and the reason if nothing may be written: nothing
    // was done, it may be tried again.
    using Permit = std::function<Result<>()>;
    using Observer = std::function<void(Write, Moment)>;

    WriteGate(Permit permit, Observer observer)
        : permit_(std::move(permit)), observer_(std::move(observer))
    {
    }

    // Call right before the write; an error means that it must not be made. The
    // permit is asked after the observer, because that may have stopped the
    // process for a while.
    Result<> enter(Write write) const
    {
        if (observer_)
            observer_(write, Moment::before);
        if (auto may = permit_(); !may)
            return fail(may.error(), write_name(write));
        return {};
    }

    // Call right after the write, whatever its result.
    void leave(Write write) const
    {
        if (observer_)
            observer_(write, Moment::after);
    }

    // Returns the result of call(), or the reason why it was not allowed.
    template <class Call> auto pass(Write write, Call call) const
    {
        using Answer = decltype(call());
        if (auto may = enter(write); !may) {
            log_warning("a write was not made", {{"err", may.error().message}});
            return Answer(std::unexpected(may.error()));
        }
        Answer answer = call();
        leave(write);
        return answer;
    }

    // The same for the write that gives the permit itself.
    template <class Call> auto pass_unasked(Write write, Call call) const
    {
        if (observer_)
            observer_(write, Moment::before);
        auto answer = call();
        leave(write);
        return answer;
    }

  private:
    Permit permit_;
    Observer observer_;
};

} // namespace bridge
