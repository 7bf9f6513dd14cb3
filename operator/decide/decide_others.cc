// SPDX-License-Identifier: GPL-2.0-or-later
// What is decided of the kinds other than NodeSet.
#include "common/base/ascii.h"
#include "common/contract/worker_names.h"
#include "operator/decide/accounting.h"
#include "operator/decide/cluster.h"
#include "operator/decide/decide.h"
#include "operator/decide/names.h"
#include "operator/decide/protect.h"
#include "operator/decide/said.h"

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

} // namespace

std::optional<Step> workers_service_step(const Known &known,
                                         const Controller &controller)
{
    const Key &key = controller.meta.key;
    auto service = known.services.find({key.ns, workers_service(key.name)});
    bool there = service != known.services.end() &&
                 is_as_it_should(service->second, controller);
    if (there || !has_node_sets(known, controller))
        return std::nullopt;
    return service_step(controller);
}

std::vector<Step> decide_controller(const Known &known,
                                    const Controller &controller,
                                    const Failures &failures, Now now)
{
    if (!controller.external)
        return decide_cluster(known, controller, failures, now);
    if (controller.meta.deleting)
        return {};
    auto steps =
        say("Controller", "controllers", controller.meta, controller.conditions,
            {{"Served", true, "External",
              "slurmctld runs elsewhere: nothing is made for it, and "
              "NodeSets can belong to it."}},
            now);
    if (auto step = workers_service_step(known, controller))
        steps.push_back(std::move(*step));
    std::ranges::move(protect_workers(known, controller),
                      std::back_inserter(steps));
    return steps;
}

std::vector<Step> decide_unserved(const Known &known, const Unserved &object,
                                  const Failures &failures, Now now)
{
    if (object.kind == "Accounting")
        return decide_accounting(known, object, failures, now);
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
