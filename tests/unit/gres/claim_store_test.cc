// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/claim_store.h"

#include "agent/gres/extended_claim.h"
#include "tests/unit/flows/claims.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

const DeviceId gpu{"gpu.example.com", "kn1", "gpu-0"};

// more: of the result, such as R"(,"shareID":"…")".
ResourceClaim with_device(const std::string &name, const std::string &device,
                          const std::string &more = {})
{
    return make_claim(claim_text(
        name, request_gpus(1), "",
        R"({"allocation":{"devices":{"results":[{"request":"gpu","driver":)"
        R"("gpu.example.com","pool":"kn1","device":")" +
            device + '"' + more + R"(}]}}})"));
}

} // namespace

TEST_CASE("claims are counted by whether they have devices and who uses them")
{
    ClaimStore store;
    ResourceClaim used = with_device("used", "gpu-0");
    used.reserved_for.push_back({"pods", "p", "1"});
    store.replace({used, with_device("kept", "gpu-1"),
                   make_claim(claim_text("waits", request_gpus(1))),
                   make_claim(claim_text("waits-too", request_gpus(1)))});
    CHECK(store.count().reserved == 1);
    CHECK(store.count().allocated == 1);
    CHECK(store.count().pending == 2);
}

TEST_CASE("a device is taken while any claim has it")
{
    ClaimStore store;
    auto now = Clock::now();
    CHECK_FALSE(store.listed());
    store.replace({with_device("c", "gpu-0")});
    CHECK(store.listed());

    CHECK(store.holder_of(gpu, "", now) == "default/c");
    CHECK(store.holder_of(gpu, "uid-of-c", now) == std::nullopt);
    CHECK(store.taken_in("gpu.example.com", "kn1", now) ==
          std::set<std::string>{"gpu-0"});
    CHECK(store.taken_in("gpu.example.com", "kn2", now).empty());
    store.put(make_claim(claim_text("c", request_gpus(1))));
    CHECK(store.holder_of(gpu, "", now) == std::nullopt);
    store.put(with_device("c", "gpu-0"));
    store.remove({"default", "c"});
    CHECK(store.holder_of(gpu, "", now) == std::nullopt);
    CHECK(store.find({"default", "c"}) == nullptr);
}

TEST_CASE("what is taken in a pool changes with each claim and hold")
{
    ClaimStore store;
    auto now = Clock::now();
    std::set<std::uint64_t> seen;
    auto changes = [&] { return store.changes_in("gpu.example.com", "kn1"); };
    auto is_new = [&] { return seen.insert(changes()).second; };
    store.replace({});
    CHECK(changes() == 0);
    CHECK(is_new());

    store.put(with_device("c", "gpu-0"));
    CHECK(is_new());
    store.hold({"default", "d"}, "uid-of-d", "gang", {gpu}, now);
    CHECK(is_new());
    store.put(with_device("c", "gpu-1"));
    CHECK(is_new());
    store.end_write({"default", "d"}, "gang", now);
    store.replace({with_device("c", "gpu-1")});
    CHECK(is_new());
    store.release_hold("uid-of-d");
    CHECK(is_new());
    CHECK(store.changes_in("gpu.example.com", "kn2") == 0);
    store.remove({"default", "c"});
    CHECK(changes() == 0);
}

TEST_CASE("only of the newest claims the text is kept")
{
    ClaimStore store;
    auto put = [&](std::size_t number) {
        ResourceClaim claim = make_claim(
            claim_text("c" + std::to_string(number), request_gpus(1)));
        claim.text = "text";
        store.put(std::move(claim));
    };
    auto text_of = [&](std::size_t number) {
        return store.find({"default", "c" + std::to_string(number)})->text;
    };
    for (std::size_t i = 0; i <= ClaimStore::max_texts; i++)
        put(i);
    CHECK(text_of(0).empty());
    CHECK(text_of(1) == "text");
    CHECK(text_of(ClaimStore::max_texts) == "text");
    store.remove({"default", "c1"});
    put(0);
    CHECK(text_of(0) == "text");
    CHECK(text_of(2) == "text");
}

