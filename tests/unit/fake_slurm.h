// SPDX-License-Identifier: GPL-2.0-or-later
// A slurmctld in memory with prep/k8s in it, for tests of whole flows. It obeys
// what was seen of Slurm 26.05 (and what slurm_contract.h holds both to):
// nothing is allocated inside a submit, prolog and epilog hooks are held until
// somebody lets them go, an epilog is called only for what had an allocation,
// resources are free the moment a job ends, completing a job again overwrites
// its exit code. It records every call and fails where a test wants it to. Used
// by one thread.
#pragma once

#include "agent/het_job.h"
#include "agent/slurm_api.h"
#include "common/hook_message.h"
#include "common/names.h"

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <ranges>
#include <tuple>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

class FakeSlurm : public Slurm {
  public:
    static constexpr std::uint16_t controller_port = 6817;

    struct Record {
        Job job;
        JobDescription asked;
        std::optional<int> status; // of its completion
        int completions = 0;       // more than one overwrites the status
        bool prolog_held = false;
        bool epilog_held = false;
        std::string comment;
        JobId leader = 0; // of its heterogeneous job
        std::uint32_t offset = 0;
    };

    // Where the hooks' packets go; empty: the socket is cut.
    std::function<void(HookMessage)> hooks;
    std::string root_only; // a partition that users may not submit to
    bool answers = true; // false: slurmctld is away
    std::vector<std::string> gres_types; // GresTypes
    bool drop_gres = false; // it takes none, whatever they are
    std::vector<Reservation> reservations;

    // --- what slurmctld and its users do

    // One run of the scheduler: what fits starts, oldest first.
    void schedule()
    {
        for (auto &[id, record] : jobs_)
            if (record.job.state == JobState::pending && !held_.contains(id) &&
                record.leader == 0)
                try_start(record);
    }
    // Heterogeneous jobs, which nothing else starts: all components or none.
    void backfill()
    {
        for (auto &[id, record] : jobs_) {
            if (record.leader != id || record.job.state != JobState::pending)
                continue;
            auto before = jobs_;
            auto told = std::exchange(hooks, {});
            for (JobId one : components_of(id))
                try_start(jobs_.at(one));
            hooks = std::move(told);
            auto waits = [this](JobId one) {
                return jobs_.at(one).job.state == JobState::pending;
            };
            auto components = components_of(id);
            if (std::ranges::any_of(components, waits)) {
                jobs_ = std::move(before);
                return;
            }
            for (JobId one : components)
                tell(jobs_.at(one), HookMessage::Type::allocated);
        }
    }
    void hold(JobId id)
    {
        held_.insert(id); // it may come yet
        if (auto job = jobs_.find(id); job != jobs_.end())
            job->second.job.priority = 0;
    }
    // The priority that it was asked for with is forgotten.
    void release(JobId id)
    {
        held_.erase(id);
        jobs_.at(id).job.priority = 1;
    }
    void scancel(JobId id)
    {
        for (JobId one : components_of(id))
            if (!is_ended(jobs_.at(one).job.state))
                end(jobs_.at(one), JobState::cancelled);
    }
    // Slurm itself ends it: TIMEOUT, PREEMPTED, NODE_FAIL, …
    void end_job(JobId id, JobState state) { end(jobs_.at(id), state); }
    void suspend(JobId id) { jobs_.at(id).job.state = JobState::suspended; }
    void set_reason(JobId id, const std::string &reason)
    {
        jobs_.at(id).job.reason = reason;
    }
    // Seconds since the epoch; 0: backfill knows nothing.
    void set_expected_start(JobId id, std::int64_t when)
    {
        jobs_.at(id).job.expected_start =
            std::chrono::sys_seconds(std::chrono::seconds(when));
    }
    std::int64_t expected_start(JobId id) const
    {
        return jobs_.at(id).job.expected_start.time_since_epoch().count();
    }
    // MinJobAge is over, or a crash lost it.
    void purge(JobId id) { jobs_.erase(id); }
    // The accounting database knows how it ended.
    void account(JobRef ref, JobState state) { accounted_[ref] = state; }
    void set_down(const std::string &node)
    {
        nodes_.at(node).down = true;
        for (auto &[id, record] : jobs_)
            if (is_allocated(record.job.state) &&
                std::ranges::contains(record.job.nodes, node))
                end(record, JobState::node_fail);
    }
    // As when a crash took slurmctld back to an older state.
    void resurrect(JobId id) { jobs_.at(id).job.state = JobState::running; }
    // The same, before the job was allocated: without a hook.
    void unallocate(JobId id)
    {
        Record &record = jobs_.at(id);
        record.job.state = JobState::pending;
        record.job.nodes.clear();
        record.prolog_held = false;
    }
    // And before the agent had written a batch job's Pod on it.
    void forget_allocation(JobId id)
    {
        unallocate(id);
        GangTag lost;
        lost.script = jobs_.at(id).job.tag.script;
        jobs_.at(id).job.tag = lost;
    }
    // As backfill does with a component when it cannot start another.
    void take_back(JobId id)
    {
        Record &record = jobs_.at(id);
        record.job.state = JobState::pending;
        record.prolog_held = false;
        record.epilog_held = true;
        tell(record, HookMessage::Type::ended);
        record.job.nodes.clear();
    }
    // And allocated again.
    void reallocate(JobId id, const std::string &node)
    {
        reallocate(id, std::vector{node});
    }
    void reallocate(JobId id, const std::vector<std::string> &nodes)
    {
        Record &record = jobs_.at(id);
        record.job.state = JobState::configuring;
        record.job.nodes = nodes;
        record.prolog_held = true;
        tell(record, HookMessage::Type::allocated);
    }
    // A job as somebody else, or an earlier life of the agent, left it.
    JobRef plant(const JobDescription &description)
    {
        return add(description);
    }
    void add_node(const std::string &name, std::uint32_t cpus = 16,
                  std::uint64_t mib = 64000)
    {
        SlurmNode node;
        node.name = name;
        node.external = true;
        node.cpus = cpus;
        node.memory.value = mib;
        node.features = "k8s";
        nodes_[name] = node;
    }

