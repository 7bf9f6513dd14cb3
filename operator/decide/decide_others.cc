// SPDX-License-Identifier: GPL-2.0-or-later
// What is decided of the kinds other than NodeSet.
#include "common/base/ascii.h"
#include "common/contract/worker_names.h"
#include "operator/decide/decide.h"
#include "operator/decide/names.h"
#include "operator/decide/protect.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bridge::slinky {

namespace {

JsonValue selector_labels(const Controller &controller)
{
    return JsonValue::object(
        {{names::app_label, "slurmd"},
         {names::cluster_label, controller.meta.key.name}});
}

bool is_as_it_should(const Service &service, const Controller &controller)
{
    return service.cluster_ip == "None" &&
           std::ranges::contains(service.owners, controller.meta.uid) &&
           service.selector ==
               TextMap{{names::app_label, "slurmd"},
                       {names::cluster_label, controller.meta.key.name}};
}

// Gives the Pods names in the cluster's DNS, also before they are ready.
Step service_step(const Controller &controller)
{
    std::string name = workers_service(controller.meta.key.name);
    const std::string &ns = controller.meta.key.ns;
    auto owner = JsonValue::object({{"apiVersion", names::slinky_version},
                                    {"kind", "Controller"},
                                    {"name", controller.meta.key.name},
                                    {"uid", controller.meta.uid}});
    auto labels =
        JsonValue::object({{names::app_label, "slurmd"},
                           {names::component_label, "worker"},
                           {names::cluster_label, controller.meta.key.name}});
    auto metadata = JsonValue::object(
        {{"name", name},
         {"namespace", ns},
         {"labels", std::move(labels)},
         {"ownerReferences", JsonValue::array({std::move(owner)})}});
    auto port = JsonValue::object({{"name", "slurmd"},
                                   {"port", 6818},
                                   {"protocol", "TCP"},
                                   {"targetPort", "slurmd"}});
    auto spec = JsonValue::object({{"clusterIP", "None"},
                                   {"publishNotReadyAddresses", true},
                                   {"selector", selector_labels(controller)},
                                   {"ports", JsonValue::array({port})}});
    auto body = JsonValue::object({{"apiVersion", "v1"},
                                   {"kind", "Service"},
                                   {"metadata", std::move(metadata)},
                                   {"spec", std::move(spec)}});
    return {Step::Verb::apply, "apply Service " + name,
            applied("/api/v1/namespaces/" + ns + "/services/" + name),
            body.dump()};
}

bool has_node_sets(const Known &known, const Controller &controller)
{
    return std::ranges::any_of(known.node_sets, [&](const auto &entry) {
        return entry.first.ns == controller.meta.key.ns &&
               entry.second.controller == controller.meta.key.name;
    });
}

std::vector<Step> say(const std::string &kind, const std::string &plural,
                      const Meta &meta, const std::vector<Condition> &before,
                      const std::vector<Said> &said, Now now)
{
    if (are_said(said, meta, before))
        return {};
    JsonMembers members;
    if (kind == "LoginSet") // its status has to have one
        members.emplace_back("selector",
                             JsonValue(std::string(names::instance_label) +
                                       "=" + meta.key.name + "," +
                                       names::app_label + "=login")
                                 .dump());
    return {status_step(kind, plural, meta, std::move(members),
                        conditions_json(said, meta, before, now))};
}

} // namespace

std::vector<Step> decide_controller(const Known &known,
                                    const Controller &controller, Now now)
{
    if (controller.meta.deleting)
        return {};
    Said served{
        "Served", true, "External",
        "slurmctld runs elsewhere: nothing is made for it, and NodeSets "
        "can belong to it."};
    if (!controller.external)
        served = {
            "Served", false, "NotServedYet",
            "A slurmctld in Kubernetes is not served yet: nothing is made. "
            "Set external and externalConfig to use one that runs "
            "elsewhere."};
    auto steps = say("Controller", "controllers", controller.meta,
                     controller.conditions, {served}, now);
    const Key &key = controller.meta.key;
    auto service = known.services.find({key.ns, workers_service(key.name)});
    bool there = service != known.services.end() &&
                 is_as_it_should(service->second, controller);
    if (controller.external && !there && has_node_sets(known, controller))
        steps.push_back(service_step(controller));
    std::ranges::move(protect_workers(known, controller),
                      std::back_inserter(steps));
    return steps;
}

std::vector<Step> decide_unserved(const Unserved &object, Now now)
{
    if (object.meta.deleting)
        return {};
    return say(object.kind, lower_case(object.kind) + "s", object.meta,
               object.conditions,
               {{"Served", false, "NotServedYet",
                 "The kind " + object.kind +
                     " is not served yet: nothing is made for it."}},
               now);
}

} // namespace bridge::slinky