TEST_CASE("what is held for a claim before it is made is that claim's then")
{
    ClaimStore store;
    auto now = Clock::now();
    store.replace({});
    store.hold({"default", "c"}, uid_until_made("uid-web"), "web", {gpu}, now);
    CHECK(store.holder_of(gpu, "uid-of-c", now) == "default/c");
    ResourceClaim made =
        make_claim(claim_text("c", request_gpus(1), "uid-web"));
    made.for_extended_resources = true;
    ResourceClaim other = made; // of the same Pod, by another's hand
    other.key.name = "d";
    other.uid = "uid-of-d";
    store.put(other);
    CHECK(store.holder_of(gpu, "uid-of-d", now) == "default/c");

    store.put(made);

    CHECK(store.holder_of(gpu, "uid-of-c", now) == std::nullopt);
    CHECK(store.holder_of(gpu, uid_until_made("uid-web"), now) == "default/c");
    made.allocated = true; // with other devices than that: the watch knows
    store.put(made);
    CHECK(store.holder_of(gpu, "", now) == std::nullopt);
}

TEST_CASE("a device that is about to be written into a claim is taken")
{
    ClaimStore store;
    auto now = Clock::now();
    store.replace({make_claim(claim_text("c", request_gpus(1)))});
    store.hold({"default", "c"}, "uid-of-c", "web", {gpu}, now);

    CHECK(store.holder_of(gpu, "uid-of-d", now) == "default/c");
    CHECK(store.holder_of(gpu, "uid-of-c", now) == std::nullopt);
    CHECK(store.taken_in("gpu.example.com", "kn1", now).contains("gpu-0"));
    store.put(make_claim(claim_text("c", request_gpus(1)))); // the finalizer
    CHECK(store.holder_of(gpu, "", now) == "default/c");
    store.put(with_device("c", "gpu-1")); // the watch knows better
    CHECK(store.holder_of(gpu, "", now) == std::nullopt);
}

TEST_CASE("what became of a write is known after a while")
{
    ClaimStore store;
    auto now = Clock::now();
    store.hold({"default", "c"}, "uid-of-c", "web", {gpu}, now);
    store.end_write({"default", "c"}, "web", now);

    CHECK(store.holder_of(gpu, "", now + ClaimStore::hold_time - seconds(1)));
    CHECK_FALSE(store.holder_of(gpu, "", now + ClaimStore::hold_time));
    CHECK(store.taken_in("gpu.example.com", "kn1", now + ClaimStore::hold_time)
              .empty());
}

TEST_CASE("while the worker is away a hold has no end, however long that takes")
{
    ClaimStore store;
    auto now = Clock::now();
    ObjectKey c{"default", "c"};
    std::map<DeviceId, Capacities> shares{
        {gpu, {{"memory", *Quantity::parse("2Gi")}}}};
    store.hold(c, "uid-of-c", "web", {gpu}, now, shares);
    store.hold(c, "uid-of-c", "api", {gpu}, now, shares); // shared by two
    auto later = now + 10 * ClaimStore::hold_time;
    store.hold({"default", "d"}, "uid-of-d", "db", {}, later); // sweeps up

    CHECK(store.holder_of(gpu, "", later) == "default/c");
    CHECK(store.taken_in("gpu.example.com", "kn1", later).contains("gpu-0"));
    CHECK(store.consumed_of(gpu, {}, later)->at("memory").text() == "2Gi");
    store.end_write(c, "web", later);
    store.release_hold("uid-of-c"); // the other one's worker is away
    CHECK(store.holder_of(gpu, "", later + ClaimStore::hold_time));
    store.end_write({"default", "d"}, "api", later); // another claim's
    CHECK(store.holder_of(gpu, "", later + ClaimStore::hold_time));

    store.end_write(c, "api", later);

    CHECK(store.holder_of(gpu, "", later + ClaimStore::hold_time - seconds(1)));
    CHECK_FALSE(store.holder_of(gpu, "", later + ClaimStore::hold_time));
    CHECK(store.consumed_of(gpu, {}, later + ClaimStore::hold_time)->empty());
}

