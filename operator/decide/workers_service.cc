// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/workers_service.h"

#include "common/contract/worker_names.h"
#include "operator/decide/metadata.h"
#include "operator/decide/names.h"
#include "operator/decide/protect.h"
#include "operator/decide/scale.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bridge::slinky {

namespace {

TextMap selector_of(const Controller &controller)
{
    return {{names::app_label, "slurmd"},
            {names::cluster_label, controller.meta.key.name}};
}

bool is_as_it_should(const Service &service, const Controller &controller)
{
    return service.cluster_ip == "None" &&
           std::ranges::contains(service.owners, controller.meta.uid) &&
           service.selector == selector_of(controller);
}

bool is_there(const Known &known, const Controller &controller)
{
    const Key &key = controller.meta.key;
    auto service = known.services.find({key.ns, workers_service(key.name)});
    return service != known.services.end() &&
           is_as_it_should(service->second, controller);
}

// Gives the Pods names also before they are ready.
Step service_step(const Controller &controller)
{
    std::string name = workers_service(controller.meta.key.name);
    auto port = JsonValue::object({{"name", "slurmd"},
                                   {"port", 6818},
                                   {"protocol", "TCP"},
                                   {"targetPort", "slurmd"}});
    auto spec =
        JsonValue::object({{"clusterIP", "None"},
                           {"publishNotReadyAddresses", true},
                           {"selector", texts_json(selector_of(controller))},
                           {"ports", JsonValue::array({port})}});
    auto body =
        JsonValue::object({{"apiVersion", "v1"},
                           {"kind", "Service"},
                           {"metadata", workers_metadata(controller, name)},
                           {"spec", std::move(spec)}});
    return {Step::Verb::apply, "apply Service " + name,
            applied("/api/v1/namespaces/" + controller.meta.key.ns +
                    "/services/" + name),
            body.dump()};
}

} // namespace

std::vector<Step> serve_workers(const Known &known,
                                const Controller &controller)
{
    std::vector<Step> steps;
    if (!is_there(known, controller) && !sets_of(known, controller).empty())
        steps.push_back(service_step(controller));
    std::ranges::move(protect_workers(known, controller),
                      std::back_inserter(steps));
    return steps;
}

} // namespace bridge::slinky
