// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/memo.h"

#include "agent/objects/digest.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

using Kind = DeviceQuestion::Kind;
using Rank = DeviceQuestion::Rank;

void add_part(std::string &key, char kind, const std::string &part)
{
    key += kind;
    add_key_part(key, part);
}

void add_selectors(std::string &key, const std::vector<CelSelector> &selectors)
{
    for (const CelSelector &selector : selectors)
        add_part(key, 's', selector.digest());
}

std::string id_of(Kind kind, const DeviceRequest &request)
{
    return (kind == Kind::wish ? 'w' : 'c') + digest_of(fit_key(request));
}

// Only the selectors matter, but the class's may change.
std::string id_of(const DeviceRequest &request, const DeviceClass &device_class)
{
    std::string key;
    add_selectors(key, device_class.selectors);
    add_part(key, 'd', "");
    add_selectors(key, request.selectors);
    return 'r' + digest_of(key);
}

bool is_same(const DeviceAnswer &a, const DeviceAnswer &b)
{
    bool same_wish = a.wish && b.wish
                         ? *a.wish == *b.wish
                         : !a.wish && !b.wish &&
                               a.wish.error().code == b.wish.error().code &&
                               a.wish.error().message == b.wish.error().message;
    if (!same_wish || !a.counts != !b.counts)
        return false;
    return !a.counts || *a.counts == *b.counts;
}

} // namespace

std::string fit_key(const DeviceRequest &request)
{
    std::string key;
    add_part(key, 'd', request.class_name);
    add_selectors(key, request.selectors);
    for (const DeviceToleration &toleration : request.tolerations)
        add_part(key, 't', toleration.json);
    for (const auto &[name, amount] : request.capacity)
        add_part(key, 'c', name + '=' + amount.text());
    return key;
}

void GresMemo::turn_to(const std::shared_ptr<const DeviceCatalog> &catalog)
{
    if (catalog_ == catalog)
        return;
    catalog_ = catalog;
    catalogs_++;
}

std::optional<GresMemo::KnownWish>
GresMemo::wish_for(const DeviceRequest &request, const Asker &asker)
{
    const KeptAnswers::Kept *kept = find(Kind::wish, request, asker);
    if (!kept)
        return std::nullopt;
    bool outdated = kept->devices != catalogs_;
    const Result<GresWish> &wish = kept->answer.wish;
    if (wish)
        return KnownWish{wish, outdated};
    return KnownWish{
        fail(wish.error().code, with_name(wish.error().message, request.name)),
        outdated};
}

std::optional<GresMemo::KnownCounts>
GresMemo::counts_for(const DeviceRequest &request, const Asker &asker)
{
    const KeptAnswers::Kept *kept = find(Kind::counts, request, asker);
    if (!kept)
        return std::nullopt;
    return KnownCounts{kept->answer.counts, kept->devices != catalogs_};
}

const KeptAnswers::Kept *GresMemo::find(Kind kind, const DeviceRequest &request,
                                        const Asker &asker)
{
    DeviceQuestion question;
    question.kind = kind;
    question.id = id_of(kind, request);
    const KeptAnswers::Kept *kept = known_.find(question.id);
    if (kept && kept->devices == catalogs_)
        return kept;
    question.known = kept != nullptr;
    question.rank = !kept ? Rank::missing : Rank::outdated;
    if (kept && asker.urgent && !kept->answer.wish)
        question.rank = Rank::urgent;
    question.request = request;
    ask(std::move(question), asker);
    return kept;
}

std::shared_ptr<const SelectorResults>
GresMemo::results_for(const DeviceRequest &request,
                      const DeviceClass &device_class)
{
    const KeptAnswers::Kept *kept = known_.find(id_of(request, device_class));
    return kept ? kept->answer.results : nullptr;
}

void GresMemo::ask_results(const DeviceRequest &request,
                           const DeviceClass &device_class,
                           std::set<DevicePtr> devices, const Asker &asker)
{
    ask({.kind = Kind::results,
         .id = id_of(request, device_class),
         .ns = {},
         .request = request,
         .class_selectors = device_class.selectors,
         .devices = std::move(devices)},
        asker);
}

