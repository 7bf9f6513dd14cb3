// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/autoscale.h"

#include "operator/decide/names.h"
#include "operator/decide/node_conf.h"

#include <algorithm>
#include <format>
#include <utility>

namespace bridge::slinky {

namespace {

const std::string *annotation(const NodeSet &set, const char *name)
{
    auto found = set.meta.annotations.find(name);
    return found == set.meta.annotations.end() ? nullptr : &found->second;
}

std::string wrong_value(const char *name, const std::string &value,
                        const char *form)
{
    return std::format("The annotation {} has \"{}\", and must have {}. Until "
                       "then replicas are what they are.",
                       name, value, form);
}

// Why the workers of this NodeSet cannot come and go by the queue.
std::string unfit(const NodeSet &set, const NodeConf &conf)
{
    if (set.daemon_set)
        return std::format("{} is for scalingMode StatefulSet: in the mode "
                           "DaemonSet each Node that fits has a Pod.",
                           names::autoscale_annotation);
    if (!conf.sized)
        return std::format(
            "{} needs the size of the nodes before they exist: the container "
            "slurmd must request cpu and memory, or extraConf must have CPUs "
            "and RealMemory.",
            names::autoscale_annotation);
    return {};
}

PotentialWorkers workers_of(const NodeSet &set, const NodeConf &conf)
{
    PotentialWorkers workers;
    workers.prefix = node_prefix(set);
    workers.digits =
        static_cast<std::uint32_t>(std::clamp<std::int64_t>(set.padding, 0, 9));
    workers.conf = conf.words;
    return workers;
}

} // namespace

Autoscale autoscale_of(const NodeSet &set)
{
    const std::string *range = annotation(set, names::autoscale_annotation);
    const std::string *idle = annotation(set, names::scale_down_annotation);
    Autoscale made;
    made.asked = range || idle;
    if (!range) {
        if (idle)
            made.problem = std::format("{} says nothing without {}.",
                                       names::scale_down_annotation,
                                       names::autoscale_annotation);
        return made;
    }
    NodeConf conf = node_conf(set);
    PotentialWorkers workers = workers_of(set, conf);
    auto read = read_replica_range(*range);
    auto time = idle ? read_idle_time(*idle) : usual_idle_time;
    if (!read)
        made.problem =
            wrong_value(names::autoscale_annotation, *range,
                        "the least and the largest number of Pods, such as "
                        "\"0-32\"");
    else if (!time)
        made.problem = wrong_value(names::scale_down_annotation, *idle,
                                   "a time such as \"90s\", \"5m\" or \"1h\"");
    else
        made.problem = unfit(set, conf);
    if (!made.problem.empty())
        return made;
    workers.range = *read;
    workers.idle_time = *time;
    // What an extraConf that is refused would say reaches nobody.
    if (!read_potential_workers(workers.text()))
        made.problem = "The names or extraConf of this NodeSet cannot be told "
                       "to slurmctld.";
    else
        made.workers = std::move(workers);
    return made;
}

std::int64_t wished_replicas(const NodeSet &set)
{
    Autoscale autoscale = autoscale_of(set);
    if (!autoscale.workers)
        return set.replicas;
    return std::clamp<std::int64_t>(set.replicas,
                                    autoscale.workers->range.least,
                                    autoscale.workers->range.most);
}

std::int64_t most_replicas(const NodeSet &set)
{
    Autoscale autoscale = autoscale_of(set);
    return autoscale.workers ? autoscale.workers->range.most : set.replicas;
}

std::vector<Step> tell_agent(const NodeSet &set)
{
    Autoscale autoscale = autoscale_of(set);
    std::string wanted = autoscale.workers ? autoscale.workers->text() : "";
    const std::string *there = annotation(set, names::potential_annotation);
    if (wanted == (there ? *there : ""))
        return {};
    auto annotations =
        JsonValue::object({{names::potential_annotation,
                            wanted.empty() ? JsonValue() : JsonValue(wanted)}});
    auto metadata = JsonValue::object(
        {{"uid", set.meta.uid}, {"annotations", std::move(annotations)}});
    return {
        {.verb = Step::Verb::patch,
         .what = "say which workers NodeSet " + set.meta.key.name + " may have",
         .path = slinky_path("nodesets", set.meta.key),
         .body =
             JsonValue::object({{"metadata", std::move(metadata)}}).dump()}};
}

std::optional<Said> autoscaled(const NodeSet &set)
{
    Autoscale autoscale = autoscale_of(set);
    if (!autoscale.asked)
        return std::nullopt;
    if (!autoscale.workers)
        return Said{"Autoscaled", false, "NotServed", autoscale.problem};
    return Said{"Autoscaled", true, "FollowsQueue",
                std::format("The agent beside slurmctld sets replicas between "
                            "{} and {} by the jobs that wait, and takes "
                            "workers away that are idle for {} s.",
                            autoscale.workers->range.least,
                            autoscale.workers->range.most,
                            autoscale.workers->idle_time.count())};
}

} // namespace bridge::slinky
