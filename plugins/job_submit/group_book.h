// SPDX-License-Identifier: GPL-2.0-or-later
// Whether slurmctld lets a user into a partition with AllowGroups, by
// validate_group() in its partition_mgr.c: the groups list the user, or one of
// them is the user's primary group and they list anybody at all.
//
// slurmctld holds its locks while a hook asks, so a hook gets what is known at
// once, which may be nothing. A thread looks up, meanwhile or later: no look-up
// happens with the mutex. All else is the caller's: which groups count at all,
// and what does the look-ups.
#pragma once

#include "common/base/result.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace bridge {

enum class Membership { unknown, no, yes };

class GroupBook {
  public:
    using Clock = std::chrono::steady_clock;
    using Users = std::vector<std::uint32_t>;

    // Both may block, and fail if there is no answer.
    struct Database {
        // Nobody if there is no such group.
        std::function<Result<Users>(const std::string &group)> members;
        // Empty if there is no such user or group.
        std::function<Result<std::string>(std::uint32_t user)> primary_group;
    };
    struct Settings {
        // slurmctld may know the members of a group so much later. By default
        // it is Slurm's GroupUpdateTime, and a minute for the look-ups.
        std::chrono::seconds pace{11 * 60};
        std::chrono::seconds retry{60}; // after a failure
        // Answers older than this are none.
        std::chrono::seconds members_last{30 * 60};
        std::chrono::seconds primary_lasts{24 * 60 * 60};
        std::size_t most_users = 10'000; // whose primary group is kept
        std::function<Clock::time_point()> now = Clock::now;
    };

    GroupBook() : GroupBook(Settings()) {}
    explicit GroupBook(Settings settings);

    // Any thread, and at once.

    // Knows these groups from now on, and forgets all others.
    void keep(const std::set<std::string> &groups);

    // Answers for a partition that allows these groups. Yes only where
    // slurmctld says the same for certain.
    Membership find(std::span<const std::string> groups, std::uint32_t user);

    // For one thread.

    // Looks up what is asked for and what is old. May block.
    void look_up(const Database &database);

    // Waits until something is asked for that was not looked up, for this long
    // at most.
    void wait(std::chrono::milliseconds longest);

  private:
    struct Group {
        Clock::time_point due{}; // when it is looked up, the epoch is at once
        Clock::time_point answered{};
        bool looked = false; // there has been an answer or a failure
        bool known = false;
        Users last{};    // in order; those of the last look
        Users certain{}; // in order; those whom slurmctld knows by now, too
    };
    struct User {
        Clock::time_point due{};
        Clock::time_point answered{};
        bool queued = false;
        bool known = false;
        std::string primary{};
    };

    std::optional<std::string> primary_of(std::uint32_t user);
    std::optional<std::string> next_group();
    std::optional<std::uint32_t> next_user();
    void enter_members(const std::string &name, Result<Users> members);
    bool enter_primary(std::uint32_t user, Result<std::string> primary);
    void make_room();

    const Settings settings_;
    std::mutex mutex_; // guards all below
    std::condition_variable asked_;
    bool has_new_group_ = false; // since the last wait
    std::map<std::string, Group> groups_;
    std::map<std::uint32_t, User> users_;
    std::vector<std::uint32_t> queue_; // of users to look up
};

} // namespace bridge
