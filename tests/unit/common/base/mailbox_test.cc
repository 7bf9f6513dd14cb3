// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/mailbox.h"

#include <doctest/doctest.h>
#include <memory>
#include <thread>
#include <vector>

using namespace bridge;

TEST_CASE("messages come out in the order in which they went in")
{
    Mailbox<int> mailbox;
    for (int i = 0; i < 100; i++)
        mailbox.push(i);

    CHECK(mailbox.size() == 100);
    for (int i = 0; i < 100; i++)
        CHECK(mailbox.pop() == i);
    CHECK(mailbox.size() == 0);
}

TEST_CASE("a deadline that has passed takes what is there and never waits")
{
    Mailbox<int> mailbox;
    CHECK_FALSE(mailbox.pop_until(Clock::time_point::min()));
    CHECK_FALSE(mailbox.pop_until(Clock::now()));

    mailbox.push(7);
    CHECK(mailbox.pop_until(Clock::time_point::min()) == 7);
}

TEST_CASE("a closed mailbox hands out what is left and then nothing")
{
    Mailbox<int> mailbox;
    mailbox.push(7);
    mailbox.close();

    CHECK(mailbox.pop() == 7);
    CHECK_FALSE(mailbox.pop());
    CHECK_FALSE(mailbox.pop_until(Clock::time_point::max()));
}

TEST_CASE("what cannot be copied is passed on, too")
{
    Mailbox<std::unique_ptr<int>> mailbox;
    mailbox.push(std::make_unique<int>(7));

    auto message = mailbox.pop();

    REQUIRE(message);
    CHECK(**message == 7);
}

TEST_CASE("whoever waits is woken by a message, and by the end")
{
    Mailbox<int> mailbox;
    int sum = 0;
    std::jthread reader([&] {
        while (auto number = mailbox.pop())
            sum += *number;
    });

    for (int i = 1; i <= 100; i++)
        mailbox.push(i);
    mailbox.close();
    reader.join();

    CHECK(sum == 5050);
}

TEST_CASE("messages of several threads all arrive, each thread's in order")
{
    Mailbox<std::pair<int, int>> mailbox;
    {
        std::vector<std::jthread> writers;
        for (int writer = 0; writer < 4; writer++)
            writers.emplace_back([&mailbox, writer] {
                for (int i = 0; i < 1000; i++)
                    mailbox.push({writer, i});
            });
    }

    int next[4] = {};
    for (int n = 0; n < 4000; n++) {
        auto [writer, i] = *mailbox.pop();
        CHECK(i == next[writer]++);
    }
}
