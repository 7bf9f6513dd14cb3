// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/permit.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <unistd.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct Fixture {
    TemporaryDirectory directory;
    std::string path = directory.path + "/hook.sock";
    PacketSocket listener = *PacketSocket::listen(path, 0600);
    Permit permit{path};

    Fixture() { permit.set_socket(socket_file(path)); }
};

constexpr BootClock::time_point start{100s};

} // namespace

TEST_CASE(
    "nothing is permitted before the first grant, nor after the last ends")
{
    Fixture fixture;
    CHECK_FALSE(fixture.permit.check(start));

    fixture.permit.grant_until(start + 10s);
    CHECK(fixture.permit.check(start));
    CHECK(fixture.permit.check(start + 9s));
    CHECK_FALSE(fixture.permit.check(start + 10s));
    fixture.permit.grant_until(start + 20s);
    CHECK(fixture.permit.check(start + 10s));

    fixture.permit.revoke();
    auto said = fixture.permit.check(start);
    REQUIRE_FALSE(said);
    CHECK(said.error().code == Code::busy);
}

TEST_CASE("another socket at the path ends the permit, whoever has the Lease")
{
    Fixture fixture;
    fixture.permit.grant_until(start + 10s);

    auto other = PacketSocket::listen(fixture.path, 0600);

    REQUIRE(other);
    CHECK_FALSE(fixture.permit.socket_is_ours());
    CHECK_FALSE(fixture.permit.check(start));
}

TEST_CASE("a socket that was removed, or never bound, is not ours")
{
    Fixture fixture;
    fixture.permit.grant_until(start + 10s);
    unlink(fixture.path.c_str());
    CHECK_FALSE(fixture.permit.check(start));

    Permit never(fixture.directory.path + "/none");
    never.grant_until(start + 10s);
    CHECK_FALSE(never.check(start));
}

TEST_CASE("the clock goes on")
{
    auto before = BootClock::now();
    CHECK(before.time_since_epoch() > 0s);
    CHECK(BootClock::now() >= before);
}
