// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/question_queue.h"

#include "common/base/backoff.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace bridge {

namespace {

using Rank = DeviceQuestion::Rank;

std::size_t bytes_of(const DeviceQuestion &question)
{
    std::size_t bytes = 0;
    for (const auto *selectors :
         {&question.request.selectors, &question.class_selectors})
        for (const CelSelector &selector : *selectors)
            bytes += selector.text().size();
    for (const DeviceToleration &toleration : question.request.tolerations)
        bytes += toleration.json.size();
    return bytes;
}

// Whether the answer to a question with the same id is one to the other, too.
bool answers(const DeviceQuestion &question, const DeviceQuestion &other)
{
    return question.id == other.id &&
           std::ranges::includes(question.devices, other.devices);
}

} // namespace

bool QuestionQueue::has_room(const OfNamespace &own, const DeviceQuestion &more)
{
    std::size_t count = 0;
    std::size_t bytes = bytes_of(more);
    for (const auto &[id, waiting] : own)
        if (waiting.question.rank == more.rank) {
            count++;
            bytes += bytes_of(waiting.question);
        }
    return count < most && (bytes <= most_bytes || count == 0);
}

void QuestionQueue::join(DeviceQuestion &waits, DeviceQuestion more)
{
    waits.rank = std::min(waits.rank, more.rank);
    waits.known |= more.known;
    waits.devices.merge(more.devices);
}

QuestionQueue::Added QuestionQueue::add(DeviceQuestion question)
{
    if (under_way_ && answers(*under_way_, question)) {
        auto [same, is_new] = joined_.try_emplace(question.ns, question);
        if (!is_new)
            join(same->second, std::move(question));
        return Added::under_way;
    }
    auto known = waiting_.find(question.ns);
    if (known != waiting_.end())
        if (auto same = known->second.find(question.id);
            same != known->second.end()) {
            join(same->second.question, std::move(question));
            return Added::waits;
        }
    if (known != waiting_.end() && !has_room(known->second, question))
        return Added::no_room;
    std::string id = question.id;
    OfNamespace &own = waiting_[question.ns];
    own.emplace(std::move(id), Waiting{std::move(question), ++places_});
    return Added::waits;
}

bool QuestionQueue::has_share(const DeviceQuestion &question,
                              Clock::time_point now) const
{
    constexpr std::size_t all = cel_limits::of_namespace;
    return question.rank == Rank::urgent ||
           shares_.any_left(question.ns, now,
                            question.rank == Rank::missing ? all : all / 2);
}

QuestionQueue::Waiting *QuestionQueue::best_of(OfNamespace &own, bool urgent,
                                               Clock::time_point now)
{
    Waiting *best = nullptr;
    auto order = [](const Waiting &one) {
        return std::tuple(one.question.rank, one.place);
    };
    for (auto &[id, waiting] : own) {
        bool may = (waiting.question.rank == Rank::urgent) == urgent &&
                   waiting.not_before <= now &&
                   has_share(waiting.question, now);
        if (may && (!best || order(waiting) < order(*best)))
            best = &waiting;
    }
    return best;
}

std::optional<DeviceQuestion> QuestionQueue::take(bool urgent,
                                                  Clock::time_point now)
{
    auto from = waiting_.upper_bound(last_ns_[urgent]);
    for (std::size_t i = 0; i < waiting_.size(); i++, from++) {
        if (from == waiting_.end())
            from = waiting_.begin();
        Waiting *best = best_of(from->second, urgent, now);
        if (!best)
            continue;
        last_ns_[urgent] = from->first;
        failures_ = best->failures;
        DeviceQuestion question = std::move(best->question);
        from->second.erase(question.id);
        if (from->second.empty())
            waiting_.erase(from);
        return question;
    }
    return std::nullopt;
}

std::optional<DeviceQuestion> QuestionQueue::next(Clock::time_point now)
{
    if (under_way_)
        return std::nullopt;
    under_way_ = take(urgent_next_, now);
    if (!under_way_)
        under_way_ = take(!urgent_next_, now);
    if (under_way_)
        urgent_next_ = under_way_->rank != Rank::urgent;
    return under_way_;
}

Clock::time_point QuestionQueue::due(Clock::time_point now) const
{
    Clock::time_point due = Clock::time_point::max();
    if (under_way_)
        return due;
    for (const auto &[ns, own] : waiting_)
        for (const auto &[id, waiting] : own)
            due = std::min(
                due, has_share(waiting.question, now)
                         ? waiting.not_before
                         : std::max(waiting.not_before, shares_.next(ns)));
    return due;
}

std::set<std::string> QuestionQueue::answered(std::size_t cost,
                                              Clock::time_point now)
{
    std::set<std::string> namespaces;
    if (!under_way_)
        return namespaces;
    shares_.spend(under_way_->ns, cost, now);
    namespaces.insert(under_way_->ns);
    for (const auto &[ns, question] : joined_)
        namespaces.insert(ns);
    for (auto &[ns, own] : waiting_)
        if (auto same = own.find(under_way_->id);
            same != own.end() && answers(*under_way_, same->second.question)) {
            own.erase(same);
            namespaces.insert(ns);
        }
    std::erase_if(waiting_,
                  [](const auto &of_ns) { return of_ns.second.empty(); });
    under_way_.reset();
    joined_.clear();
    return namespaces;
}

void QuestionQueue::failed(Clock::time_point now)
{
    if (!under_way_)
        return;
    auto pause = doubled<Clock::duration>(first_pause, last_pause, failures_);
    wait_again(*std::exchange(under_way_, std::nullopt), now + pause);
    for (auto &[ns, question] : std::exchange(joined_, {}))
        wait_again(std::move(question), now + pause);
}

// As many of a namespace may wait so as there have been under way: one.
void QuestionQueue::wait_again(DeviceQuestion question,
                               Clock::time_point not_before)
{
    OfNamespace &own = waiting_[question.ns];
    auto [same, is_new] =
        own.try_emplace(question.id, Waiting{question, ++places_});
    if (!is_new)
        join(same->second.question, std::move(question));
    same->second.not_before = not_before;
    same->second.failures = failures_ + 1;
}

bool QuestionQueue::waits(const std::string &id) const
{
    return std::ranges::any_of(
        waiting_, [&](const auto &of_ns) { return of_ns.second.contains(id); });
}

bool QuestionQueue::waits_for_share(const std::string &ns,
                                    Clock::time_point now) const
{
    return any_of(ns) && !shares_.any_left(ns, now);
}

} // namespace bridge
