// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/cel/cel.h"

#include "agent/cel/lexer.h"
#include "agent/cel/node.h"
#include "agent/objects/digest.h"

#include <algorithm>
#include <format>

namespace bridge {

Result<CelSelector> CelSelector::parse(std::string_view text)
{
    if (text.size() > max_text)
        return fail_cel("more text than is allowed", max_text);
    auto root = parse_cel(text);
    if (!root)
        return std::unexpected(root.error());
    CelSelector made;
    made.text_ = text;
    made.digest_ = digest_of(text);
    made.root_ = std::move(*root);
    return made;
}

Result<bool> CelSelector::matches(const Device &device) const
{
    CelBudget alone(max_cost);
    return matches(device, alone);
}

Result<bool> CelSelector::matches_alone(const Device &device,
                                        CelBudget &sum) const
{
    const std::size_t limit = std::min(max_cost, sum.left());
    CelBudget alone(limit, sum.verdicts());
    auto result = matches(device, alone);
    sum.spend(limit - alone.left());
    return result;
}

Result<bool> CelSelector::matches(const Device &device, CelBudget &sum) const
{
    auto cannot = [&](std::string_view reason) {
        return fail(Code::rejected, std::format("selector \"{}\": {}",
                                                text_.substr(0, 200), reason));
    };
    if (const CelVerdicts *verdicts = sum.verdicts())
        return sum.spend(cost_of_lookup) ? verdicts->find(*this, device)
                                         : cannot(too_much_in_sum);
    if (!root_)
        return cannot("it is no longer kept");
    // Like kube-scheduler, evaluates no selector for a device that is only
    // partly understood.
    for (const auto &[name, value] : device.attributes)
        if (std::holds_alternative<std::monostate>(value))
            return cannot("attribute " + name + " is of an unknown kind");
    const std::size_t limit = std::min(max_cost, sum.left());
    CelBudget budget(limit);
    auto value = evaluate_cel(*root_, device, budget);
    sum.spend(budget.spent() ? sum.left() : limit - budget.left());
    if (budget.spent() && limit < max_cost)
        return cannot(too_much_in_sum);
    if (!value)
        return cannot(value.error().message);
    auto *flag = std::get_if<bool>(&value->is);
    if (!flag)
        return cannot(
            std::format("the result is not bool but {}", type_name(*value)));
    return *flag;
}

} // namespace bridge
