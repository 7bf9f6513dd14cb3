// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/predicate_memo.h"

#include <utility>

namespace bridge {

namespace {

std::size_t length_of(const NodeSelector &selector)
{
    std::size_t length = 0;
    for (const NodeTerm &term : selector)
        for (const NodeRequirement &one : term) {
            length += one.key.size();
            for (const std::string &value : one.values)
                length += value.size();
        }
    return length;
}

} // namespace

Result<PredicatePtr> PredicateMemo::make(const PredicatePtr &of,
                                         const std::vector<NodeSelector> &more,
                                         const DeviceCondition &devices)
{
    Key key{of, devices.text, more};
    if (auto known = known_.find(key); known != known_.end())
        return known->second;
    if (auto known = before_.extract(key))
        return remember(std::move(key), std::move(known.mapped()));
    const Predicate &own = value_of(of);
    std::vector<NodeSelector> all_of = own.selectors();
    all_of.insert(all_of.end(), more.begin(), more.end());
    made_++;
    return remember(
        std::move(key),
        Predicate::make(std::move(all_of), own.tolerations(), devices));
}

PredicatePtr PredicateMemo::find(const PredicatePtr &of,
                                 const std::vector<NodeSelector> &more,
                                 const DeviceCondition &devices) const
{
    Key key{of, devices.text, more};
    for (const Known *all : {&known_, &before_})
        if (auto known = all->find(key); known != all->end())
            return known->second.value_or(nullptr);
    return nullptr;
}

const Result<PredicatePtr> &PredicateMemo::remember(Key key,
                                                    Result<PredicatePtr> made)
{
    std::size_t text = value_of(key.of).text().size() + key.devices.size();
    for (const NodeSelector &one : key.more)
        text += length_of(one);
    text += value_of(made.value_or(nullptr)).text().size();
    if (text_ + text > most_text) {
        before_ = std::exchange(known_, {});
        text_ = 0;
    }
    text_ += text;
    return known_.emplace(std::move(key), std::move(made)).first->second;
}

} // namespace bridge
