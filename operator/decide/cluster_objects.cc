// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/cluster_objects.h"

#include "common/contract/worker_names.h"
#include "operator/decide/controller_pod.h"
#include "operator/decide/json_merge.h"
#include "operator/decide/metadata.h"

#include <utility>

namespace bridge::slinky {

namespace {

constexpr char port_name[] = "slurmctld";

std::string name_of(const Controller &controller)
{
    return controller_service(controller.meta.key.name);
}

JsonValue rule(const char *group, JsonValue::Array resources,
               JsonValue::Array verbs)
{
    return JsonValue::object(
        {{"apiGroups", JsonValue::array({group})},
         {"resources", JsonValue::array(std::move(resources))},
         {"verbs", JsonValue::array(std::move(verbs))}});
}

// The workers, the Lease, and which NodeSets follow the queue. Of these the
// agent can write the replicas, and nothing else.
std::string rules()
{
    auto lease = rule("coordination.k8s.io", {"leases"}, {"get", "update"});
    lease.add("resourceNames", JsonValue::array({names::agent_lease}));
    return JsonValue::array(
               {rule("", {"pods"}, {"get", "list", "watch"}),
                rule("", {"pods/status"}, {"patch"}),
                rule(names::slinky_group, {"nodesets"},
                     {"get", "list", "watch"}),
                rule(names::slinky_group, {"nodesets/scale"}, {"patch"}),
                std::move(lease),
                rule("coordination.k8s.io", {"leases"}, {"create"})})
        .dump();
}

JsonValue service_port(const std::string &name, std::int64_t port)
{
    return JsonValue::object({{"name", name},
                              {"port", port},
                              {"protocol", "TCP"},
                              {"targetPort", port_name}});
}

// slurmctld's own port is always there, since slurm.conf names it.
JsonValue::Array ports(const Controller &controller)
{
    JsonValue::Array made{service_port(port_name, slurmctld_port)};
    auto port = controller.spec.integer("service/port");
    auto node_port = controller.spec.integer("service/nodePort").value_or(0);
    if (port && *port != slurmctld_port)
        made.push_back(service_port("other", *port));
    if (node_port > 0)
        made.back().add("nodePort", node_port);
    return made;
}

JsonValue service_spec(const Controller &controller, JsonValue::Array ports)
{
    return JsonValue::object(
        {{"selector", texts_json(controller_selector(controller))},
         // slurmctld calls itself, before it is ready, too.
         {"publishNotReadyAddresses", true},
         {"ports", JsonValue::array(std::move(ports))}});
}

} // namespace

std::vector<Wanted> agent_rights(const Controller &controller)
{
    std::string name = name_of(controller);
    TextMap labels = controller_labels(controller);
    auto role = JsonValue::object(
        {{"apiGroup", rbac_group}, {"kind", "Role"}, {"name", name}});
    auto subject = JsonValue::object({{"kind", "ServiceAccount"},
                                      {"name", name},
                                      {"namespace", controller.meta.key.ns}});
    return {{"ServiceAccount",
             name,
             labels,
             {},
             {{"automountServiceAccountToken", "false"}}},
            {"Role", name, labels, {}, {{"rules", rules()}}},
            {"RoleBinding",
             name,
             labels,
             {},
             {{"roleRef", role.dump()},
              {"subjects", JsonValue::array({std::move(subject)}).dump()}}}};
}

Wanted controller_address(const Controller &controller)
{
    Json theirs = controller.spec.at("service");
    TextMap labels = theirs.texts("metadata/labels");
    for (const auto &[name, value] : controller_labels(controller))
        labels[name] = value;
    auto ours = service_spec(controller, ports(controller));
    return {"Service",
            name_of(controller),
            std::move(labels),
            theirs.texts("metadata/annotations"),
            {{"spec", merged(read_own(ours.dump()), theirs.at("spec"))}}};
}

Wanted controller_names(const Controller &controller)
{
    auto spec =
        service_spec(controller, {service_port(port_name, slurmctld_port)});
    spec.add("clusterIP", "None");
    return {"Service",
            name_of(controller) + "-internal",
            controller_labels(controller),
            {},
            {{"spec", spec.dump()}}};
}

} // namespace bridge::slinky
