// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_names.h"

#include "common/base/ascii.h"
#include "common/contract/names.h"

namespace bridge {

namespace {

Finding unknown_qos(const std::string &about, const std::string &qos)
{
    return {Severity::error, about,
            "slurmdbd knows no QoS " + qos + ": Slurm refuses such Pods",
            "sacctmgr add qos " + qos};
}

Finding no_association(Severity severity, const std::string &about,
                       const std::string &who, const std::string &user,
                       const std::string &then)
{
    return {severity, about,
            who + " " + user +
                " has no association in slurmdbd, and AccountingStorageEnforce "
                "asks for one: Slurm refuses " +
                then,
            "sacctmgr add user " + user + " account=ACCOUNT"};
}

} // namespace

Findings check_qos(const SlurmFacts &slurm, const Conf &conf,
                   const std::vector<Namespace> &namespaces)
{
    Findings found;
    auto unknown = [&](const std::string &qos) {
        // slurmdbd keeps names in lower case; slurmctld looks them up like
        // that.
        return slurm.qos && !qos.empty() &&
               !slurm.qos->contains(lower_case(qos));
    };
    for (const auto &[name, meaning] : conf.priority_classes)
        if (unknown(meaning.qos))
            found.push_back(
                unknown_qos("k8s.conf, PriorityClass=" + name, meaning.qos));
    for (const Namespace &ns : namespaces)
        if (auto qos = ns.annotations.find(names::namespace_qos);
            qos != ns.annotations.end() && unknown(qos->second))
            found.push_back(unknown_qos("namespace " + ns.name, qos->second));
    return found;
}

Findings check_associations(const SlurmFacts &slurm, const Conf &conf,
                            const std::vector<Namespace> &namespaces)
{
    auto lacks = [&](const std::string &user) {
        return slurm.associated_users && !user.empty() &&
               !is_digit(user.front()) && // an id: the name is not known
               !slurm.associated_users->contains(user);
    };
    Findings found;
    if (lacks(slurm.slurm_user))
        found.push_back(no_association(
            Severity::warning, "slurmdbd", "SlurmUser", slurm.slurm_user,
            "the jobs that hold what Pods of others use on a node"));
    if (lacks(conf.default_user))
        found.push_back(no_association(Severity::error, "k8s.conf",
                                       "DefaultUser", conf.default_user,
                                       "the jobs of its Pods"));
    for (const Namespace &ns : namespaces)
        if (auto user = ns.annotations.find(names::namespace_user);
            user != ns.annotations.end() && lacks(user->second))
            found.push_back(no_association(
                Severity::error, "namespace " + ns.name, names::namespace_user,
                user->second, "the jobs of its Pods"));
    return found;
}

} // namespace bridge
