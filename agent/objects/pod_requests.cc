// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_requests.h"

#include <algorithm>

namespace bridge {

namespace {

constexpr std::int64_t most = std::int64_t{1}
                              << 62; // as in common/base/units.h

// Amount of each resource by its name; cpu in thousandths.
using Amounts = std::map<std::string, std::int64_t>;
using Reasons = std::vector<std::string>;

Amounts sum_of(Amounts total, const Amounts &more)
{
    for (const auto &[name, amount] : more) {
        std::int64_t &sum = total[name];
        sum = amount > most - sum ? most : sum + amount;
    }
    return total;
}

Amounts larger_of(Amounts one, const Amounts &other)
{
    for (const auto &[name, amount] : other)
        one[name] = std::max(one[name], amount);
    return one;
}

Amounts read_amounts(const Json &list, const std::string &of_what,
                     Reasons &unfit_reasons)
{
    Amounts amounts;
    for (const auto &[name, amount] : list.members()) {
        auto value = parse_quantity(amount.text(), name == "cpu" ? -3 : 0);
        if (value)
            amounts[name] = *value;
        else
            unfit_reasons.push_back(of_what + " " + name + ": " +
                                    value.error().message);
    }
    return amounts;
}

Requests as_requests(Amounts amounts)
{
    Requests requests;
    requests.cpu = MilliCpu{amounts["cpu"]};
    requests.memory = Bytes{amounts["memory"]};
    amounts.erase("cpu");
    amounts.erase("memory");
    requests.others = std::move(amounts);
    return requests;
}

bool may_be_pod_level(const std::string &name)
{
    return name == "cpu" || name == "memory" || name.starts_with("hugepages-");
}

class Counter {
  public:
    explicit Counter(const Json &pod) : pod_(pod)
    {
        for (const Json &condition : pod.items("status/conditions"))
            if (condition.text("type") == "PodResizePending" &&
                condition.text("reason") == "Infeasible")
                resize_infeasible_ = true;
    }

    Amounts count()
    {
        Amounts sum;
        for (const Json &container : pod_.items("spec/containers"))
            sum = sum_of(sum, resizable(container, "containerStatuses"));
        Amounts total = with_init_containers(std::move(sum));
        override_by_pod_level(total);
        return sum_of(total, read("Pod overhead", pod_.at("spec/overhead")));
    }

    Reasons unfit_reasons;

  private:
    Amounts read(const std::string &of_what, const Json &list)
    {
        return read_amounts(list, of_what, unfit_reasons);
    }

    Amounts asked(const Json &container)
    {
        return read("container " + container.text("name") + " requests",
                    container.at("resources/requests"));
    }

    // During a resize, returns the larger of what is requested and what is
    // still held (helpers.go determineContainerReqs).
    Amounts resizable(const Json &container, const char *statuses)
    {
        Amounts asks = asked(container);
        std::string name = container.text("name");
        for (const Json &status :
             pod_.items("status/" + std::string(statuses))) {
            if (status.text("name") != name ||
                !status.at("resources").present())
                continue;
            Amounts held = larger_of(read("container " + name + " has",
                                          status.at("resources/requests")),
                                     read("container " + name + " is allocated",
                                          status.at("allocatedResources")));
            return resize_infeasible_ ? held : larger_of(asks, held);
        }
        return asks;
    }

    Amounts with_init_containers(Amounts sum)
    {
        Amounts sidecars;
        Amounts peak;
        for (const Json &container : pod_.items("spec/initContainers")) {
            if (container.text("restartPolicy") == "Always") {
                Amounts asks = resizable(container, "initContainerStatuses");
                sum = sum_of(sum, asks);
                sidecars = sum_of(sidecars, asks);
                peak = larger_of(peak, sidecars);
            } else {
                peak = larger_of(peak, sum_of(sidecars, asked(container)));
            }
        }
        return larger_of(sum, peak);
    }

    void override_by_pod_level(Amounts &total)
    {
        for (const auto &[name, amount] :
             read("Pod requests", pod_.at("spec/resources/requests")))
            if (may_be_pod_level(name))
                total[name] = amount;
    }

    const Json &pod_;
    bool resize_infeasible_ = false;
};

} // namespace

PodRequests pod_requests(const Json &pod)
{
    Counter counter(pod);
    Requests requests = as_requests(counter.count());
    return {std::move(requests), std::move(counter.unfit_reasons)};
}

PodRequests read_resources(const Json &list, const std::string &of_what)
{
    Reasons unfit_reasons;
    Requests requests = as_requests(read_amounts(list, of_what, unfit_reasons));
    return {std::move(requests), std::move(unfit_reasons)};
}

} // namespace bridge