    // One with a slurmd.
    void add_real_node(const std::string &name, std::uint32_t cpus = 16,
                       std::uint64_t mib = 64000)
    {
        add_node(name, cpus, mib);
        nodes_[name].external = false;
    }
    // One that jobs of ours reach, whatever anybody does, and no Pod can.
    void add_misfit(const std::string &name)
    {
        add_real_node(name);
        nodes_[name].features = "k8s,k8s-untainted";
        stubborn_.insert(name);
    }
    // Not ours, as sbatch makes it.
    JobRef sbatch(std::uint32_t cpus, std::uint64_t mib = 1)
    {
        JobDescription job;
        job.features = "k8s";
        job.tasks = cpus;
        job.memory_per_node.value = mib;
        return add(job);
    }
    void hold_for_preference(JobId id)
    {
        jobs_.at(id).job.prefers = true;
        jobs_.at(id).job.reason = "BadConstraints";
        held_.insert(id); // the scheduler does not look at it again
    }
    // As sbatch --nodelist.
    void name_node(JobRef job, const std::string &node) { named_[job] = node; }
    void give_devices(JobId id) { jobs_.at(id).job.devices = true; }
    void set_drained(const std::string &node, const std::string &reason)
    {
        nodes_.at(node).drained = true;
        nodes_.at(node).reason = reason;
    }
    void resume_by_hand(const std::string &node)
    {
        nodes_.at(node).drained = nodes_.at(node).down = false;
        nodes_.at(node).reason.clear();
    }
    const SlurmNode &node(const std::string &name) const
    {
        return nodes_.at(name);
    }
    void remove_node(const std::string &name) { nodes_.erase(name); }
    // Somebody makes it right after that load.
    void hide_from_next_load(const std::string &name) { hidden_ = name; }
    void set_gres_used(const std::string &node, const std::string &used)
    {
        nodes_.at(node).gres_used = used;
    }
    void set_topology_text(const std::string &node, const std::string &text)
    {
        nodes_.at(node).topology = text;
    }

    // --- what prep/k8s does with the agent's messages

    void receive(const HookMessage &message)
    {
        Record *record = record_of(message.job);
        switch (message.type) {
        case HookMessage::Type::kick:
            kicks++;
            schedule();
            break;
        case HookMessage::Type::start:
            starts++;
            if (record)
                open_prolog(*record);
            break;
        case HookMessage::Type::clean:
            cleans++;
            if (record)
                record->epilog_held = false;
            open_ordinary();
            break;
        case HookMessage::Type::bridge:
            bridge_said.push_back(message);
            break;
        case HookMessage::Type::synced:
            synced_said.push_back(message);
            open_ordinary();
            break;
        default:
            break;
        }
    }
    // The plugin connects: hello, and all that is held once more.
    void connect(std::function<void(HookMessage)> sink)
    {
        hooks = std::move(sink);
        hooks({.type = HookMessage::Type::hello,
               .version = hook_protocol_version,
               .cluster = "fake",
               .host = "localhost"});
        for (auto &[id, record] : jobs_) {
            if (record.prolog_held)
                tell(record, HookMessage::Type::allocated);
            if (record.epilog_held)
                tell(record, HookMessage::Type::ended);
        }
    }

