// SPDX-License-Identifier: GPL-2.0-or-later
// What is decided of the kinds other than NodeSet.
#include "common/base/ascii.h"
#include "operator/decide/accounting.h"
#include "operator/decide/cluster.h"
#include "operator/decide/decide.h"
#include "operator/decide/said.h"
#include "operator/decide/workers_service.h"

#include <algorithm>
#include <iterator>

namespace bridge::slinky {

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
    std::ranges::move(serve_workers(known, controller),
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
