// SPDX-License-Identifier: GPL-2.0-or-later
// Which prologs and epilogs are held, and for what. Pure: no thread, socket,
// file, clock or Slurm. HeldHooks guards it with its mutex.
//
//    prolog hook ─┬─ ours ─────────────────▶ held ── start ─────────────▶ due
//                 ├─ a node is not clean ──▶ held ── start or all clean ─▶ due
//                 ├─ a node is not protected ▶ held ── all are, or 2 s ──▶ due
//                 └─ else, or the job has ended already ▶ not held
//                 held ── fail ▶ due with rc;   held ── epilog hook ▶ due
//    epilog hook ─┬─ ours ▶ held, its nodes are dirty ── clean ────────▶ due
//                 └─ else ▶ not held
//
// A node is *dirty* while the epilog of a job of ours on it is held, and while
// the last `synced` named it: containers that no live job covers may still run
// there. A node is *unknown* if it is a bridge node (Pods may run there) and no
// `synced` has arrived since slurmctld started or took over: jobs that were
// lost in a crash have no epilog. If it is not even known which nodes are
// bridge nodes, all are unknown. All other nodes are *clean*, so a node that is
// no bridge node never delays a job.
//
// `start` releases a prolog even if nodes are dirty. The agent sends it for a
// job of ours when the Pods are bound, and for an ordinary job when what still
// runs on its nodes and what Slurm has allocated there fit together: a single
// container that is slow to stop does not block a whole node.
//
// A node is *unprotected* while the last `unprotected` names it: it is that of
// a slurmd Pod which somebody may evict, since Kubernetes was not told yet that
// it has a job. The agent hears of the job and sees to that. A job waits for it
// for longest_unprotected at most, and that counts for ordinary jobs only.
//
// For each hook call that was held, exactly one callback becomes due, even if
// the job has ended meanwhile: slurmctld counts held prologs in prep_prolog_cnt
// and details->prolog_running, resets neither of them when a job is requeued,
// and would leave its next run CONFIGURING for ever. For a job that has ended,
// the callback does nothing else (prep_slurmctld.c, prolog_running_decr()), as
// long as its status is 0: slurmctld requeues a job whose prolog failed, even
// if it was cancelled before.
//
// A slurmctld that gives control up drops its jobs, and whatever it asked for
// is void: drop it all. While it is in doubt whether it has given control up,
// hooks that come are kept apart from those that came before.
#pragma once

#include "common/contract/hook_message.h"
#include "plugins/prep/node_set.h"
#include "plugins/shared/job_facts.h"

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

enum class Hook { prolog, epilog };

// How long a job waits until the Pods of its nodes are protected.
inline constexpr std::chrono::seconds longest_unprotected{2};

// A hook for which slurmctld waits.
struct Hold {
    Hook hook = Hook::prolog;
    JobRef job;

    bool operator==(const Hold &) const = default;
};

// A callback that slurmctld must get.
struct Release {
    Hook hook = Hook::prolog;
    JobId job = 0;
    int rc = 0; // a wait(2) status

    bool operator==(const Release &) const = default;
};

// What must survive slurmctld: see gate_file.h.
struct GateMemory {
    NodeSet bridge; // nodes on which Pods may run
    NodeSet dirty;  // nodes that are dirty for any reason

    bool operator==(const GateMemory &) const = default;
};

class Gate {
  public:
    using Clock = std::chrono::steady_clock;
    // Returns the names in a hostlist.
    using Expand = std::function<std::vector<std::string>(const std::string &)>;

    explicit Gate(Expand expand) : expand_(std::move(expand)) {}

    // Sets what an earlier slurmctld knew. Call it before any hook.
    void remember(GateMemory memory);
    // What an earlier slurmctld knew is lost: every node is unknown until
    // `bridge` says on which nodes Pods may run.
    void remember_nothing();
    // Returns nothing while it is unknown which nodes are bridge nodes.
    std::optional<GateMemory> memory() const;

    // slurmctld is not in control any more: nothing is held, nothing is due,
    // and nothing is known, as in a new Gate.
    void drop_all();
    // slurmctld may have lost control. Bridge nodes are unknown from now on.
    void begin_doubt(Clock::time_point now = {});
    // It was in control all the time; or, with a new term, it was not, and all
    // that it asked for before begin_doubt() is dropped.
    void end_doubt(bool new_term);