    // --- what a test wants to go wrong, or to know

    // The next call of this method (any more: one after the other) fails so,
    // and does nothing.
    void fail_next(const std::string &what, Code code)
    {
        mishaps_[what].push_back({code, false});
    }
    void fail_always(const std::string &what, Code code)
    {
        always_[what] = code;
    }
    void heal(const std::string &what) { always_.erase(what); }
    // The next call does its work and loses the answer.
    void lose_reply(const std::string &what)
    {
        mishaps_[what].push_back({Code::uncertain, true});
    }
    std::size_t count(const std::string &what) const
    {
        auto found = counts_.find(what);
        return found == counts_.end() ? 0 : found->second;
    }
    std::size_t calls() const
    {
        std::size_t sum = 0;
        for (const auto &[what, count] : counts_)
            sum += count;
        return sum;
    }
    void forget_calls() { counts_.clear(); }
    const std::map<JobId, Record> &jobs() const { return jobs_; }
    const Record &job(JobId id) const { return jobs_.at(id); }
    std::vector<Record> living() const
    {
        std::vector<Record> alive;
        for (const auto &[id, record] : jobs_)
            if (!is_ended(record.job.state))
                alive.push_back(record);
        return alive;
    }
    std::optional<NodeDescription> created(const std::string &name) const
    {
        auto found = created_.find(name);
        return found == created_.end() ? std::nullopt
                                       : std::optional(found->second);
    }
    int kicks = 0;
    bool says_cpus = false; // as slurmctld does for jobs of one node
    int starts = 0;
    int cleans = 0;
    std::vector<HookMessage> bridge_said;
    std::vector<HookMessage> synced_said;
    // The nodes that the last `synced` named; "never" before any.
    std::string dirty() const
    {
        return synced_said.empty() ? "never" : synced_said.back().dirty;
    }

    // --- Slurm

    Result<JobRef> submit(const JobDescription &job) override
    {
        if (auto said = enter("submit"); !said)
            return std::unexpected(said.error());
        if (!features_exist(job.features))
            return fail(Code::rejected,
                        "submit: Invalid feature specification");
        if (!memory_fits(job))
            return fail(Code::rejected, "submit: Requested node configuration "
                                        "is not available");
        JobRef ref = add(job);
        if (std::exchange(lost_, false))
            return fail(Code::uncertain, "submit: no answer");
        return ref;
    }

    // As slurmctld: what it had made of the components before it refuses one is
    // cancelled, and stays in its table.
    Result<JobRef>
    submit_het(const std::vector<JobDescription> &components) override
    {
        if (auto said = enter("submit_het"); !said)
            return std::unexpected(said.error());
        std::vector<JobId> made;
        for (const JobDescription &one : components) {
            if (!features_exist(one.features) || !memory_fits(one)) {
                for (JobId id : made)
                    jobs_.at(id).job.state = JobState::cancelled;
                return fail(Code::rejected, "submit: Requested node "
                                            "configuration is not available");
            }
            made.push_back(add(one).id);
            jobs_.at(made.back()).leader = made.front();
            jobs_.at(made.back()).offset =
                static_cast<std::uint32_t>(made.size()) - 1;
        }
        if (std::exchange(lost_, false))
            return fail(Code::uncertain, "submit: no answer");
        return jobs_.at(made.front()).job.ref;
    }

    Result<Job> load(JobRef ref) override
    {
        if (auto said = enter("load"); !said)
            return std::unexpected(said.error());
        if (!record_of(ref))
            return fail(Code::not_found, "load: Invalid job id specified");
        std::vector<JobRecord> records;
        for (JobId id : components_of(ref.id))
            records.push_back(listed(jobs_.at(id)));
        for (JobRecord &record : records)
            record.job.gres_read = true;
        return join_components(ref, std::move(records));
    }

