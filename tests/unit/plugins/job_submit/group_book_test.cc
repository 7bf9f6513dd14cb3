// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/group_book.h"

#include <atomic>
#include <doctest/doctest.h>
#include <future>
#include <thread>

using namespace bridge;

namespace {

using namespace std::chrono_literals;
using Users = GroupBook::Users;
using enum Membership;

// A user database of these groups and a clock that stands still.
struct Bed {
    std::map<std::string, Users> members{{"staff", {12, 11}}, {"guests", {}}};
    std::map<std::uint32_t, std::string> primary{{11, "eleven"}};
    bool answers = true;
    int group_asks = 0, user_asks = 0;
    GroupBook::Clock::time_point now{1h};
    GroupBook book;

    explicit Bed(std::size_t most_users = 10)
        : book({.most_users = most_users, .now = [this] { return now; }})
    {
        book.keep({"staff", "guests"});
    }
    Bed(const Bed &) = delete;

    void look_up()
    {
        book.look_up({[this](const std::string &name) -> Result<Users> {
                          group_asks++;
                          if (!answers)
                              return fail(Code::busy, "no answer");
                          return members[name];
                      },
                      [this](std::uint32_t user) -> Result<std::string> {
                          user_asks++;
                          if (!answers)
                              return fail(Code::busy, "no answer");
                          return primary[user];
                      }});
    }
    void look_up_after(std::chrono::seconds time)
    {
        now += time;
        look_up();
    }
    Membership find(std::uint32_t user,
                    const std::vector<std::string> &groups = {"staff"})
    {
        return book.find(groups, user);
    }
};

} // namespace

TEST_CASE("nobody is known to be in a group before it is looked up")
{
    Bed bed;
    CHECK(bed.find(11) == unknown);
    CHECK(bed.find(99) == unknown);
    bed.look_up();
    CHECK(bed.find(11) == yes);
    CHECK(bed.find(12) == yes);
    CHECK(bed.find(11, {"guests", "staff"}) == yes);
    CHECK(bed.find(11, {"guests"}) == no);
    CHECK(bed.find(11, {"others"}) == unknown); // not one that is kept
}

TEST_CASE("a primary group counts once it is looked up for who asked")
{
    Bed bed;
    bed.primary = {{21, "staff"}, {22, "other"}};
    bed.look_up();
    CHECK(bed.user_asks == 0);
    for (std::uint32_t user : {21U, 22U, 23U, 23U})
        CHECK(bed.find(user) == unknown);
    bed.look_up();
    CHECK(bed.user_asks == 3);
    CHECK(bed.find(21) == yes);
    CHECK(bed.find(22) == no);
    CHECK(bed.find(23) == no);
    // Others may list the user.
    CHECK(bed.find(22, {"staff", "others"}) == unknown);
    bed.look_up();
    CHECK(bed.user_asks == 3);
}

TEST_CASE("no primary group counts where the groups list nobody at all")
{
    Bed bed;
    bed.primary = {{21, "guests"}};
    bed.look_up();
    CHECK(bed.find(21, {"guests"}) == no);
    bed.look_up();
    CHECK(bed.user_asks == 0);
    CHECK(bed.find(21, {"guests", "staff"}) == unknown);
    bed.look_up();
    CHECK(bed.find(21, {"guests", "staff"}) == yes);
    CHECK(bed.find(21, {"guests"}) == no);
}

TEST_CASE("a user who cannot be looked up leaves the others to the next round")
{
    Bed bed;
    bed.primary = {{21, "staff"}};
    bed.look_up();
    CHECK(bed.find(21) == unknown);
    CHECK(bed.find(22) == unknown); // looked up first
    bed.book.wait(0s);
    bed.answers = false;
    bed.look_up();
    CHECK(bed.user_asks == 1);

    auto next = std::async(std::launch::async, [&] { bed.book.wait(1h); });
    bool in_time = next.wait_for(10s) == std::future_status::ready;
    bed.book.keep({"staff", "guests", "more"}); // ends it in any case
    next.wait();
    CHECK(in_time);
    bed.answers = true;
    bed.look_up();
    CHECK(bed.find(21) == yes);
}

TEST_CASE("a hook does not wait for a look-up")
{
    Bed bed;
    std::promise<void> asked, answer;
    std::atomic<bool> first = true;
    std::jthread thread([&] {
        bed.book.look_up({[&](const std::string &) -> Result<Users> {
                              if (first.exchange(false)) {
                                  asked.set_value();
                                  answer.get_future().wait();
                              }
                              return Users{11};
                          },
                          [](std::uint32_t) -> Result<std::string> {
                              return std::string();
                          }});
    });
    asked.get_future().wait();
    auto hook = std::async(std::launch::async, [&] {
        bed.book.keep({"staff", "guests"});
        return bed.find(11);
    });
    bool in_time = hook.wait_for(10s) == std::future_status::ready;
    answer.set_value();
    CHECK(in_time);
    CHECK(hook.get() == unknown);
    thread.join();
    CHECK(bed.find(11) == yes);
}

