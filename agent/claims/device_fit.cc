// SPDX-License-Identifier: GPL-2.0-or-later
// Checks one device for one request.
#include "agent/claims/check.h"

#include <algorithm>
#include <format>

namespace bridge {

namespace {

bool tolerates(const DeviceToleration &toleration, const DeviceTaint &taint)
{
    return (toleration.effect.empty() || toleration.effect == taint.effect) &&
           (toleration.key.empty() || toleration.key == taint.key) &&
           (toleration.exists || toleration.value == taint.value);
}

// Returns a taint that keeps the request off the device, or null. Unknown
// effects are ignored.
const DeviceTaint *untolerated(const Device &device,
                               const DeviceRequest &request)
{
    for (const DeviceTaint &taint : device.taints) {
        bool keeps =
            taint.effect == "NoSchedule" || taint.effect == "NoExecute";
        bool tolerated =
            std::ranges::any_of(request.tolerations, [&](const auto &one_of) {
                return tolerates(one_of, taint);
            });
        if (keeps && !tolerated)
            return &taint;
    }
    return nullptr;
}

Result<bool> all_match(const std::vector<CelSelector> &selectors,
                       const Device &device, CelBudget &budget)
{
    for (const CelSelector &selector : selectors) {
        auto matches = selector.matches(device, budget);
        if (!matches || !*matches)
            return matches;
    }
    return true;
}

} // namespace

Result<std::string> unfit_device_reason(const Device &device,
                                        const DeviceRequest &request,
                                        const DeviceClass &device_class,
                                        const Node &node, CelBudget &budget)
{
    if (!is_on(device, node))
        return "it cannot be used on this node";
    return unfit_device_reason(device, request, device_class, budget);
}

Result<std::string> unfit_device_reason(const Device &device,
                                        const DeviceRequest &request,
                                        const DeviceClass &device_class,
                                        CelBudget &budget)
{
    if (std::string reason = unsupported_device_reason(device); !reason.empty())
        return reason;
    auto of_class = all_match(device_class.selectors, device, budget);
    if (!of_class)
        return fail(of_class.error(), "DeviceClass " + device_class.name);
    if (!*of_class)
        return "it is not of class " + device_class.name;
    auto wanted = all_match(request.selectors, device, budget);
    if (!wanted)
        return fail(wanted.error(), "request " + request.name);
    if (!*wanted)
        return "it does not match the request's selectors";
    if (const DeviceTaint *taint = untolerated(device, request))
        return std::format("its taint {} is not tolerated", taint->key);
    if (!consumed_capacity(device, request))
        return "it does not have the requested capacity";
    return std::string();
}

} // namespace bridge