    Result<BatchJob> load_batch(JobRef ref) override
    {
        if (auto said = enter("load_batch"); !said)
            return std::unexpected(said.error());
        Record *record = record_of(ref);
        if (!record)
            return fail(Code::not_found, "load: Invalid job id specified");
        BatchJob batch;
        batch.job = record->job;
        batch.user_id = record->asked.user_id;
        batch.group_id = record->asked.group_id;
        batch.name = record->asked.name;
        batch.partition = record->asked.partition;
        batch.account = record->asked.account;
        batch.qos = record->asked.qos;
        batch.reservation = record->asked.reservation;
        batch.time_limit = record->asked.time_limit;
        for (const std::string &node : record->job.nodes)
            batch.hostlist += (batch.hostlist.empty() ? "" : ",") + node;
        return batch;
    }

    Result<> set_tag(JobRef ref, const GangTag &tag) override
    {
        if (auto said = enter("set_tag"); !said)
            return said;
        Record *record = record_of(ref);
        if (!record)
            return fail(Code::not_found, "tag: Invalid job id specified");
        if (is_ended(record->job.state))
            return fail(Code::rejected, "tag: Job has already finished");
        record->job.tag = tag;
        if (std::exchange(lost_, false))
            return fail(Code::uncertain, "tag: no answer");
        return {};
    }

    Result<JobDetails> load_details(JobId id) override
    {
        if (auto said = enter("load_details"); !said)
            return std::unexpected(said.error());
        auto found = jobs_.find(id);
        if (found == jobs_.end())
            return fail(Code::not_found, "load: Invalid job id specified");
        JobDetails details;
        details.job = found->second.job;
        details.user = std::to_string(found->second.asked.user_id);
        details.partition = found->second.asked.partition;
        details.features = found->second.asked.features;
        details.requested =
            "cpu=" + std::to_string(found->second.asked.cpus_per_task);
        return details;
    }

    Result<JobState> recall(JobRef ref) override
    {
        if (auto said = enter("recall"); !said)
            return std::unexpected(said.error());
        auto known = accounted_.find(ref);
        if (known == accounted_.end())
            return fail(Code::not_found, "recall: no such record");
        return known->second;
    }

    Result<std::vector<Job>> load_all() override
    {
        if (auto said = enter("load_all"); !said)
            return std::unexpected(said.error());
        std::vector<JobRecord> all;
        for (const auto &[id, record] : jobs_)
            if (is_ours(record))
                all.push_back(listed(record));
        return join_components(std::move(all));
    }

    Result<std::vector<JobStateHint>> load_states() override
    {
        if (auto said = enter("load_states"); !said)
            return std::unexpected(said.error());
        std::vector<JobStateHint> all;
        for (const auto &[id, record] : jobs_)
            all.push_back({id, record.job.state});
        return all;
    }

    Result<> complete(JobRef ref, int status) override
    {
        if (auto said = enter("complete"); !said)
            return said;
        return finish(ref, status, "complete");
    }

    Result<> cancel(JobRef ref) override
    {
        if (auto said = enter("cancel"); !said)
            return said;
        return finish(ref, cancel_status, "cancel");
    }

    Result<> set_priority(JobRef ref, std::uint32_t priority) override
    {
        if (auto said = enter("set_priority"); !said)
            return said;
        Record *record = record_of(ref);
        if (!record)
            return fail(Code::not_found, "priority: Invalid job id specified");
        record->job.priority = priority;
        return {};
    }

    Result<> set_comment(JobRef ref, const std::string &words) override
    {
        if (auto said = enter("set_comment"); !said)
            return said;
        Record *record = record_of(ref);
        if (!record)
            return fail(Code::not_found, "comment: Invalid job id specified");
        record->comment = words;
        return {};
    }

    Result<> check_partitions(const std::string &names) override
    {
        if (!root_only.empty() && names == root_only)
            return fail(Code::rejected, "partition " + names + " is RootOnly");
        return {};
    }

    Result<ClusterFacts> load_cluster() override
    {
        if (auto said = enter("load_cluster"); !said)
            return std::unexpected(said.error());
        return ClusterFacts{"fake", controller_port, gres_types};
    }

    Result<std::vector<SlurmNode>> load_nodes() override
    {
        if (auto said = enter("load_nodes"); !said)
            return std::unexpected(said.error());
        std::vector<SlurmNode> all;
        std::string hidden = std::exchange(hidden_, {});
        for (auto [name, node] : nodes_) {
            if (name == hidden)
                continue;
            auto [cpus, mib] = used_of(name);
            node.usable_cpus = node.cpus;
            node.usable_memory = node.memory;
            node.allocated_cpus = cpus;
            node.allocated_memory.value = mib;
            all.push_back(node);
        }
        return all;
    }

