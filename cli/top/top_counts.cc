// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_counts.h"

#include "cli/top/count.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace bridge {

namespace {

constexpr std::chrono::minutes longest{5};

// How many jobs waited at most as long as each bound: later less earlier.
using Buckets = std::map<double, double>;

std::optional<double> bound_of(const Sample &bucket)
{
    std::string_view text = bucket.label("le");
    if (text == "+Inf")
        return std::numeric_limits<double>::infinity();
    double bound = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), bound);
    if (error != std::errc() || end != text.data() + text.size() ||
        !(bound >= 0))
        return std::nullopt;
    return bound;
}

bool goes_on(const TopCounts &before, const TopCounts &after)
{
    return after.taken > before.taken && after.started >= before.started &&
           after.ended >= before.ended;
}

Buckets between(const Buckets &before, const Buckets &after)
{
    Buckets grown = after;
    for (const auto &[bound, count] : before)
        if (auto found = grown.find(bound); found != grown.end())
            found->second -= count;
    return grown;
}

// As Prometheus' histogram_quantile(0.5): even within a bucket.
std::optional<TopWait> median_of(const Buckets &buckets)
{
    if (buckets.empty() || !(buckets.rbegin()->second > 0))
        return std::nullopt;
    const double half = buckets.rbegin()->second / 2;
    double lower = 0, below = 0;
    for (const auto &[bound, count] : buckets) {
        if (count >= half && std::isinf(bound))
            return TopWait{lower, true, {}};
        if (count >= half) // count > below, which is less than half
            return TopWait{lower + (bound - lower) * (half - below) /
                                       (count - below),
                           false,
                           {}};
        lower = bound;
        below = count;
    }
    return std::nullopt;
}

} // namespace

std::optional<TopCounts> top_counts(const Samples &metrics)
{
    auto taken = metrics.value("slurm_census_timestamp_seconds");
    if (!taken)
        return std::nullopt;
    TopCounts counts;
    counts.taken = time_of(*taken);
    counts.started = count_of(metrics.sum("slurm_job_wait_seconds_count"));
    counts.ended = count_of(metrics.sum("slurm_jobs_ended_total"));
    for (const Sample &bucket : metrics.named("slurm_job_wait_seconds_bucket"))
        if (auto bound = bound_of(bucket))
            counts.waited[*bound] += count_of(bucket.value);
    return counts;
}

void TopHistory::add(const TopCounts &counts)
{
    if (!counts_.empty() && counts_.back().taken == counts.taken)
        return;
    if (!counts_.empty() && !goes_on(counts_.back(), counts))
        counts_.clear();
    counts_.push_back(counts);
    while (counts_.front().taken < counts.taken - longest)
        counts_.pop_front();
}

std::optional<TopFlow> TopHistory::flow() const
{
    if (counts_.size() < 2)
        return std::nullopt;
    const TopCounts &first = counts_.front(), &last = counts_.back();
    std::chrono::seconds span = last.taken - first.taken;
    double minutes = static_cast<double>(span.count()) / 60;
    return TopFlow{(last.started - first.started) / minutes,
                   (last.ended - first.ended) / minutes, span};
}

std::optional<TopWait> TopHistory::wait() const
{
    if (counts_.empty())
        return std::nullopt;
    const TopCounts &first = counts_.front(), &last = counts_.back();
    if (auto wait = median_of(between(first.waited, last.waited))) {
        wait->span = last.taken - first.taken;
        return wait;
    }
    return median_of(last.waited);
}

} // namespace bridge
