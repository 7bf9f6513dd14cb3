// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/unserved.h"

namespace bridge::slinky {

namespace {

bool is_set(const Json &spec, const char *path)
{
    Json value = spec.at(path);
    return value.is_object() ? !value.members().empty()
                             : !value.items().empty();
}

} // namespace

std::vector<std::string> unserved_fields(const NodeSet &set)
{
    const Json &spec = set.spec;
    std::vector<std::string> found;
    auto add = [&](bool asked, const char *phrase) {
        if (asked)
            found.emplace_back(phrase);
    };
    add(is_set(spec, "logfile"), "logfile (slurmd logs to its own container)");
    add(spec.flag("ssh/enabled"), "ssh (no sshd runs)");
    add(spec.text("updateStrategy/type") == "ScheduledUpdate",
        "updateStrategy ScheduledUpdate (as with OnDelete, a Pod gets a new "
        "template when somebody deletes it)");
    add(!spec.text("template/spec/nodeName").empty(),
        "template.spec.nodeName (the scheduler places the Pods)");
    add(spec.flag("template/spec/automountServiceAccountToken"),
        "template.spec.automountServiceAccountToken (users run jobs there, and "
        "get no token)");
    return found;
}

std::vector<std::string> unserved_fields(const Controller &controller)
{
    const Json &spec = controller.spec;
    std::vector<std::string> found;
    auto add = [&](bool asked, const char *phrase) {
        if (asked)
            found.emplace_back(phrase);
    };
    add(is_set(spec, "logfile"),
        "logfile (slurmctld logs to its own container)");
    add(spec.flag("metrics/serviceMonitor/enabled"),
        "metrics.serviceMonitor (none is made)");
    return found;
}

} // namespace bridge::slinky