    // Like slurmctld, of which each load has a second of its own here.
    Result<std::optional<NodeTable>>
    load_nodes_since(std::int64_t as_of) override
    {
        auto all = load_nodes();
        if (!all)
            return std::unexpected(all.error());
        if (as_of != 0 && last_nodes_ == *all)
            return std::nullopt;
        last_nodes_ = *all;
        return NodeTable{as_of + 1, *all};
    }

    Result<std::vector<Reservation>> load_reservations() override
    {
        if (auto said = enter("load_reservations"); !said)
            return std::unexpected(said.error());
        return reservations;
    }

    Result<std::vector<NodeUse>> load_uses() override
    {
        if (auto said = enter("load_uses"); !said)
            return std::unexpected(said.error());
        std::vector<NodeUse> uses;
        for (const auto &[id, record] : jobs_)
            if (!is_ended(record.job.state))
                uses.push_back(use_of(record));
        return uses;
    }

    Result<JobRef> submit_shadow(const std::string &node,
                                 const NodeRoom &room) override
    {
        if (auto said = enter("submit_shadow"); !said)
            return std::unexpected(said.error());
        JobDescription job;
        job.name = "slurmk8sd-shadow";
        job.features = names::pin_prefix + node;
        job.cpus_per_task = static_cast<std::uint16_t>(room.cpus);
        job.memory_per_node = room.memory;
        if (!features_exist(job.features))
            return fail(Code::rejected, "submit: Invalid feature");
        JobRef ref = add(job);
        shadows_[ref] = {node, room};
        if (std::exchange(lost_, false))
            return fail(Code::uncertain, "submit: no answer");
        return ref;
    }

    Result<> create_node(const NodeDescription &node) override
    {
        if (auto said = enter("create_node"); !said)
            return said;
        for (const std::string &name : split(node.name)) {
            if (nodes_.contains(name))
                return fail(Code::rejected, "create: Node name already in use");
            SlurmNode made;
            made.name = name;
            made.address = node.address;
            made.port = node.port;
            made.external = true;
            made.cpus = node.cpus;
            made.memory = node.memory;
            made.features = node.features;
            made.topology = node.topology;
            made.gres = drop_gres ? "" : node.gres;
            nodes_[name] = made;
            created_[name] = node;
        }
        return {};
    }

    Result<> delete_node(const std::string &name) override
    {
        if (auto said = enter("delete_node"); !said)
            return said;
        Result<> said;
        for (const std::string &one : split(name)) {
            if (used_of(one).first != 0)
                said = fail(Code::rejected, "delete: Requested nodes are busy");
            else if (nodes_.erase(one) == 0)
                said = invalid_node("delete");
        }
        return said;
    }

    Result<> set_features(const std::string &node,
                          const std::string &features,
                          const std::string &active) override
    {
        return update("set_features", node, [&](SlurmNode &n) {
            if (stubborn_.contains(n.name))
                return;
            n.features = features;
            n.active_features = active;
        });
    }
    Result<> set_topology(const std::string &node,
                          const std::string &topology) override
    {
        return update("set_topology", node,
                      [&](SlurmNode &n) { n.topology = topology; });
    }
    Result<> set_extra(const std::string &node,
                       const std::string &extra) override
    {
        return update("set_extra", node,
                      [&](SlurmNode &n) { n.extra = extra; });
    }
    Result<> rebuild_partitions() override { return enter("rebuild_partitions"); }
    Result<> drain(const std::string &node, const std::string &reason) override
    {
        return update("drain", node, [&](SlurmNode &n) {
            n.drained = true;
            n.reason = reason;
        });
    }
    Result<> resume(const std::string &node) override
    {
        return update("resume", node, [](SlurmNode &n) {
            n.drained = false;
            n.reason.clear();
        });
    }

  private:
    static constexpr int cancel_status = static_cast<int>(0xfffffffe); // NO_VAL
    static constexpr int oom_status = 253;

    static JobRecord listed(const Record &record)
    {
        return {record.job, record.leader, record.offset};
    }
    // Of a leader; any other job alone.
    std::vector<JobId> components_of(JobId id) const
    {
        std::vector<JobId> ids;
        for (const auto &[one, record] : jobs_)
            if (one == id || record.leader == id)
                ids.push_back(one);
        return ids;
    }
    bool has_sibling_on(const Record &record, const std::string &node) const
    {
        return record.leader != 0 &&
               std::ranges::any_of(jobs_, [&](const auto &known) {
                   return known.second.leader == record.leader &&
                          std::ranges::contains(known.second.job.nodes, node);
               });
    }

