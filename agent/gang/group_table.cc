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

// Whether its object says that its Pods are no gang.
bool GroupTable::is_no_gang(const Pod &pod, const GangKey &key) const
{
    const GroupSpec *spec = find(pod.key.ns, key.group);
    return spec && spec->minimum == 0;
}

std::vector<GroupApi> GroupTable::absent_before(const Pod &pod) const
{
    std::vector<GroupApi> absent;
    for (const GangKey *key = pod.gang.get(); key; key = key->otherwise.get()) {
        bool on = key->group.api == GroupApi::none || is_on(key->group.api);
        if (!on)
            absent.push_back(key->group.api);
        else if (key->group.api == GroupApi::none || !is_no_gang(pod, *key))
            break;
    }
    return absent;
}

GangKeyPtr GroupTable::choose_gang(const Pod &pod) const
{
    bool has_rank = pod.annotations.contains(names::rank_annotation);
    for (GangKeyPtr key = pod.gang; key; key = key->otherwise) {
        if (key->group.api == GroupApi::none)
            return key;
        bool gang = is_on(key->group.api) && !is_no_gang(pod, *key);
        if (gang && (!pod.bound() || has_rank))
            return key;
    }
    return pod.bound() && has_rank ? pod.gang : nullptr;
}

} // namespace bridge
