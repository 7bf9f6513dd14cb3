// SPDX-License-Identifier: GPL-2.0-or-later
// Which prologs and epilogs are held, and for what. Pure: no thread, no socket,
// no file, no clock, no Slurm; AgentLink keeps it under its mutex.
//
//  prolog hook ─┬─ ours ─────────────────▶ held ── start ──────────────▶ due
//               ├─ a node is not clean ──▶ held ── start, or all clean ─▶ due
//               └─ else, or the job has ended already ▶ not held
//               held ── fail ▶ due with rc;   held ── epilog hook ▶ due
//  epilog hook ─┬─ ours ▶ held, its nodes are dirty ── clean ─────────▶ due
//               └─ else ▶ not held
//
// A node is dirty while the epilog of a job of ours that had it is held, and
// while the last `synced` named it: containers that no living job covers may
// still run there. It is unknown while it is a bridge node (Pods may live
// there) and nobody has said `synced` since slurmctld started: jobs that a
// crash lost have no epilog. What is neither is clean, so that a node that is
// no bridge node never waits.
//
// `start` opens a prolog whatever is dirty. For a job of ours the agent says it
// when the Pods are bound; for an ordinary one when what still lives on its
// nodes and what Slurm gave away there fit together: one container that is slow
// to stop does not stop a whole node.
//
// What is due is called back exactly once for each hook call that was held,
// even when the job has ended meanwhile: slurmctld counts held prologs in
// prep_prolog_cnt and details->prolog_running, resets neither when a job is
// requeued, and would leave its next run CONFIGURING for ever. For a job that
// has ended the callback does nothing else (prep_slurmctld.c,
// prolog_running_decr()).
#pragma once

#include "common/contract/hook_message.h"
#include "plugins/prep/node_set.h"
#include "plugins/shared/job_facts.h"

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

enum class Hook { prolog, epilog };

// A hook that slurmctld was told to wait for.
struct Hold {
    Hook hook = Hook::prolog;
    JobRef job;

    bool operator==(const Hold &) const = default;
};

// A callback that slurmctld is owed.
struct Release {
    Hook hook = Hook::prolog;
    JobId job = 0;
    int rc = 0; // a wait(2) status

    bool operator==(const Release &) const = default;
};

// What outlives slurmctld: see gate_file.h.
struct GateMemory {
    NodeSet bridge; // nodes on which Pods may live
    NodeSet dirty;  // those that are dirty, for any reason

    bool operator==(const GateMemory &) const = default;
};

class Gate {
  public:
    using Clock = std::chrono::steady_clock;
    // The names in a hostlist.
    using Expand = std::function<std::vector<std::string>(const std::string &)>;

    explicit Gate(Expand expand) : expand_(std::move(expand)) {}

    // What an earlier slurmctld knew, before any hook is called.
    void remember(GateMemory memory);
    GateMemory memory() const;

    // A hook ran. True: it is held, slurmctld must wait for its Release.
    // slurmctld repeats hooks after a restart, also for RUNNING jobs.
    bool prolog(const JobFacts &facts, Clock::time_point now = {});
    bool epilog(const JobFacts &facts, Clock::time_point now = {});

    // The agent spoke. Nothing happens when no such hook is held.
    void start(JobRef job);
    void fail(JobRef job, int rc);
    void clean(JobRef job);
    // A list may come in several parts: it counts when the last is there.
    void bridge(const std::string &hostlist, bool more = false);
    void synced(const std::string &dirty_hostlist, bool more = false);
    // Another agent may have taken over: it begins its lists anew.
    void forget_parts();

    // Since the first hook no agent has said `synced` for that long: unknown
    // nodes count as clean, dirty ones stay dirty.
    void give_up_unknown(Clock::time_point now, Clock::duration timeout);

    // An ordinary job that has been held for longer than the timeout because
    // of these dirty nodes. A job of ours has its own timeout in the agent.
    struct Overdue {
        JobRef job;
        std::vector<std::string> dirty;

        bool operator==(const Overdue &) const = default;
    };
    std::vector<Overdue> overdue(Clock::time_point now,
                                 Clock::duration timeout) const;

    bool has_due() const { return !due_.empty(); }
    std::vector<Release> take_due();

    // All that is unfinished: epilogs first, they make nodes dirty.
    std::vector<Hold> held() const;

    // What the agent must know of it; nothing when it is held no more. Held
    // hooks count as told from then on, until forget_told().
    std::optional<HookMessage> tell(const Hold &hold);
    std::vector<Hold> untold() const; // of held()
    void forget_told();               // it is another agent

  private:
    struct Held {
        std::string hostlist;
        std::uint32_t cpus = 0;
        std::vector<std::string> nodes;
        bool ours = false;
        bool batch = false;
        Clock::time_point since{};
        int calls = 1; // of the hook, each owed a callback
        bool told = false;
    };
    using HeldJobs = std::map<JobRef, Held>;

    bool dirty(const std::string &node) const;
    bool clean_now(const std::string &node) const;
    bool opens_by_itself(const Held &held) const;
    void open_prologs();
    HeldJobs::iterator release(HeldJobs &jobs, HeldJobs::iterator job,
                               Hook hook, int rc);
    void remember_end(JobRef job);
    // The whole list, once its last part is there.
    std::optional<std::set<std::string>>
    whole(std::set<std::string> &parts, const std::string &hostlist, bool more);

    Expand expand_;
    HeldJobs prologs_;
    HeldJobs epilogs_;
    std::map<std::string, int> dirty_by_epilog_; // node, held epilogs on it
    NodeSet dirty_by_agent_;
    NodeSet bridge_;
    std::set<std::string> bridge_parts_;
    std::set<std::string> dirty_parts_;
    bool unknown_ = false; // the bridge nodes are, until `synced`
    std::optional<Clock::time_point> first_hook_;
    std::deque<JobRef> ended_; // lately, oldest first
    std::vector<Release> due_;
};

} // namespace bridge
