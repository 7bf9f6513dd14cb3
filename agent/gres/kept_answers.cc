// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/kept_answers.h"

namespace bridge {

namespace {

// With the containers that they are in.
constexpr std::size_t of_answer = 1000;
constexpr std::size_t of_node = 200;
constexpr std::size_t of_device = 500;
constexpr std::size_t of_result = 50;

} // namespace

std::size_t bytes_of(const DeviceAnswer &answer)
{
    std::size_t bytes = of_answer;
    if (!answer.wish)
        bytes += answer.wish.error().message.size();
    if (answer.counts) {
        bytes += answer.counts->nodes.size() * of_node;
        for (const FitCounts::Unclear &one : answer.counts->unclear)
            bytes += of_node + one.reason.size();
    }
    if (answer.results)
        for (const auto &[id, of_it] : answer.results->devices) {
            bytes += of_device;
            for (const Result<bool> &one : of_it.results)
                bytes += of_result + (one ? 0 : one.error().message.size());
        }
    return bytes;
}

const KeptAnswers::Kept *KeptAnswers::find(const std::string &id)
{
    auto found = entries_.find(id);
    if (found == entries_.end())
        return nullptr;
    auto &by_use = namespaces_.at(found->second.ns).by_use;
    by_use.erase(found->second.used);
    found->second.used = ++uses_;
    by_use[found->second.used] = id;
    return &found->second.kept;
}

void KeptAnswers::keep(const std::string &id, const std::string &ns, Kept kept)
{
    erase(id);
    std::size_t bytes = id.size() + bytes_of(kept.answer);
    put(id, {std::move(kept), ns, bytes, ++uses_});
    while (bytes_ > most_bytes) {
        std::string oldest = oldest_but(id);
        if (oldest.empty())
            return;
        erase(oldest);
    }
}

// Of the namespace that has most. "": there is no other.
std::string KeptAnswers::oldest_but(const std::string &id) const
{
    for (auto most = by_bytes_.rbegin(); most != by_bytes_.rend(); most++)
        for (const auto &[used, oldest] : namespaces_.at(most->second).by_use)
            if (oldest != id)
                return oldest;
    return {};
}

void KeptAnswers::put(const std::string &id, Entry entry)
{
    OfNamespace &own = namespaces_[entry.ns];
    own.by_use[entry.used] = id;
    weigh(entry.ns, own.bytes, own.bytes + entry.bytes);
    own.bytes += entry.bytes;
    bytes_ += entry.bytes;
    entries_[id] = std::move(entry);
}

void KeptAnswers::erase(const std::string &id)
{
    auto found = entries_.find(id);
    if (found == entries_.end())
        return;
    const Entry &entry = found->second;
    OfNamespace &own = namespaces_.at(entry.ns);
    own.by_use.erase(entry.used);
    weigh(entry.ns, own.bytes, own.bytes - entry.bytes);
    own.bytes -= entry.bytes;
    bytes_ -= entry.bytes;
    if (own.by_use.empty())
        namespaces_.erase(entry.ns);
    entries_.erase(found);
}

void KeptAnswers::weigh(const std::string &ns, std::size_t before,
                        std::size_t after)
{
    by_bytes_.erase({before, ns});
    if (after != 0)
        by_bytes_.emplace(after, ns);
}

} // namespace bridge