// Each namespace has its own questions, also those that others have, too: it
// must not wait for their share.
void GresMemo::ask(DeviceQuestion question, const Asker &asker)
{
    question.ns = asker.ns;
    question.request.name = any_request;
    if (asker.urgent && question.rank == Rank::missing)
        question.rank = Rank::urgent;
    const std::string id = question.id;
    bool missing = question.rank != Rank::outdated;
    switch (queue_.add(std::move(question))) {
    case QuestionQueue::Added::waits:
        note(askers_[id], asker.gang, missing);
        break;
    case QuestionQueue::Added::under_way:
        note(askers_under_way_, asker.gang, missing);
        break;
    case QuestionQueue::Added::no_room:
        if (auto [one, is_new] = all_roomless_.try_emplace(asker.gang, missing);
            is_new)
            roomless_[asker.ns].emplace(++places_, asker.gang);
        else
            one->second |= missing;
    }
}

void GresMemo::note(Askers &askers, const std::string &gang, bool missing)
{
    auto [asker, is_new] = askers.try_emplace(gang, missing);
    Open &open = open_[gang];
    if (is_new) {
        (missing ? open.missing : open.outdated)++;
    } else if (missing && !asker->second) { // what there was is kept no more
        asker->second = true;
        open.outdated--;
        open.missing++;
    }
}

bool GresMemo::awaits(const std::string &gang) const
{
    return open_.contains(gang) || all_roomless_.contains(gang);
}

bool GresMemo::misses(const std::string &gang) const
{
    auto open = open_.find(gang);
    auto roomless = all_roomless_.find(gang);
    return (open != open_.end() && open->second.missing != 0) ||
           (roomless != all_roomless_.end() && roomless->second);
}

std::optional<DeviceQuestion> GresMemo::next(Clock::time_point now)
{
    auto question = queue_.next(now);
    if (!question)
        return std::nullopt;
    asked_of_ = catalogs_;
    askers_under_way_.merge(askers_[question->id]);
    askers_.erase(question->id);
    if (question->kind == Kind::results)
        if (const KeptAnswers::Kept *kept = known_.find(question->id))
            question->before = kept->answer.results;
    return question;
}

std::set<std::string> GresMemo::take(std::optional<DeviceAnswer> answer,
                                     Clock::time_point now)
{
    if (!queue_.under_way())
        return {};
    const DeviceQuestion question = *queue_.under_way();
    Askers askers = std::exchange(askers_under_way_, {});
    if (!answer) {
        queue_.failed(now);
        ask_again(question.id, std::move(askers));
        return {};
    }
    const std::set<std::string> namespaces = queue_.answered(answer->cost, now);
    keep(question, std::move(*answer));
    std::set<std::string> gangs;
    answered(askers, gangs);
    if (!queue_.waits(question.id))
        if (auto others = askers_.extract(question.id))
            answered(others.mapped(), gangs);
    for (const std::string &ns : namespaces)
        wake_roomless(ns, gangs);
    return gangs;
}

void GresMemo::keep(const DeviceQuestion &question, DeviceAnswer answer)
{
    if (question.kind != Kind::results) {
        const KeptAnswers::Kept *before = known_.find(question.id);
        if (before ? !is_same(before->answer, answer) : question.known)
            version_++;
    }
    known_.keep(question.id, question.ns, {std::move(answer), asked_of_});
}

void GresMemo::ask_again(const std::string &id, Askers askers)
{
    Askers &waiting = askers_[id];
    waiting.merge(askers);
    for (const auto &[gang, missing] : askers) { // who has asked twice
        Open &open = open_[gang];
        (missing ? open.missing : open.outdated)--;
    }
}

// Adds the gangs that have nothing else to wait for, or for which this was the
// last that was missing.
void GresMemo::answered(const Askers &askers, std::set<std::string> &gangs)
{
    for (const auto &[gang, missing] : askers) {
        auto open = open_.find(gang);
        if (open == open_.end())
            continue;
        std::size_t &left =
            missing ? open->second.missing : open->second.outdated;
        left--;
        bool none = open->second.missing + open->second.outdated == 0;
        if (none || (missing && left == 0))
            gangs.insert(gang);
        if (none)
            open_.erase(open);
    }
}

// What these would ask may have been answered for others meanwhile.
void GresMemo::wake_roomless(const std::string &ns,
                             std::set<std::string> &gangs)
{
    auto own = roomless_.find(ns);
    if (own == roomless_.end())
        return;
    bool all = !queue_.any_of(ns);
    for (int i = 0; !own->second.empty() && (all || i < most_woken); i++) {
        auto gang = own->second.extract(own->second.begin());
        all_roomless_.erase(gang.mapped());
        gangs.insert(std::move(gang.mapped()));
    }
    if (own->second.empty())
        roomless_.erase(own);
}

} // namespace bridge
