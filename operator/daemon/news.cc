// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/news.h"

#include <utility>

namespace bridge::slinky {

namespace {

auto &place(Known &known, const Controller *)
{
    return known.controllers;
}

auto &place(Known &known, const NodeSet *)
{
    return known.node_sets;
}

auto &place(Known &known, const Worker *)
{
    return known.workers;
}

auto &place(Known &known, const Service *)
{
    return known.services;
}

auto &place(Known &known, const Revision *)
{
    return known.revisions;
}

auto &place(Known &known, const Budget *)
{
    return known.budgets;
}

auto &place(Known &known, const Claim *)
{
    return known.claims;
}

auto &place(Known &known, const Made *)
{
    return known.made;
}

auto &place(Known &known, const Unserved *)
{
    return known.unserved;
}

template <class Object> Key key_of(const Object &object)
{
    return object.meta.key;
}

template <class Object>
    requires requires(const Object &object) { object.kind; }
std::pair<std::string, Key> key_of(const Object &object)
{
    return {object.kind, object.meta.key};
}

template <class Object>
bool was_listed(const Listed<Object> &list, const Object &object)
{
    return list.ns.empty() || object.meta.key.ns == list.ns;
}

template <class Object>
    requires requires(const Object &object) { object.kind; }
bool was_listed(const Listed<Object> &list, const Object &object)
{
    return object.kind == list.kind &&
           (list.ns.empty() || object.meta.key.ns == list.ns);
}

template <class Object> void hear_one(Store &store, Listed<Object> list)
{
    auto &objects = place(store.known, static_cast<Object *>(nullptr));
    std::erase_if(objects, [&](const auto &entry) {
        return was_listed(list, entry.second);
    });
    for (Object &object : list.objects)
        objects.insert_or_assign(key_of(object), std::move(object));
    store.complete.insert(list.watch);
}

template <class Object> void hear_one(Store &store, Changed<Object> change)
{
    auto &objects = place(store.known, static_cast<Object *>(nullptr));
    auto key = key_of(change.object);
    if (change.deleted)
        objects.erase(key);
    else
        objects.insert_or_assign(std::move(key), std::move(change.object));
}

void hear_one(Store &store, WatchSays says)
{
    if (says.error.empty())
        store.failing.erase(says.watch);
    else
        store.failing[says.watch] = std::move(says.error);
}

// For the owner thread itself.
void hear_one(Store &, Acted) {}

void hear_one(Store &, Stop) {}

} // namespace

void Store::hear(News news)
{
    std::visit([this](auto &one) { hear_one(*this, std::move(one)); }, news);
}

} // namespace bridge::slinky
