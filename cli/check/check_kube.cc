// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_kube.h"

#include "agent/batch/srun.h"
#include "agent/decide/identity.h"
#include "agent/nodes/words.h"
#include "cli/check/check_host.h"
#include "common/contract/names.h"

#include <algorithm>
#include <format>
#include <map>
#include <vector>

namespace bridge {

namespace {

constexpr char kubernetes[] = "Kubernetes";
constexpr char our_name[] = "system:serviceaccount:slurm-k8s-bridge:slurmk8sd";
constexpr char agent_policy[] = "slurm-k8s-bridge-agent";
constexpr int first_minor = 35;
constexpr std::chrono::seconds some_skew{5};
constexpr std::chrono::seconds much_skew{60};

std::string apply_component(const std::string &manifest)
{
    return "add " + manifest + ", or kubectl apply -k contribs/kubernetes/all";
}

std::string apply(Feature feature)
{
    if (feature == Feature::base)
        return "kubectl apply -k contribs/kubernetes";
    return apply_component(feature_manifest(feature));
}

std::string apply(const PolicyName &policy)
{
    if (policy.component)
        return apply_component(std::string("contribs/kubernetes/components/") +
                               policy.component);
    return apply(policy.feature);
}

std::string missing_text(const PolicyName &policy)
{
    std::string text = "it is not installed";
    if (policy.without)
        return text + ": " + policy.without;
    if (policy.guards_users)
        return text + ": users can forge data that the agent trusts";
    return text;
}

bool is_quoted_in(const std::string &text, const std::string &name)
{
    return text.contains("'" + name + "'");
}

Findings check_policy(const PolicyName &name, const PolicyFacts &policy,
                      const Conf &conf)
{
    std::string about = "policy " + policy.name;
    Severity severity = name.guards_users ? Severity::error : Severity::warning;
    if (!policy.there)
        return {{severity, about, missing_text(name), apply(name)}};
    if (!policy.denies)
        return {{severity, about,
                 name.mutates ? "no binding makes it change anything"
                              : "no binding makes it deny anything",
                 apply(name)}};
    Findings found;
    for (const std::string &scheduler : conf.scheduler_names)
        if (name.names_schedulers && !is_quoted_in(policy.text, scheduler))
            found.push_back({severity, about,
                             "it does not know the scheduler name " +
                                 scheduler + " of k8s.conf",
                             "add '" + scheduler + "' to its expression"});
    // The base may be older than the component that needs it.
    if (policy.name == agent_policy && !conf.batch_namespace.empty() &&
        !is_quoted_in(policy.text, names::batch_hosts_annotation))
        found.push_back(
            {severity, about,
             std::string("it does not know the annotation ") +
                 names::batch_hosts_annotation +
                 ": srun in batch jobs never learns where the Pods are",
             apply(Feature::base)});
    return found;
}

// Whether the policies take this user for the agent: the chart slurm-k8s-bridge
// may have named another account.
bool is_the_agent(const KubeFacts &kube)
{
    auto policy =
        std::ranges::find(kube.policies, agent_policy, &PolicyFacts::name);
    return kube.username == our_name ||
           (policy != kube.policies.end() &&
            is_quoted_in(policy->text, kube.username));
}

// Whether the component strict-nodes leaves the namespace alone.
bool is_exempt(const KubeFacts &kube, const std::string &ns)
{
    if (ns == "kube-system")
        return true;
    auto known = std::ranges::find(kube.namespaces, ns, &Namespace::name);
    if (known == kube.namespaces.end())
        return false;
    auto label = known->labels.find(names::strict_nodes_label);
    return label != known->labels.end() && label->second == "false";
}

} // namespace

Findings check_kube_version(const KubeFacts &kube)
{
    if (kube.minor_version == 0 || kube.minor_version >= first_minor)
        return {};
    return {{Severity::error, kubernetes,
             std::format("Kubernetes 1.{} is too old", kube.minor_version),
             std::format("upgrade to 1.{} or later", first_minor)}};
}

Findings check_identity(const KubeFacts &kube)
{
    if (kube.username.empty())
        return {};
    if (std::ranges::contains(kube.groups, "system:masters"))
        return {{Severity::error, "token",
                 "it belongs to an administrator: nothing limits the damage of "
                 "a mistake",
                 make_token_command}};
    if (!is_the_agent(kube))
        return {{Severity::error, "token",
                 "it is that of " + kube.username +
                     "; the policies know the agent as " + our_name +
                     " and refuse what anybody else writes",
                 make_token_command}};
    return {};
}

Findings check_clock(const KubeFacts &kube)
{
    if (!kube.server_time)
        return {};
    auto skew = std::chrono::abs(kube.our_time - *kube.server_time);
    if (skew <= some_skew)
        return {};
    return {{skew > much_skew ? Severity::error : Severity::warning, "clock",
             std::format("this host and the API server are {} s apart: tokens, "
                         "times of Events and expected starts are wrong",
                         skew.count()),
             "run a time service on both"}};
}

Findings check_rights(const KubeFacts &kube)
{
    Findings found;
    if (!kube.access)
        return found;
    for (Feature feature : all_features) {
        std::string missing_rights = kube.access->missing_rights(feature);
        if (missing_rights.empty())
            continue;
        bool base = feature == Feature::base;
        found.push_back(
            {base ? Severity::error : Severity::note, "rights",
             "slurmk8sd may not " + missing_rights +
                 (base ? std::string()
                       : std::string(": ") + feature_name(feature) + " is off"),
             apply(feature)});
    }
    return found;
}

Findings check_policies(const KubeFacts &kube, const Conf &conf)
{
    Findings found;
    for (const PolicyName &name : known_policies()) {
        auto policy =
            std::ranges::find(kube.policies, name.name, &PolicyFacts::name);
        bool off = (kube.access && !kube.access->may(name.feature)) ||
                   ((name.feature == Feature::sbatch ||
                     name.feature == Feature::sbatch_srun) &&
                    conf.batch_namespace.empty());
        if (policy == kube.policies.end() || off) // not asked, or not needed
            continue;
        std::ranges::move(check_policy(name, *policy, conf),
                          std::back_inserter(found));
    }
    return found;
}

Findings check_namespaces(const KubeFacts &kube, const Conf &conf)
{
    Findings found;
    if (!conf.default_user.empty())
        if (auto said = identify(Namespace{}, Pod{}, conf); !said)
            found.push_back({Severity::error, "k8s.conf",
                             "DefaultUser: " + said.error().message,
                             "DefaultUser=a user that this host knows"});
    for (const Namespace &ns : kube.namespaces) {
        if (!ns.annotations.contains(names::namespace_user) &&
            !ns.annotations.contains(names::namespace_group))
            continue;
        if (auto said = identify(ns, Pod{}, conf); !said)
            found.push_back(
                {Severity::error, "namespace " + ns.name, said.error().message,
                 "kubectl annotate --overwrite namespace " + ns.name + " " +
                     names::namespace_user + "=NAME"});
    }
    return found;
}

// One finding for each namespace, which may have many such Pods.
Findings check_outside_pods(const KubeFacts &kube)
{
    std::set<std::string> ours;
    for (const Node &node : kube.nodes)
        if (is_opted_in(node))
            ours.insert(node.name);
    std::map<std::string, std::vector<const OutsidePod *>> by_namespace;
    for (const OutsidePod &pod : kube.outside_pods)
        if (ours.contains(pod.node))
            by_namespace[pod.ns].push_back(&pod);
    Findings found;
    for (const auto &[ns, pods] : by_namespace) {
        const OutsidePod &first = *pods.front();
        bool meant = is_exempt(kube, ns);
        found.push_back(
            {meant ? Severity::note : Severity::warning, "namespace " + ns,
             std::format("Pods that run on Slurm's nodes outside of its queue: "
                         "{}, such as {} on {}",
                         pods.size(), first.name, first.node),
             meant ? "" : "schedulerName: slurm in their manifests"});
    }
    return found;
}

} // namespace bridge
