// SPDX-License-Identifier: GPL-2.0-or-later
// A Controller whose slurmctld the operator runs, for the tests of the
// operator: what the API server, and the kubelet of a trial, make of its steps.
#pragma once

#include "operator/decide/accounting.h"
#include "operator/decide/cluster.h"
#include "tests/unit/operator/make.h"

#include <chrono>
#include <format>
#include <iterator>
#include <string>
#include <vector>

namespace bridge::slinky {

inline constexpr Now now{std::chrono::seconds(1800000000)};
inline constexpr char held[] = R"(, "finalizers": ["slurmk8s/cluster"])";

// more: members of its spec, with a comma; meta: of its metadata.
inline Controller inside(const std::string &more = {},
                         const std::string &meta = {})
{
    return controller_from(json(std::format(
        R"({{"metadata": {{"namespace": "ns", "name": "slurm", "uid": "c-uid",
            "resourceVersion": "5", "generation": 1 {}}},
            "spec": {{"slurmKeyRef": {{"name": "keys", "key": "slurm.key"}},
            "jwtKeyRef": {{"name": "jwts", "key": "jwt.key"}},
            "slurmctld": {{"image": "ctld"}} {}}}}})",
        meta, more)));
}

inline Known with(const Controller &controller)
{
    Known known;
    known.controllers[controller.meta.key] = controller;
    known.agent_image = "agent";
    return known;
}

inline void add(Known &known, const NodeSet &set)
{
    known.node_sets[set.meta.key] = set;
}

inline std::vector<Step> decided(const Known &known)
{
    return decide_cluster(known, known.controllers.begin()->second, {}, now);
}

inline void forget(Known &known, const Step &step)
{
    std::string name = step.path.substr(step.path.rfind('/') + 1);
    if (step.what.starts_with("delete Pod "))
        known.daemons.erase({"ns", name});
    else
        known.made.erase({"ConfigMap", {"ns", name}});
}

// As the API server has it once the steps have been made.
inline void make(Known &known, const std::vector<Step> &steps)
{
    for (const Step &step : steps) {
        Json body = json(step.body);
        Made made = made_from(body);
        if (step.verb == Step::Verb::remove)
            forget(known, step);
        if (step.verb == Step::Verb::create) {
            Daemon daemon = daemon_from(body);
            known.daemons[daemon.meta.key] = daemon;
        }
        if (step.verb == Step::Verb::apply && !body.at("status").present())
            known.made[{made.kind, made.meta.key}] = made;
        if (made.kind == "Service") {
            Service service = service_from(body);
            known.services[service.meta.key] = service;
        }
        if (made.kind == "PodDisruptionBudget") {
            Budget budget = budget_from(body);
            known.budgets[budget.meta.key] = budget;
        }
    }
}

// Makes all steps until there are none; each trial comes up. Returns them.
inline std::vector<Step> settle(Known &known)
{
    std::vector<Step> all;
    for (int round = 0; round < 10; round++) {
        for (auto &[key, daemon] : known.daemons)
            daemon.ready = true;
        auto steps = decided(known);
        make(known, steps);
        std::erase_if(steps, [](const Step &step) { return step.is_report; });
        if (steps.empty())
            break;
        std::move(steps.begin(), steps.end(), std::back_inserter(all));
    }
    return all;
}

inline std::vector<Step> settled(Known known)
{
    return settle(known);
}

// Of the last such step.
inline Json body_of(const std::vector<Step> &steps, const std::string &what)
{
    Json found;
    for (const Step &step : steps)
        if (step.what == what)
            found = json(step.body);
    return found;
}

inline std::string conf_of(const std::vector<Step> &steps)
{
    return body_of(steps, "apply ConfigMap slurm-config")
        .at("data")
        .member("slurm.conf")
        .text();
}

inline Json container(const Json &pod, const std::string &name)
{
    for (const Json &one : pod.items("containers"))
        if (one.text("name") == name)
            return one;
    return {};
}

} // namespace bridge::slinky
