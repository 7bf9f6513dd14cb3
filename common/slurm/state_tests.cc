// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/state_tests.h"

#include <array>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

namespace {

template <std::uint32_t base> bool node_is(std::uint32_t state)
{
    return (state & NODE_STATE_BASE) == base;
}

template <std::uint32_t flag> bool has_flag(std::uint32_t state)
{
    return (state & flag) != 0;
}

// It still has jobs: what tells a draining node from one that is drained.
bool node_works(std::uint32_t state)
{
    return node_is<NODE_STATE_ALLOCATED>(state) ||
           node_is<NODE_STATE_MIXED>(state) ||
           has_flag<NODE_STATE_COMPLETING>(state);
}

bool node_drains(std::uint32_t state)
{
    return has_flag<NODE_STATE_DRAIN>(state) && node_works(state);
}

bool node_is_drained(std::uint32_t state)
{
    return has_flag<NODE_STATE_DRAIN>(state) && !node_works(state);
}

constexpr std::array node_tests = {
    StateTest{"alloc", node_is<NODE_STATE_ALLOCATED>},
    StateTest{"blocked", has_flag<NODE_STATE_BLOCKED>},
    StateTest{"cloud", has_flag<NODE_STATE_CLOUD>},
    StateTest{"completing", has_flag<NODE_STATE_COMPLETING>},
    StateTest{"down", node_is<NODE_STATE_DOWN>},
    StateTest{"drain", has_flag<NODE_STATE_DRAIN>},
    StateTest{"drained", node_is_drained},
    StateTest{"draining", node_drains},
    StateTest{"dyn_future", has_flag<NODE_STATE_DYNAMIC_FUTURE>},
    StateTest{"dyn_normal", has_flag<NODE_STATE_DYNAMIC_NORM>},
    StateTest{"external", has_flag<NODE_STATE_EXTERNAL>},
    StateTest{"fail", has_flag<NODE_STATE_FAIL>},
    StateTest{"idle", node_is<NODE_STATE_IDLE>},
    StateTest{"invalid_reg", has_flag<NODE_STATE_INVALID_REG>},
    StateTest{"maint", has_flag<NODE_STATE_MAINT>},
    StateTest{"mixed", node_is<NODE_STATE_MIXED>},
    StateTest{"noresp", has_flag<NODE_STATE_NO_RESPOND>},
    StateTest{"planned", has_flag<NODE_STATE_PLANNED>},
    StateTest{"power_down", has_flag<NODE_STATE_POWER_DOWN>},
    StateTest{"power_up", has_flag<NODE_STATE_POWER_UP>},
    StateTest{"powered_down", has_flag<NODE_STATE_POWERED_DOWN>},
    StateTest{"powering_down", has_flag<NODE_STATE_POWERING_DOWN>},
    StateTest{"powering_up", has_flag<NODE_STATE_POWERING_UP>},
    StateTest{"reboot_issued", has_flag<NODE_STATE_REBOOT_ISSUED>},
    StateTest{"reboot_req", has_flag<NODE_STATE_REBOOT_REQUESTED>},
    StateTest{"resv", has_flag<NODE_STATE_RES>},
    StateTest{"unknown", node_is<NODE_STATE_UNKNOWN>},
};

template <std::uint32_t base> bool job_is(std::uint32_t state)
{
    return (state & JOB_STATE_BASE) == base;
}

constexpr std::array job_tests = {
    StateTest{"bootfail", job_is<JOB_BOOT_FAIL>},
    StateTest{"cancelled", job_is<JOB_CANCELLED>},
    StateTest{"completed", job_is<JOB_COMPLETE>},
    StateTest{"completing", has_flag<JOB_COMPLETING>},
    StateTest{"configuring", has_flag<JOB_CONFIGURING>},
    StateTest{"deadline", job_is<JOB_DEADLINE>},
    StateTest{"expediting", has_flag<JOB_EXPEDITING>},
    StateTest{"failed", job_is<JOB_FAILED>},
    StateTest{"node_failed", job_is<JOB_NODE_FAIL>},
    StateTest{"outofmemory", job_is<JOB_OOM>},
    StateTest{"pending", job_is<JOB_PENDING>},
    StateTest{"powerup_node", has_flag<JOB_POWER_UP_NODE>},
    StateTest{"preempted", job_is<JOB_PREEMPTED>},
    StateTest{"requeued", has_flag<JOB_REQUEUE>},
    StateTest{"resizing", has_flag<JOB_RESIZING>},
    StateTest{"revoked", has_flag<JOB_REVOKED>},
    StateTest{"running", job_is<JOB_RUNNING>},
    StateTest{"signaling", has_flag<JOB_SIGNALING>},
    StateTest{"stageout", has_flag<JOB_STAGE_OUT>},
    StateTest{"suspended", job_is<JOB_SUSPENDED>},
    StateTest{"timeout", job_is<JOB_TIMEOUT>},
};

} // namespace

std::span<const StateTest> node_state_tests()
{
    return node_tests;
}

std::span<const StateTest> job_state_tests()
{
    return job_tests;
}

bool is_pending(std::uint32_t job_state)
{
    return job_is<JOB_PENDING>(job_state);
}

bool is_running(std::uint32_t job_state)
{
    return job_is<JOB_RUNNING>(job_state);
}

bool is_starting(std::uint32_t job_state)
{
    return !end_state_name(job_state) &&
           (has_flag<JOB_CONFIGURING>(job_state) ||
            has_flag<JOB_POWER_UP_NODE>(job_state));
}

bool has_allocation(std::uint32_t job_state)
{
    return job_is<JOB_RUNNING>(job_state) || job_is<JOB_SUSPENDED>(job_state) ||
           has_flag<JOB_COMPLETING>(job_state);
}

const char *end_state_name(std::uint32_t job_state)
{
    if ((job_state & JOB_STATE_BASE) < JOB_COMPLETE)
        return nullptr;
    for (const StateTest &test : job_tests)
        if (test.holds(job_state & JOB_STATE_BASE))
            return test.name;
    return nullptr;
}

} // namespace bridge
