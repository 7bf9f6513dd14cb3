// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/group_book.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace bridge {

GroupBook::GroupBook(Settings settings) : settings_(std::move(settings)) {}

void GroupBook::keep(const std::set<std::string> &groups)
{
    std::map<std::string, Group> kept; // then the others, freed without the
                                       // mutex
    std::lock_guard lock(mutex_);
    for (const std::string &name : groups) {
        auto known = groups_.extract(name);
        has_new_group_ |= known.empty();
        if (known)
            kept.insert(std::move(known));
        else
            kept.try_emplace(name);
    }
    groups_.swap(kept);
    if (has_new_group_)
        asked_.notify_one();
}

Membership GroupBook::find(std::span<const std::string> groups,
                           std::uint32_t user)
{
    const auto now = settings_.now();
    bool all_known = true, list_anybody = false;
    std::lock_guard lock(mutex_);
    for (const std::string &name : groups) {
        auto found = groups_.find(name);
        if (found == groups_.end() || !found->second.known ||
            now - found->second.answered > settings_.members_last) {
            all_known = false;
            continue;
        }
        const Group &group = found->second;
        if (std::ranges::binary_search(group.certain, user))
            return Membership::yes;
        if (std::ranges::binary_search(group.last, user))
            all_known = false; // slurmctld may not know it yet
        list_anybody |= !group.certain.empty();
    }
    const auto otherwise = all_known ? Membership::no : Membership::unknown;
    if (!list_anybody)
        return otherwise;
    auto primary = primary_of(user);
    if (!primary)
        return Membership::unknown;
    return std::ranges::contains(groups, *primary) ? Membership::yes
                                                   : otherwise;
}

// With the mutex. Returns the name of the user's primary group if it is known,
// and has it looked up if it is not, or is old.
std::optional<std::string> GroupBook::primary_of(std::uint32_t user)
{
    const auto now = settings_.now();
    auto found = users_.find(user);
    if (found == users_.end()) {
        if (users_.size() >= settings_.most_users)
            return std::nullopt; // until the thread has made room
        found = users_.try_emplace(user).first;
    }
    User &entry = found->second;
    if (!entry.queued && now >= entry.due) {
        queue_.push_back(user);
        entry.queued = true;
        asked_.notify_one();
    }
    if (!entry.known || now - entry.answered > settings_.primary_lasts)
        return std::nullopt;
    return entry.primary;
}

// Groups are looked up between any two users. A failure ends the round and
// leaves the other users for the next one: a database that does not answer is
// asked little.
void GroupBook::look_up(const Database &database)
{
    make_room();
    for (;;) {
        while (auto group = next_group())
            enter_members(*group, database.members(*group));
        auto user = next_user();
        if (!user || !enter_primary(*user, database.primary_group(*user)))
            return;
    }
}

void GroupBook::wait(std::chrono::milliseconds longest)
{
    std::unique_lock lock(mutex_);
    asked_.wait_for(lock, longest,
                    [this] { return has_new_group_ || !queue_.empty(); });
    has_new_group_ = false;
}

std::optional<std::string> GroupBook::next_group()
{
    const auto now = settings_.now();
    std::lock_guard lock(mutex_);
    auto due = std::ranges::find_if(
        groups_, [&](const auto &group) { return now >= group.second.due; });
    if (due == groups_.end())
        return std::nullopt;
    due->second.due = now + settings_.retry; // whatever comes of it
    return due->first;
}

std::optional<std::uint32_t> GroupBook::next_user()
{
    const auto now = settings_.now();
    std::lock_guard lock(mutex_);
    if (queue_.empty())
        return std::nullopt;
    std::uint32_t user = queue_.back(); // who asked last, still waits for it
    queue_.pop_back();
    User &entry = users_[user];
    entry.queued = false;
    entry.due = now + settings_.retry; // whatever comes of it
    return user;
}

// slurmctld looks up a group when it begins, when AllowGroups changes and once
// in GroupUpdateTime. So it knows whoever was there at the first look, and at
// two looks in a row later. To slurmctld nobody is in a group while its look-up
// fails.
void GroupBook::enter_members(const std::string &name, Result<Users> members)
{
    Users now_there, certain;
    if (members)
        now_there = std::move(*members);
    std::ranges::sort(now_there);
    const auto now = settings_.now();
    std::lock_guard lock(mutex_);
    auto found = groups_.find(name);
    if (found == groups_.end())
        return; // forgotten meanwhile
    Group &group = found->second;
    if (group.looked)
        std::ranges::set_intersection(group.last, now_there,
                                      std::back_inserter(certain));
    else
        certain = now_there;
    group.looked = true;
    group.known = members.has_value();
    group.answered = now;
    group.due = now + (group.known ? settings_.pace : settings_.retry);
    group.last.swap(now_there); // the old ones are freed without the mutex
    group.certain.swap(certain);
}

// Returns false after a failure. slurmctld itself asks each time for a user's
// primary group, so an answer counts at once.
bool GroupBook::enter_primary(std::uint32_t user, Result<std::string> primary)
{
    if (!primary)
        return false; // an answer that is there remains
    const auto now = settings_.now();
    std::lock_guard lock(mutex_);
    User &entry = users_[user];
    entry.known = true;
    entry.answered = now;
    entry.due = now + settings_.pace;
    entry.primary.swap(*primary);
    return true;
}

// Forgets all users when there are too many, and whoever asks again is new.
void GroupBook::make_room()
{
    std::map<std::uint32_t, User> forgotten; // freed without the mutex
    std::lock_guard lock(mutex_);
    if (users_.size() < settings_.most_users)
        return;
    users_.swap(forgotten);
    queue_.clear();
}

} // namespace bridge
