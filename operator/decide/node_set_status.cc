// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/node_set_status.h"

#include "common/contract/worker_names.h"
#include "operator/decide/autoscale.h"
#include "operator/decide/metadata.h"
#include "operator/decide/unserved.h"
#include "operator/decide/update.h"
#include "operator/decide/worker_pod.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge::slinky {

namespace {

struct Counts {
    std::int64_t replicas = 0;
    std::int64_t ready = 0;
    std::int64_t available = 0;
    std::int64_t updated = 0;
};

Counts count(const NodeSet &set, const NodeSetFacts &facts)
{
    Counts counts;
    for (const Worker *worker : facts.workers) {
        if (!is_alive(*worker))
            continue;
        counts.replicas++;
        counts.ready += worker->ready;
        counts.available += is_available(set, *worker, facts.now);
        counts.updated += !is_outdated(*worker, facts.revision);
    }
    return counts;
}

std::int64_t in_state(const NodeSetFacts &facts,
                      std::initializer_list<const char *> states)
{
    return std::ranges::count_if(facts.workers, [&](const Worker *worker) {
        return std::ranges::any_of(states, [&](const char *state) {
            return std::ranges::contains(worker->states, state);
        });
    });
}

// The first few, and how many others there are.
std::string listed(const std::vector<std::string> &items, const char *between,
                   std::size_t most)
{
    std::string text;
    for (std::size_t i = 0; i < std::min(items.size(), most); i++)
        text += (i ? between : "") + items[i];
    if (items.size() > most)
        text += std::format("{}and {} more", between, items.size() - most);
    return text;
}

Said served(const NodeSet &set, const NodeSetFacts &facts)
{
    auto fields = unserved_fields(set);
    if (facts.external && set.spec.flag("partition/enabled"))
        fields.emplace_back("partition (write the line into slurm.conf, with "
                            "Nodes=NODESET and NodeSet=NAME Feature=NAME)");
    if (!facts.sized)
        fields.emplace_back("the size of the node (slurmd reports the whole "
                            "machine, since its container requests no cpu or "
                            "no memory)");
    if (fields.empty())
        return {"Served", true, "Served", "All that the spec asks for."};
    return {"Served", false, "NotServedYet",
            "Not served: " + listed(fields, "; ", fields.size()) + "."};
}

Said scaling_in(const NodeSetFacts &facts)
{
    if (facts.waiting.empty())
        return {"ScalingIn", false, "NobodyAsked", "No Pod is to go."};
    return {
        "ScalingIn", true, "WaitsForAgent",
        std::format("{} to go when the Slurm node is drained and has no "
                    "job: {}. Only the agent beside slurmctld can say so, "
                    "and it has not answered yet.",
                    facts.waiting.size() == 1 ? "A Pod is" : "These Pods are",
                    listed(facts.waiting, ", ", 20))};
}

Said available(const Counts &counts, std::int64_t wanted)
{
    bool all = counts.available >= wanted;
    bool by_time = counts.available < counts.ready;
    return {"Available", all, all ? "AllReady" : "NotAllReady",
            std::format("{} of {} Pods are ready{}.", counts.available, wanted,
                        by_time ? " for as long as minReadySeconds says" : "")};
}

Said updated(const NodeSet &set, const NodeSetFacts &facts,
             const Counts &counts)
{
    if (counts.updated == counts.replicas && facts.held.empty())
        return {"Updated", true, "AllUpdated",
                "All Pods have the present template."};
    auto text = std::format("{} of {} Pods have an older template",
                            counts.replicas - counts.updated, counts.replicas);
    if (!facts.held.empty())
        return {"Updated", false, "WaitsForSlurmctld", facts.held};
    if (!is_rolling(set))
        return {"Updated", false, "OlderTemplates",
                text + ", until somebody deletes them."};
    if (facts.updating.empty())
        return {"Updated", false, "RollingUpdate",
                text + ". They wait until others are available."};
    return {"Updated", false, "RollingUpdate",
            text +
                ". To be replaced when the Slurm node is drained and has no "
                "job: " +
                listed(facts.updating, ", ", 20) + "."};
}

std::vector<Said> conditions_of(const NodeSet &set, const NodeSetFacts &facts,
                                const Counts &counts)
{
    auto wanted = static_cast<std::int64_t>(facts.wanted);
    bool accepted = facts.problem.empty();
    std::string but =
        facts.refused.empty()
            ? ""
            : " But not for " + listed(facts.refused, "; ", 5) + ".";
    std::vector<Said> said{
        {"Accepted", accepted, accepted ? "Accepted" : "CannotBeServed",
         accepted ? "Pods can be made of it." + but : facts.problem},
        served(set, facts),
        available(counts, wanted),
        updated(set, facts, counts),
        scaling_in(facts),
        {"Failing", !facts.failure.empty(),
         facts.failure.empty() ? "NothingRefused" : "Refused",
         facts.failure.empty() ? "The API server refuses nothing."
                               : facts.failure}};
    if (auto one = autoscaled(set))
        said.push_back(std::move(*one));
    return said;
}

} // namespace

std::optional<Step> node_set_status(const NodeSet &set,
                                    const NodeSetFacts &facts, Now now)
{
    Counts counts = count(set, facts);
    auto wanted = static_cast<std::int64_t>(facts.wanted);
    auto missing = std::max<std::int64_t>(wanted - counts.available, 0);
    std::string revision = facts.revision.empty()
                               ? set.status.text("nodeSetHash")
                               : facts.revision;
    JsonMembers members;
    bool same = true;
    auto add = [&](const char *name, const JsonValue &value) {
        members.emplace_back(name, value.dump());
        same = same && set.status.member(name).dump() == value.dump();
    };
    add("observedGeneration", set.meta.generation);
    add("desired", wanted);
    add("replicas", counts.replicas);
    add("updatedReplicas", counts.updated);
    add("readyReplicas", counts.ready);
    add("availableReplicas", counts.available);
    add("unavailableReplicas", missing);
    add("slurmIdle", in_state(facts, {"Idle"}));
    add("slurmAllocated", in_state(facts, {"Allocated", "Mixed"}));
    add("slurmDown", in_state(facts, {"Down"}));
    add("slurmDrain", in_state(facts, {"Drain"}));
    if (!facts.pins.empty() || !set.status.texts("ordinalToNode").empty())
        add("ordinalToNode", texts_json(facts.pins));
    add("nodeSetHash", revision);
    add("selector", selector_of(set));
    auto said = conditions_of(set, facts, counts);
    // The condition that not all have may have to go.
    same = same && (find_condition(set.conditions, "Autoscaled") != nullptr) ==
                       autoscale_of(set).asked;
    if (same && are_said(said, set.meta, set.conditions))
        return std::nullopt;
    return status_step("NodeSet", "nodesets", set.meta, std::move(members),
                       conditions_json(said, set.meta, set.conditions, now));
}

} // namespace bridge::slinky
