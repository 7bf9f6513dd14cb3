// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/login_book.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using std::chrono::seconds;

namespace {

const LoginDir::Time now{seconds(1'800'000'000)};

std::string name_of(std::size_t number)
{
    std::string digits = std::to_string(number);
    return std::string(64 - digits.size(), '0') + digits;
}

} // namespace

TEST_CASE("one user cannot keep others from their logins")
{
    LoginBook book;
    for (std::size_t i = 0; i < LoginBook::most_of_user; i++)
        REQUIRE_FALSE(book.enter(name_of(i), 1001, now));

    CHECK(book.enter(name_of(1000), 1001, now) ==
          "too many logins within a minute");
    CHECK_FALSE(book.enter(name_of(1001), 1002, now));
}

TEST_CASE("a hundred users cannot either")
{
    LoginBook book;
    for (std::size_t i = 0; i < 100 * LoginBook::most_of_user; i++)
        REQUIRE_FALSE(book.enter(
            name_of(i),
            static_cast<std::uint32_t>(1000 + i / LoginBook::most_of_user),
            now));

    CHECK_FALSE(book.enter(name_of(100'000), 5000, now));
}

TEST_CASE("all logins are not more than their files may be")
{
    LoginBook book;
    for (std::uint32_t i = 0; i < LoginBook::most; i++)
        REQUIRE_FALSE(book.enter(name_of(i), i, now));

    CHECK(book.enter(name_of(100'000), 100'000, now));
}

TEST_CASE("a login counts until its file has expired")
{
    LoginBook book;
    for (std::size_t i = 0; i < LoginBook::most_of_user; i++)
        REQUIRE_FALSE(book.enter(name_of(i), 1001, now));

    CHECK(book.enter(name_of(1000), 1001, now + seconds(90)));
    CHECK_FALSE(book.enter(name_of(1000), 1001, now + seconds(91)));
}

TEST_CASE("a login is entered once, and only a hash is one")
{
    LoginBook book;
    REQUIRE_FALSE(book.enter(name_of(1), 1001, now));

    CHECK(book.enter(name_of(1), 1002, now));
    CHECK(book.enter("../../etc/passwd", 1002, now));
    CHECK(book.enter("", 1002, now));
}