    static bool is_ours(const Record &record)
    {
        return !record.job.tag.uid.empty() || !record.job.tag.script.empty();
    }

    // Counts the call and lets it go wrong, if it is to.
    Result<> enter(const std::string &what)
    {
        counts_[what]++;
        if (!answers)
            return fail(Code::busy, what + ": Unable to contact slurmctld");
        if (auto always = always_.find(what); always != always_.end())
            return fail(always->second, what + ": as the test wants");
        auto &waiting = mishaps_[what];
        if (waiting.empty())
            return {};
        auto [code, works] = waiting.front();
        waiting.pop_front();
        lost_ = works;
        if (works)
            return {};
        return fail(code, what + ": as the test wants");
    }

    static std::unexpected<Error> invalid_node(const std::string &doing)
    {
        return fail(Code::rejected, doing + ": Invalid node name specified");
    }

    static std::vector<std::string> split(const std::string &list,
                                          char separator = ',')
    {
        std::vector<std::string> words;
        for (auto word : std::views::split(list, separator))
            words.emplace_back(std::string_view(word));
        return words;
    }

    Result<> update(const std::string &what, const std::string &names,
                    const std::function<void(SlurmNode &)> &edit)
    {
        if (auto said = enter(what); !said)
            return said;
        Result<> said;
        for (const std::string &name : split(names)) {
            auto found = nodes_.find(name);
            if (found == nodes_.end())
                said = invalid_node(what);
            else
                edit(found->second);
        }
        return said;
    }

    NodeUse use_of(const Record &record) const
    {
        NodeUse use{record.job.ref, record.job.state == JobState::pending,
                    {}, record.asked.features, {}, {}};
        if (auto shadow = shadows_.find(record.job.ref);
            shadow != shadows_.end())
            std::tie(use.shadow_of, use.room) = shadow->second;
        if (auto named = named_.find(record.job.ref); named != named_.end())
            use.named = {named->second};
        return use;
    }

    static bool has_feature(const SlurmNode &node, const std::string &feature)
    {
        return ("," + node.features + ",").find("," + feature + ",") !=
               std::string::npos;
    }

    // As a job asks for them: "a&b".
    static bool has_features(const SlurmNode &node, const std::string &all)
    {
        return std::ranges::all_of(std::views::split(all, '&'), [&](auto one) {
            return has_feature(node, std::string(std::string_view(one)));
        });
    }

    bool features_exist(const std::string &all) const
    {
        return std::ranges::all_of(std::views::split(all, '&'), [&](auto one) {
            return std::ranges::any_of(nodes_, [&](const auto &known) {
                return has_feature(known.second,
                                   std::string(std::string_view(one)));
            });
        });
    }

    static std::uint64_t memory_of(const JobDescription &job)
    {
        return job.memory_per_node.value != 0
                   ? job.memory_per_node.value
                   : job.memory_per_cpu.value * job.cpus_per_task * job.tasks;
    }

    bool memory_fits(const JobDescription &job) const
    {
        return std::ranges::any_of(nodes_, [&](const auto &known) {
            return known.second.memory.value >= memory_of(job);
        });
    }

    JobRef add(const JobDescription &description)
    {
        Record record;
        record.asked = description;
        record.job.ref = {next_id_++, Sluid{next_sluid_++}};
        record.job.tag = description.tag;
        record.job.state = JobState::pending;
        record.job.reason = "Priority";
        record.job.priority = description.priority.value_or(1);
        record.job.features = description.features;
        record.job.memory_per_node = description.memory_per_node;
        record.job.memory_per_cpu = description.memory_per_cpu;
        record.job.tasks = description.tasks;
        record.job.cpus_per_task = description.cpus_per_task;
        record.job.gres_per_task = description.gres_per_task;
        record.job.gres_per_node = description.gres;
        jobs_[record.job.ref.id] = record;
        return record.job.ref;
    }

    Record *record_of(JobRef ref)
    {
        auto found = jobs_.find(ref.id);
        bool same = found != jobs_.end() && found->second.job.ref == ref;
        return same ? &found->second : nullptr;
    }

    // What the job has on that node; null: nothing.
    static const std::vector<JobGres> *gres_there(const Job &job,
                                                  const std::string &name)
    {
        auto found = std::ranges::find(job.nodes, name);
        auto at = static_cast<std::size_t>(found - job.nodes.begin());
        return at < job.gres_on.size() ? &job.gres_on[at] : nullptr;
    }