    // A hook was called. True: it is held, and slurmctld must wait for its
    // Release. slurmctld repeats hooks after a restart, even for RUNNING jobs.
    bool prolog(const JobFacts &facts, Clock::time_point now = {});
    bool epilog(const JobFacts &facts, Clock::time_point now = {});

    // Messages of the agent. They do nothing if no such hook is held.
    void start(JobRef job);
    void fail(JobRef job, int rc);
    void clean(JobRef job);
    // A list may come in several parts; it takes effect with the last one.
    void bridge(const std::string &hostlist, bool more = false);
    void synced(const std::string &dirty_hostlist, bool more = false);
    void unprotected(const std::string &hostlist, bool more = false);
    // Another agent may have taken over: it sends its lists from the beginning.
    void forget_parts();

    // If no agent has sent `synced` for this long since the first hook, unknown
    // nodes count as clean; dirty nodes stay dirty.
    void give_up_unknown(Clock::time_point now, Clock::duration timeout);

    // Jobs that have waited long enough for protection wait for it no more.
    void give_up_protection(Clock::time_point now);
    // When that is to be called next.
    std::optional<Clock::time_point> next_unprotected() const;

    // An ordinary job that has been held for longer than the timeout because of
    // these dirty nodes. For a job of ours the agent has a timeout of its own.
    struct Overdue {
        JobRef job;
        std::vector<std::string> dirty;

        bool operator==(const Overdue &) const = default;
    };
    std::vector<Overdue> overdue(Clock::time_point now,
                                 Clock::duration timeout) const;

    bool has_due() const { return !due_.empty(); }
    std::vector<Release> pop_due();
    // The oldest one only: until then the end of the job still counts.
    std::optional<Release> pop_one_due();

    // Returns all held hooks, epilogs first, because they make nodes dirty.
    std::vector<Hold> held() const;

    // Returns what the agent must know about a held hook, or nothing if it is
    // not held any more. The hook then counts as told until forget_told().
    std::optional<HookMessage> make_message(const Hold &hold);
    std::vector<Hold> untold() const; // those of held() that were not told
    void forget_told();               // the agent is another one

  private:
    struct Held {
        std::string hostlist;
        std::uint32_t cpus = 0;
        std::vector<std::string> nodes;
        bool ours = false;
        bool batch = false;
        Clock::time_point since{};
        int calls = 1; // calls of the hook; each gets a callback
        bool told = false;
        bool doubted = false; // held before begin_doubt()
        bool waited = false;  // for protection, long enough
    };
    using HeldJobs = std::map<JobRef, Held>;

    bool dirty(const std::string &node) const;
    bool clean_now(const std::string &node) const;
    bool is_unprotected(const Held &held) const;
    bool opens_by_itself(const Held &held) const;
    void repeat(Held &held, Clock::time_point now);
    void forget_epilog(const Held &held);
    void open_prologs();
    HeldJobs::iterator release(HeldJobs &jobs, HeldJobs::iterator job,
                               Hook hook, int rc);
    void remember_end(JobRef job);
    // Returns the whole list when its last part has arrived.
    std::optional<std::set<std::string>>
    whole(std::set<std::string> &parts, const std::string &hostlist, bool more);

    Expand expand_;
    HeldJobs prologs_;
    HeldJobs epilogs_;
    std::map<std::string, int> dirty_by_epilog_; // node, number of held epilogs
                                                 // on it
    NodeSet dirty_by_agent_;
    NodeSet bridge_;
    std::set<std::string> bridge_parts_;
    std::set<std::string> dirty_parts_;
    NodeSet unprotected_;
    std::set<std::string> unprotected_parts_;
    bool unknown_ = false;   // bridge nodes are unknown until `synced`
    bool no_bridge_ = false; // which nodes these are is unknown until `bridge`
    std::optional<Clock::time_point> first_hook_;
    std::deque<JobRef> ended_; // most recent ends, oldest first
    std::deque<Release> due_;
    std::size_t doubted_due_ = 0; // so many of due_, the oldest
};

} // namespace bridge
