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

} // namespace bridge