    // The indexes of a node that so many tasks get; nothing: it has not as many.
    // The types follow each other, as in the node's Gres=.
    std::optional<std::vector<JobGres>>
    free_gres(const std::string &name, const std::string &wishes,
              std::uint32_t tasks) const
    {
        std::map<std::string, std::vector<std::string>> types; // of each index
        for (const std::string &part : split(nodes_.at(name).gres)) {
            auto words = split(part, ':'); // "gpu:a100:2"
            if (words.size() == 3)
                types[words[0]].insert(types[words[0]].end(),
                                       std::stoul(words[2]), words[1]);
        }
        std::set<std::pair<std::string, std::uint32_t>> taken;
        for (const auto &[id, record] : jobs_)
            if (const auto *has = gres_there(record.job, name);
                has && is_allocated(record.job.state))
                for (const JobGres &one : *has)
                    for (std::uint32_t i : one.indexes)
                        taken.insert({one.gres, i});
        std::vector<JobGres> made;
        for (const std::string &wish : split(wishes)) {
            if (wish.empty())
                continue;
            auto words = split(wish.substr(sizeof("gres/") - 1), ':');
            JobGres one{words[0], words.size() > 2 ? words[1] : "",
                        tasks * std::stoul(words.back()), {}};
            const auto &of_it = types[one.gres];
            for (std::uint32_t i = 0; i < of_it.size(); i++)
                if (one.indexes.size() < one.count &&
                    (one.type.empty() || one.type == of_it[i]) &&
                    taken.insert({one.gres, i}).second)
                    one.indexes.push_back(i);
            if (one.indexes.size() < one.count)
                return std::nullopt;
            made.push_back(std::move(one));
        }
        return made;
    }

    // CPUs and MiB.
    std::pair<std::uint32_t, std::uint64_t>
    used_of(const std::string &node) const
    {
        std::pair<std::uint32_t, std::uint64_t> used;
        for (const auto &[id, record] : jobs_)
            if (is_allocated(record.job.state) &&
                record.job.state != JobState::suspended && // Slurm forgets
                std::ranges::contains(record.job.nodes, node)) {
                auto [cpus, mib] = share_on(record, node);
                used.first += cpus;
                used.second += mib;
            }
        return used;
    }

    static std::pair<std::uint32_t, std::uint64_t>
    share_on(const Record &record, const std::string &node)
    {
        const Job &job = record.job;
        if (job.cpus_on.empty())
            return {job.cpus, memory_of(record.asked)};
        auto at = std::ranges::find(job.nodes, node) - job.nodes.begin();
        std::uint32_t cpus = job.cpus_on[static_cast<std::size_t>(at)];
        return {cpus, job.memory_per_cpu.value * cpus};
    }

    // Fills one node after the other, as Slurm does where nodes are alike. Does
    // nothing for a job that fits on one, or must.
    bool start_on_several(Record &record)
    {
        std::uint32_t left = record.asked.tasks;
        const std::uint32_t each = record.asked.cpus_per_task;
        Job job = record.job;
        job.gres_on.clear();
        for (const auto &[name, node] : nodes_) {
            auto [cpus, mib] = used_of(name);
            if (left == 0 || job.nodes.size() == record.asked.max_nodes ||
                node.drained || node.down || has_sibling_on(record, name) ||
                !has_features(node, record.asked.features))
                continue;
            std::uint32_t most = (node.cpus - cpus) / each;
            // one each for those that must follow
            std::uint32_t later = record.asked.min_nodes;
            later -= std::min<std::uint32_t>(
                later, static_cast<std::uint32_t>(job.nodes.size()) + 1);
            std::uint32_t tasks = std::min(most, left - std::min(left, later));
            const std::string &wishes = record.asked.gres_per_task;
            while (tasks != 0 && !free_gres(name, wishes, tasks))
                tasks--;
            if (tasks == 0)
                continue;
            job.gres_on.push_back(*free_gres(name, wishes, tasks));
            job.devices |= !job.gres_on.back().empty();
            left -= tasks;
            job.nodes.push_back(name);
            job.cpus_on.push_back(tasks * each);
            job.cpus += tasks * each;
        }
        if (left != 0 || job.nodes.size() < 2)
            return false;
        record.job = std::move(job);
        return true;
    }

    void allocated(Record &record)
    {
        record.job.state = JobState::configuring;
        record.job.reason.clear();
        record.prolog_held = true;
        if (may_open_by_itself(record))
            open_prolog(record);
        else
            tell(record, HookMessage::Type::allocated);
    }