TEST_CASE("what was held for an earlier try is held on")
{
    ClaimStore store;
    auto now = Clock::now();
    DeviceId other{gpu.driver, gpu.pool, "another"};
    store.hold({"default", "c"}, "uid-of-c", "web", {gpu}, now);
    store.end_write({"default", "c"}, "web", now);
    store.hold({"default", "c"}, "uid-of-c", "web", {other}, now + seconds(1));

    CHECK(store.holder_of(gpu, "", now + seconds(1)) == "default/c");
    CHECK(store.holder_of(other, "", now + seconds(1)) == "default/c");
    store.end_write({"default", "c"}, "web", now + seconds(2));
    auto end = now + seconds(2) + ClaimStore::hold_time;
    CHECK(store.holder_of(gpu, "", end - seconds(1))); // the later one's tells
    CHECK_FALSE(store.holder_of(gpu, "", end));
    CHECK(store.holder_of(other, "", end - seconds(1)));

    store.release_hold("uid-of-c");
    CHECK_FALSE(store.holder_of(other, "", now + seconds(2)));
}

TEST_CASE("what is no longer held does not come back with the next try")
{
    ClaimStore store;
    auto now = Clock::now();
    ObjectKey c{"default", "c"};
    DeviceId other{gpu.driver, gpu.pool, "another"};
    store.hold(c, "uid-of-c", "web", {gpu}, now,
               {{gpu, {{"memory", *Quantity::parse("2Gi")}}}});
    store.end_write(c, "web", now);
    auto later = now + ClaimStore::hold_time;

    store.hold(c, "uid-of-c", "web", {other}, later);

    CHECK_FALSE(store.holder_of(gpu, "", later));
    CHECK(store.consumed_of(gpu, {}, later)->empty());
    CHECK(store.taken_in("gpu.example.com", "kn1", later) ==
          std::set<std::string>{"another"});
    CHECK(store.holder_of(other, "", later) == "default/c");
}

TEST_CASE("of many holds those go that are over, and no others")
{
    ClaimStore store;
    auto now = Clock::now();
    auto later = now + ClaimStore::hold_time;
    auto device = [](int i) {
        return DeviceId{gpu.driver, gpu.pool, "gpu-" + std::to_string(i)};
    };
    auto hold = [&](int i, Clock::time_point when) {
        std::string name = "c" + std::to_string(i);
        store.hold({"default", name}, "uid-of-" + name, "web", {device(i)},
                   when);
        return ObjectKey{"default", name};
    };
    for (int i = 0; i < 100; i++) {
        ObjectKey claim = hold(i, now);
        if (i % 2 == 0)
            store.end_write(claim, "web", now);
    }
    for (int i = 100; i < 300; i++)
        hold(i, later);

    for (int i = 0; i < 300; i++) {
        CAPTURE(i);
        bool over = i < 100 && i % 2 == 0;
        CHECK(store.holder_of(device(i), "", later).has_value() != over);
        CHECK(store.taken_in("gpu.example.com", "kn1", later)
                  .contains(device(i).device) != over);
    }
    store.put(with_device("c150", "gpu-7")); // the watch knows better
    CHECK_FALSE(store.holder_of(device(150), "", later));
    CHECK(store.holder_of(device(7), "uid-of-c150", later) == "default/c7");
}

TEST_CASE("a device in two claims is noticed")
{
    ClaimStore store;
    store.replace({with_device("c", "gpu-0"), with_device("d", "gpu-0")});
    CHECK(store.taken_twice() == std::set<DeviceId>{gpu});
    store.remove({"default", "c"});
    CHECK(store.taken_twice().empty());
    CHECK(store.holder_of(gpu, "", Clock::now()) == "default/d");
}