TEST_CASE("a group is looked up again at its pace, a failed one sooner")
{
    Bed bed;
    bed.look_up();
    CHECK(bed.group_asks == 2);
    bed.look_up_after(10min);
    CHECK(bed.group_asks == 2);
    bed.answers = false;
    bed.look_up_after(1min);
    CHECK(bed.group_asks == 4);
    CHECK(bed.find(11) == unknown);
    bed.look_up_after(30s);
    CHECK(bed.group_asks == 4);
    bed.look_up_after(30s);
    CHECK(bed.group_asks == 6);
}

TEST_CASE("who joins a group is in it when slurmctld knows, too")
{
    Bed bed;
    bed.look_up();
    bed.members["staff"] = {12, 13};
    bed.look_up_after(11min);
    CHECK(bed.find(11) == unknown); // the primary group is looked up
    CHECK(bed.find(12) == yes);
    CHECK(bed.find(13) == unknown);
    bed.look_up_after(11min);
    CHECK(bed.find(11) == no);
    CHECK(bed.find(13) == yes);
}

TEST_CASE("after a failure slurmctld, too, may have nobody in a group")
{
    Bed bed;
    bed.answers = false;
    bed.look_up();
    bed.answers = true;
    bed.look_up_after(1min);
    CHECK(bed.find(11) == unknown);
    bed.look_up_after(11min);
    CHECK(bed.find(11) == yes);
}

TEST_CASE("answers that are too old are none")
{
    Bed bed;
    bed.primary = {{21, "staff"}};
    bed.look_up();
    bed.find(21);
    bed.look_up();
    bed.now += 31min; // a look-up that has no end
    CHECK(bed.find(11) == unknown);
    CHECK(bed.find(21) == unknown);
    bed.look_up();
    CHECK(bed.find(11) == yes);
    CHECK(bed.find(21) == yes);
}

TEST_CASE("a primary group is asked for again when its user asks")
{
    Bed bed;
    bed.primary = {{21, "staff"}};
    bed.look_up();
    bed.find(21);
    bed.look_up();
    bed.look_up_after(11min);
    CHECK(bed.user_asks == 1);
    bed.primary.clear();
    CHECK(bed.find(21) == yes);
    bed.look_up();
    CHECK(bed.user_asks == 2);
    CHECK(bed.find(21) == no);
}

TEST_CASE("a database that does not answer is asked about one user at a time")
{
    Bed bed;
    bed.look_up();
    bed.find(21);
    bed.find(22);
    bed.answers = false;
    bed.look_up();
    CHECK(bed.user_asks == 1);
    CHECK(bed.find(21) == unknown);
    CHECK(bed.find(22) == unknown);
    bed.answers = true;
    bed.look_up_after(1min);
    CHECK(bed.find(21) == no);
    bed.find(22);
    bed.look_up();
    CHECK(bed.find(22) == no);
}

TEST_CASE("a group that is no longer kept is forgotten")
{
    Bed bed;
    bed.look_up();
    bed.book.keep({"staff"});
    CHECK(bed.find(11) == yes);
    CHECK(bed.find(11, {"guests"}) == unknown);
    bed.book.keep({"staff", "guests"});
    CHECK(bed.find(11, {"guests"}) == unknown);
    bed.look_up();
    CHECK(bed.group_asks == 3);
    CHECK(bed.find(11, {"guests"}) == no);
}

TEST_CASE("the number of users is bounded, and there is room again later")
{
    Bed bed(2);
    bed.look_up();
    for (std::uint32_t user : {21U, 22U, 23U, 24U})
        CHECK(bed.find(user) == unknown);
    bed.look_up(); // makes room
    CHECK(bed.user_asks == 0);
    CHECK(bed.find(23) == unknown);
    bed.look_up();
    CHECK(bed.user_asks == 1);
    CHECK(bed.find(23) == no);
}

TEST_CASE("the thread goes on at once when something new is asked for")
{
    GroupBook book;
    book.keep({"staff"});
    auto begin = GroupBook::Clock::now();
    book.wait(60s);
    CHECK(GroupBook::Clock::now() - begin < 30s);
    begin = GroupBook::Clock::now();
    book.keep({"staff"}); // nothing new
    book.wait(50ms);
    CHECK(GroupBook::Clock::now() - begin >= 50ms);
}