    void try_start(Record &record)
    {
        if (record.job.reason == "BadConstraints")
            return; // held
        std::uint32_t cpus = record.asked.tasks * record.asked.cpus_per_task;
        for (const auto &[name, node] : nodes_) {
            auto [used_cpus, used_memory] = used_of(name);
            if (record.asked.min_nodes > 1 || node.drained || node.down ||
                has_sibling_on(record, name) ||
                used_cpus + cpus > node.cpus ||
                used_memory + memory_of(record.asked) > node.memory.value ||
                !has_features(node, record.asked.features))
                continue;
            auto gres = free_gres(name, record.asked.gres_per_task,
                                  record.asked.tasks);
            if (!gres)
                continue;
            record.job.devices |= !gres->empty();
            record.job.gres_on = {std::move(*gres)};
            record.job.nodes = {name};
            record.job.cpus = cpus;
            allocated(record);
            return;
        }
        if (record.asked.tasks > 1 && start_on_several(record)) {
            allocated(record);
            return;
        }
        record.job.reason = "Resources";
    }

    // --- prep/k8s: see gate.h

    bool is_dirty(const std::string &node) const
    {
        return ("," + dirty() + ",").contains("," + node + ",") ||
               std::ranges::any_of(jobs_, [&](const auto &known) {
                   return known.second.epilog_held &&
                          std::ranges::contains(known.second.job.nodes, node);
               });
    }
    bool may_open_by_itself(const Record &record) const
    {
        return !is_ours(record) && record.prolog_held &&
               !is_dirty(record.job.nodes.front());
    }
    static void open_prolog(Record &record)
    {
        if (!std::exchange(record.prolog_held, false))
            return;
        record.job.state = JobState::running;
    }
    void open_ordinary()
    {
        for (auto &[id, record] : jobs_)
            if (may_open_by_itself(record))
                open_prolog(record);
    }

    void end(Record &record, JobState state)
    {
        bool had_nodes = is_allocated(record.job.state);
        record.job.state = state;
        record.job.reason.clear();
        record.prolog_held = false;
        if (!had_nodes || !is_ours(record))
            return; // no hook tells of it
        record.epilog_held = true;
        tell(record, HookMessage::Type::ended);
    }

    Result<> finish(JobRef ref, int status, const std::string &doing)
    {
        if (!record_of(ref))
            return fail(Code::not_found, doing + ": Invalid job id specified");
        for (JobId id : components_of(ref.id))
            finish_one(jobs_.at(id), status);
        if (std::exchange(lost_, false))
            return fail(Code::uncertain, doing + ": no answer");
        return {};
    }

    void finish_one(Record &record, int status)
    {
        record.status = status;
        record.completions++;
        bool was_pending = record.job.state == JobState::pending;
        if (!is_ended(record.job.state))
            end(record, status == cancel_status || was_pending
                            ? JobState::cancelled
                        : status == 0          ? JobState::completed
                        : status == oom_status ? JobState::out_of_memory
                                               : JobState::failed);
    }

    void tell(const Record &record, HookMessage::Type type)
    {
        if (!hooks)
            return;
        HookMessage message{.type = type, .job = record.job.ref};
        for (const std::string &node : record.job.nodes)
            message.nodes += (message.nodes.empty() ? "" : ",") + node;
        if (says_cpus && type == HookMessage::Type::allocated)
            message.cpus = record.job.cpus;
        message.ours = is_ours(record);
        message.batch = !record.job.tag.script.empty();
        if (type == HookMessage::Type::allocated)
            for (const std::string &node : record.job.nodes)
                if (is_dirty(node))
                    message.dirty += (message.dirty.empty() ? "" : ",") + node;
        hooks(message);
    }

    std::map<JobId, Record> jobs_;
    std::map<JobRef, JobState> accounted_;
    std::set<JobId> held_;
    std::set<std::string> stubborn_;
    std::map<std::string, SlurmNode> nodes_;
    std::map<std::string, NodeDescription> created_;
    std::vector<SlurmNode> last_nodes_; // of the last load
    std::string hidden_;
    std::map<JobRef, std::string> named_;
    std::map<JobRef, std::pair<std::string, NodeRoom>> shadows_;
    std::map<std::string, std::size_t> counts_;
    std::map<std::string, std::deque<std::pair<Code, bool>>> mishaps_;
    std::map<std::string, Code> always_;
    bool lost_ = false;
    JobId next_id_ = 1;
    std::uint64_t next_sluid_ = 1000;
};

} // namespace bridge