TEST_CASE("a device that several claims have shares of is where it should be")
{
    std::string share = R"(,"shareID":"8f4474d0-b89b-4660-ae22-ba4ddc3c74ff")";
    ClaimStore store;
    store.replace(
        {with_device("c", "gpu-0", share), with_device("d", "gpu-0", share)});
    CHECK(store.taken_twice().empty());
    CHECK(store.holder_of(gpu, "uid-of-c", Clock::now()) == "default/d");

    store.put(with_device("e", "gpu-0")); // that one has all of it
    CHECK(store.taken_twice() == std::set<DeviceId>{gpu});
    store.remove({"default", "e"});
    CHECK(store.taken_twice().empty());
}

namespace {

ResourceClaim with_share(const std::string &name, const std::string &memory)
{
    return with_device(name, "gpu-0",
                       R"(,"shareID":"8f4474d0-b89b-4660-ae22-ba4ddc3c74ff",)"
                       R"("consumedCapacity":{"memory":")" +
                           memory + R"(","odd":"x","less":"-1"})");
}

// "2Gi", "all" when a claim has the whole device, or "" when nobody has any.
std::string consumed_in(const ClaimStore &store,
                        const std::set<std::string> &but_for = {},
                        Clock::time_point now = Clock::now())
{
    auto consumed = store.consumed_of(gpu, but_for, now);
    if (!consumed)
        return "all";
    auto memory = consumed->find("memory");
    return memory == consumed->end() ? "" : memory->second.text();
}

} // namespace

TEST_CASE("what shares of a device consume is summed up")
{
    ClaimStore store;
    CHECK(consumed_in(store) == "");
    store.replace({with_share("c", "2Gi"), with_share("d", "1Gi")});

    CHECK(consumed_in(store) == "3Gi");
    CHECK(consumed_in(store, {"uid-of-c"}) == "1Gi");
    CHECK_FALSE(store.consumed_of(gpu, {}, Clock::now())->contains("odd"));
    CHECK_FALSE(store.consumed_of(gpu, {}, Clock::now())->contains("less"));
    store.put(make_claim(claim_text("c", request_gpus(1))));
    CHECK(consumed_in(store) == "1Gi");
    store.put(with_device("c", "gpu-0")); // without a share: all of it
    CHECK(consumed_in(store) == "all");
    CHECK(consumed_in(store, {"uid-of-c"}) == "1Gi");
}

TEST_CASE("a share that is about to be written is consumed")
{
    ClaimStore store;
    auto now = Clock::now();
    std::map<DeviceId, Capacities> shares{
        {gpu, {{"memory", *Quantity::parse("2Gi")}}}};
    std::map<DeviceId, Capacities> less{
        {gpu, {{"memory", *Quantity::parse("1Gi")}}}};
    store.replace(
        {with_share("d", "1Gi"), make_claim(claim_text("c", request_gpus(1)))});
    store.hold({"default", "c"}, "uid-of-c", "web", {gpu}, now, shares);

    CHECK(consumed_in(store, {}, now) == "3Gi");
    CHECK(consumed_in(store, {"uid-of-c"}, now) == "1Gi");
    store.hold({"default", "c"}, "uid-of-c", "web", {gpu}, now, less);
    CHECK(consumed_in(store, {}, now) == "3Gi"); // the first may be there yet
    store.end_write({"default", "c"}, "web", now);
    CHECK(consumed_in(store, {}, now + ClaimStore::hold_time) == "1Gi");
    store.put(with_share("c", "2Gi")); // the watch knows
    CHECK(consumed_in(store, {}, now) == "3Gi");
    store.hold({"default", "e"}, "uid-of-e", "api", {gpu}, now); // all of it
    CHECK(consumed_in(store, {}, now) == "all");
}

TEST_CASE("whose shares are whose")
{
    ClaimStore store;
    ResourceClaim ours = with_share("c", "2Gi");
    ours.allocated_by_us = true;
    store.replace({ours, with_share("d", "1Gi")});

    DeviceClaims owners = store.owners();

    CHECK(owners.ours.contains(gpu));
    CHECK(owners.foreign.contains(gpu));
    CHECK(owners.shares.at(gpu).at("memory").text() == "3Gi");
    CHECK(owners.foreign_shares.at(gpu).at("memory").text() == "1Gi");
}
