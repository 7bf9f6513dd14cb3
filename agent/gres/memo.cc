// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/memo.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bridge {

namespace {

// Of an answer about no Node, as Nodes of another.
constexpr std::size_t least_weight = 16;
// Of a device that is looked at, as steps of its selectors.
constexpr std::size_t cost_of_device = 25;
constexpr std::size_t least_cost = 1000;

// Users write the parts, which may contain anything.
void add_part(std::string &key, char kind, const std::string &part)
{
    key += kind + std::to_string(part.size()) + ':' + part;
}

std::string with_name(std::string text, const std::string &name)
{
    constexpr std::string_view any = GresMemo::any_name;
    for (auto at = text.find(any); at != text.npos;
         at = text.find(any, at + name.size()))
        text.replace(at, any.size(), name);
    return text;
}

} // namespace

std::string fit_key(const DeviceRequest &request)
{
    std::string key;
    add_part(key, 'd', request.class_name);
    for (const CelSelector &selector : request.selectors)
        add_part(key, 's', selector.text());
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
    known_.clear();
    weights_.clear();
    weight_ = 0;
}

std::optional<Result<GresWish>> GresMemo::wish_for(const DeviceRequest &request,
                                                   const Asker &asker)
{
    const Answer *answer = find(Kind::wish, request, asker);
    if (!answer)
        return std::nullopt;
    if (answer->wish)
        return answer->wish;
    const Error &error = answer->wish.error();
    return fail(error.code, with_name(error.message, request.name));
}

std::shared_ptr<const FitCounts>
GresMemo::counts_for(const DeviceRequest &request, const Asker &asker)
{
    const Answer *answer = find(Kind::counts, request, asker);
    return answer ? answer->counts : nullptr;
}

const GresMemo::Answer *GresMemo::find(Kind kind, const DeviceRequest &request,
                                       const Asker &asker)
{
    std::string id = (kind == Kind::wish ? 'w' : 'c') + fit_key(request);
    auto known = known_.find(id);
    if (known == known_.end()) {
        ask(kind, id, request, asker);
        return nullptr;
    }
    known->second.used = ++uses_;
    return &known->second.answer;
}

// Each namespace has its own questions, also those that others have, too: it
// must not wait for their share.
void GresMemo::ask(Kind kind, const std::string &id,
                   const DeviceRequest &request, const Asker &asker)
{
    bool asked = under_way_ && under_way_->id == id;
    auto &own = questions_[asker.ns];
    asked = asked || std::ranges::contains(own, id, &Question::id);
    if (!asked && own.size() >= most_questions)
        return; // it asks again when it has answers
    if (!asked) {
        Question &made = own.emplace_back(kind, id, asker.ns, request);
        made.request.name = any_name;
    }
    if (askers_[id].insert(asker.gang).second)
        open_[asker.gang]++;
}

bool GresMemo::waits_for_share(const std::string &ns,
                               Clock::time_point now) const
{
    auto own = questions_.find(ns);
    return own != questions_.end() && !own->second.empty() &&
           !shares_.any_left(ns, now);
}

std::optional<GresMemo::Question> GresMemo::next(Clock::time_point now)
{
    if (under_way_)
        return std::nullopt;
    std::erase_if(questions_,
                  [](const auto &of_ns) { return of_ns.second.empty(); });
    auto from = questions_.upper_bound(last_ns_);
    for (std::size_t i = 0; i < questions_.size(); i++, from++) {
        if (from == questions_.end())
            from = questions_.begin();
        if (!shares_.any_left(from->first, now))
            continue;
        last_ns_ = from->first;
        under_way_ = std::move(from->second.front());
        from->second.pop_front();
        asked_of_ = catalog_;
        return under_way_;
    }
    return std::nullopt;
}

std::set<std::string> GresMemo::take(std::optional<Answer> answer,
                                     Clock::time_point now)
{
    if (!under_way_)
        return {};
    Question question = *std::exchange(under_way_, std::nullopt);
    if (answer)
        shares_.spend(question.ns, answer->cost, now);
    if (answer && asked_of_ == catalog_) {
        for (auto &[ns, own] : questions_)
            std::erase_if(own, [&](const Question &other) {
                return other.id == question.id;
            });
        keep(question, std::move(*answer));
    }
    asked_of_.reset();
    return answered(question.id);
}

// Returns the gangs that have nothing else to wait for.
std::set<std::string> GresMemo::answered(const std::string &id)
{
    std::set<std::string> gangs;
    auto askers = askers_.find(id);
    if (askers == askers_.end())
        return gangs;
    for (const std::string &gang : askers->second)
        if (auto open = open_.find(gang);
            open != open_.end() && --open->second == 0) {
            gangs.insert(gang);
            open_.erase(open);
        }
    askers_.erase(askers);
    return gangs;
}

void GresMemo::keep(const Question &question, Answer answer)
{
    std::size_t weight =
        least_weight + (answer.counts ? answer.counts->nodes.size() +
                                            answer.counts->unclear.size()
                                      : 0);
    weight_ += weight;
    weights_[question.ns] += weight;
    known_[question.id] = {std::move(answer), question.ns, weight, ++uses_};
    make_room();
}

// Forgets what has not been used for longest, of the namespace that has most.
void GresMemo::make_room()
{
    while (weight_ > most_kept) {
        auto most = std::ranges::max_element(
            weights_, {}, [](const auto &of_ns) { return of_ns.second; });
        auto oldest = known_.end();
        for (auto one = known_.begin(); one != known_.end(); one++)
            if (one->second.ns == most->first &&
                (oldest == known_.end() ||
                 one->second.used < oldest->second.used))
                oldest = one;
        weight_ -= oldest->second.weight;
        most->second -= oldest->second.weight;
        known_.erase(oldest);
    }
}

GresMemo::Answer
GresEvaluator::answer(const std::shared_ptr<const DeviceCatalog> &catalog,
                      const GresMemo::Question &question)
{
    if (catalog_ != catalog) {
        catalog_ = catalog;
        kinds_ = kinds_of(*catalog);
        devices_ = 0;
        for (const DevicePool &pool : catalog->pools)
            devices_ += pool.devices.size();
    }
    GresMemo::Answer made;
    CelBudget budget(CelSelector::max_sum);
    if (question.kind == GresMemo::Kind::wish)
        made.wish = gres_for(*catalog, kinds_, question.request, budget);
    else
        made.counts = std::make_shared<const FitCounts>(
            fit_counts(*catalog, question.request, budget));
    made.cost = least_cost + devices_ * cost_of_device + CelSelector::max_sum -
                budget.left();
    return made;
}

} // namespace bridge
