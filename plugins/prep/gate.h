// SPDX-License-Identifier: GPL-2.0-or-later
// Which prologs and epilogs are held, and for what. Pure: no thread, no socket,
// no Slurm; AgentLink keeps it under its mutex.
//
//  prolog hook ─┬─ ours ───────────▶ held ── start, and nodes clean ──▶ due
//               ├─ a node is dirty ▶ held ── nodes clean ─────────────▶ due
//               └─ else, or the job has ended already ▶ not held
//               held ── fail ▶ due with rc;   held ── epilog hook ▶ due
//  epilog hook ─┬─ ours ▶ held, its nodes are dirty ── clean ─────────▶ due
//               └─ else ▶ not held
//
// A node is dirty while the epilog of a job of ours that had it is held, and
// while the last `synced` named it: containers that no living job covers may
// still run there.
//
// What is due is called back exactly once for each hook call that was held,
// even when the job has ended meanwhile: slurmctld counts held prologs in
// prep_prolog_cnt and details->prolog_running, resets neither when a job is
// requeued, and would leave its next run CONFIGURING for ever. For a job that
// has ended the callback does nothing else (prep_slurmctld.c,
// prolog_running_decr()).
#pragma once

#include "common/hook_message.h"
#include "plugins/job_facts.h"

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

class Gate {
  public:
    // The names in a hostlist.
    using Expand = std::function<std::vector<std::string>(const std::string &)>;

    explicit Gate(Expand expand) : expand_(std::move(expand)) {}

    // A hook ran. True: it is held, slurmctld must wait for its Release.
    // slurmctld repeats hooks after a restart, also for RUNNING jobs.
    bool prolog(const JobFacts &facts);
    bool epilog(const JobFacts &facts);

    // The agent spoke. Nothing happens when no such hook is held.
    void start(JobRef job);
    void fail(JobRef job, int rc);
    void clean(JobRef job);
    void synced(const std::string &dirty_hostlist);

    bool has_due() const { return !due_.empty(); }
    std::vector<Release> take_due();

    // All that is unfinished: epilogs first, they make nodes dirty.
    std::vector<Hold> held() const;

    // What the agent must know of it; nothing when it is held no more.
    std::optional<HookMessage> message(const Hold &hold) const;

  private:
    struct Held {
        std::string hostlist;
        std::uint32_t cpus = 0;
        std::vector<std::string> nodes;
        bool ours = false;
        bool started = false;
        int calls = 1; // of the hook, each owed a callback
    };
    using HeldJobs = std::map<JobRef, Held>;

    bool dirty(const std::string &node) const;
    std::string dirty_among(const std::vector<std::string> &nodes) const;
    bool may_open(const Held &held) const;
    void open_prologs();
    HeldJobs::iterator release(HeldJobs &jobs, HeldJobs::iterator job,
                               Hook hook, int rc);
    void remember_end(JobRef job);

    Expand expand_;
    HeldJobs prologs_;
    HeldJobs epilogs_;
    std::map<std::string, int> dirty_by_epilog_; // node, held epilogs on it
    std::set<std::string> dirty_by_agent_;
    std::deque<JobRef> ended_; // lately, oldest first
    std::vector<Release> due_;
};

} // namespace bridge
