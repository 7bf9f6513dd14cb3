// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang/group_table.h"

#include "common/contract/names.h"

namespace bridge {

void GroupTable::forget(GroupApi api)
{
    std::erase_if(specs_,
                  [&](const auto &known) { return known.second.api == api; });
    unknown_.erase(api);
}

void GroupTable::replace(GroupApi api, std::vector<GroupSpec> specs)
{
    forget(api);
    on_.insert(api);
    for (GroupSpec &spec : specs)
        put(std::move(spec));
}

void GroupTable::turn_off(GroupApi api)
{
    forget(api);
    on_.erase(api);
}

bool GroupTable::put(GroupSpec spec)
{
    Key key{spec.key.ns, {spec.api, spec.key.name}};
    auto [known, added] = specs_.try_emplace(key);
    bool news = added || !known->second.same_terms(spec);
    known->second = std::move(spec);
    return news;
}

// Ignores an object whose name belongs to a later one by now.
bool GroupTable::erase(const GroupSpec &spec)
{
    auto known = specs_.find({spec.key.ns, {spec.api, spec.key.name}});
    if (known == specs_.end() || known->second.uid != spec.uid)
        return false;
    specs_.erase(known);
    return true;
}

const GroupSpec *GroupTable::find(const std::string &ns,
                                  const GroupRef &ref) const
{
    auto known = specs_.find({ns, ref});
    return known == specs_.end() ? nullptr : &known->second;
}

GangKeyPtr GroupTable::choose_gang(const Pod &pod) const
{
    bool has_rank = pod.annotations.contains(names::rank_annotation);
    for (GangKeyPtr key = pod.gang; key; key = key->otherwise) {
        if (key->group.api == GroupApi::none)
            return key;
        const GroupSpec *spec = find(pod.key.ns, key->group);
        bool gang = is_on(key->group.api) && !(spec && spec->minimum == 0);
        if (gang && (!pod.bound() || has_rank))
            return key;
    }
    return pod.bound() && has_rank ? pod.gang : nullptr;
}

} // namespace bridge
