// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/gres_order.h"

#include "operator/decide/config_state.h"
#include "operator/decide/controller_pod.h"
#include "operator/decide/node_conf.h"
#include "operator/decide/release_order.h"

namespace bridge::slinky {

namespace {

bool is_refused(const Controller &controller, const ConfigState &config)
{
    const Condition *valid =
        find_condition(controller.conditions, "ConfigValid");
    return !config.wanted.problem.empty() ||
           (valid && valid->status == "False");
}

} // namespace

std::string gres_waits(const Known &known, const Controller &controller,
                       const NodeSet &set)
{
    if (controller.external || !node_conf(set).gres)
        return {};
    Controller allowed =
        with_images(controller, controller_images(known, controller));
    ConfigState config = config_state(known, allowed);
    if (config.wanted.known && is_refused(controller, config))
        return {};
    bool told = config.applied || agent_image(known, allowed).empty();
    if (config.wanted.known && config.live == config.wanted.hash && told)
        return {};
    return "Its nodes have GRES: Pods wait until slurmctld has read the "
           "present "
           "configuration, of which condition ConfigApplied of Controller " +
           controller.meta.key.name + " tells.";
}

} // namespace bridge::slinky
