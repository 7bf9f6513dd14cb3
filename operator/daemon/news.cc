// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/news.h"

#include <type_traits>
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

auto &place(Known &known, const KubeNode *)
{
    return known.nodes;
}

auto &place(Known &known, const Made *)
{
    return known.made;
}

auto &place(Known &known, const Unserved *)
{
    return known.unserved;
}

auto &place(Known &known, const Daemon *)
{
    return known.daemons;
}

auto &place(Known &known, const FileMap *)
{
    return known.file_maps;
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

template <class Object> bool hear_one(Store &store, Listed<Object> list)
{
    auto &objects = place(store.known, static_cast<Object *>(nullptr));
    std::erase_if(objects, [&](const auto &entry) {
        return was_listed(list, entry.second);
    });
    for (Object &object : list.objects)
        objects.insert_or_assign(key_of(object), std::move(object));
    if constexpr (std::is_same_v<Object, FileMap>) // begun later
        store.known.file_namespaces.insert(list.ns);
    else if constexpr (std::is_same_v<Object, KubeNode>)
        store.known.nodes_listed = true;
    else
        store.complete.insert(list.watch);
    return true;
}

template <class Object> bool hear_one(Store &store, Changed<Object> change)
{
    auto &objects = place(store.known, static_cast<Object *>(nullptr));
    auto key = key_of(change.object);
    if (change.deleted)
        return objects.erase(key) != 0;
    // A kubelet writes its Node every few minutes.
    if constexpr (std::is_same_v<Object, KubeNode>)
        if (auto known = objects.find(key);
            known != objects.end() && known->second == change.object)
            return false;
    objects.insert_or_assign(std::move(key), std::move(change.object));
    return true;
}

bool hear_one(Store &store, WatchSays says)
{
    if (says.error.empty())
        store.failing.erase(says.watch);
    else
        store.failing[says.watch] = std::move(says.error);
    return true;
}

// For the owner thread itself.
bool hear_one(Store &, Acted)
{
    return true;
}

bool hear_one(Store &, Stop)
{
    return true;
}

} // namespace

bool Store::hear(News news)
{
    return std::visit(
        [this](auto &one) { return hear_one(*this, std::move(one)); }, news);
}

} // namespace bridge::slinky
