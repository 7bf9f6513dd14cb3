// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/update.h"

#include "common/base/text.h"
#include "common/contract/worker_names.h"
#include "common/kube/text.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string_view>

namespace bridge::slinky {

namespace {

constexpr std::uint32_t usual_percent = 25;

std::size_t percent_of(std::size_t whole, std::uint32_t percent)
{
    return (whole * percent + 99) / 100;
}

} // namespace

bool is_available(const NodeSet &set, const Worker &worker, Now now)
{
    auto least = set.spec.integer("minReadySeconds").value_or(0);
    if (!worker.ready || least <= 0)
        return worker.ready;
    auto since = parse_time(worker.ready_since);
    return since && now - *since >= std::chrono::seconds(least);
}

bool is_outdated(const Worker &worker, const std::string &revision)
{
    auto found = worker.meta.labels.find(names::revision_label);
    return found == worker.meta.labels.end() || found->second != revision;
}

bool is_rolling(const NodeSet &set)
{
    std::string type = set.spec.text("updateStrategy/type");
    return type.empty() || type == "RollingUpdate";
}

std::size_t most_unavailable(const NodeSet &set, std::size_t wanted)
{
    Json given = set.spec.at("updateStrategy/rollingUpdate/maxUnavailable");
    std::size_t most = percent_of(wanted, usual_percent);
    if (auto number = given.integer()) {
        most = static_cast<std::size_t>(std::max<std::int64_t>(*number, 1));
    } else {
        std::string text = given.text();
        auto percent =
            text.ends_with('%')
                ? whole_number<std::uint32_t>(
                      std::string_view(text).substr(0, text.size() - 1))
                : std::nullopt;
        if (percent)
            most = percent_of(wanted, std::min(*percent, 100u));
    }
    return std::max<std::size_t>(most, 1);
}

std::vector<const Worker *>
to_update(const NodeSet &set, const std::vector<const Worker *> &cheapest,
          std::size_t wanted, const std::string &revision, Now now)
{
    auto available = [&](const Worker *worker) {
        return is_available(set, *worker, now);
    };
    std::size_t most = most_unavailable(set, wanted);
    auto there =
        static_cast<std::size_t>(std::ranges::count_if(cheapest, available));
    std::size_t away = wanted - std::min(there, wanted);
    std::size_t budget = most - std::min(away, most);
    std::vector<const Worker *> found;
    for (const Worker *worker : cheapest) {
        if (!is_outdated(*worker, revision) || found.size() >= most)
            continue;
        bool counts = available(worker);
        if (counts && budget == 0)
            continue;
        budget -= counts;
        found.push_back(worker);
    }
    return found;
}

} // namespace bridge::slinky
