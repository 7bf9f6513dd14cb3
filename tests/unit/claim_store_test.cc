// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/claim_store.h"

#include "agent/extended_claim.h"
#include "tests/unit/claims.h"

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

TEST_CASE("what is held for a claim before it is made is that claim's then")
{
    ClaimStore store;
    auto now = Clock::now();
    store.replace({});
    store.hold({"default", "c"}, uid_until_made("uid-web"), {gpu}, now);
    CHECK(store.holder_of(gpu, "uid-of-c", now) == "default/c");
    ResourceClaim made = make_claim(
        claim_text("c", request_gpus(1), "uid-web"));
    made.for_extended_resources = true;
    ResourceClaim other = made; // of the same Pod, by another's hand
    other.key.name = "d";
    other.uid = "uid-of-d";
    store.put(other);
    CHECK(store.holder_of(gpu, "uid-of-d", now) == "default/c");

    store.put(made);

    CHECK(store.holder_of(gpu, "uid-of-c", now) == std::nullopt);
    CHECK(store.holder_of(gpu, uid_until_made("uid-web"), now) ==
          "default/c");
    made.allocated = true; // with other devices than that: the watch knows
    store.put(made);
    CHECK(store.holder_of(gpu, "", now) == std::nullopt);
}

TEST_CASE("a device that is about to be written into a claim is taken")
{
    ClaimStore store;
    auto now = Clock::now();
    store.replace({make_claim(claim_text("c", request_gpus(1)))});
    store.hold({"default", "c"}, "uid-of-c", {gpu}, now);

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
    store.hold({"default", "c"}, "uid-of-c", {gpu}, now);

    CHECK(store.holder_of(gpu, "", now + ClaimStore::hold_time - seconds(1)));
    CHECK_FALSE(store.holder_of(gpu, "", now + ClaimStore::hold_time));
    CHECK(store.taken_in("gpu.example.com", "kn1",
                         now + ClaimStore::hold_time)
              .empty());
}

TEST_CASE("what was held for an earlier try is held on")
{
    ClaimStore store;
    auto now = Clock::now();
    DeviceId other{gpu.driver, gpu.pool, "another"};
    store.hold({"default", "c"}, "uid-of-c", {gpu}, now);
    store.hold({"default", "c"}, "uid-of-c", {other}, now + seconds(1));

    CHECK(store.holder_of(gpu, "", now + seconds(1)) == "default/c");
    CHECK(store.holder_of(other, "", now + seconds(1)) == "default/c");
    CHECK_FALSE(store.holder_of(gpu, "", now + ClaimStore::hold_time));
    CHECK(store.holder_of(other, "", now + ClaimStore::hold_time));

    store.release_hold("uid-of-c");
    CHECK_FALSE(store.holder_of(other, "", now + seconds(2)));
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
    store.replace({with_device("c", "gpu-0", share),
                   with_device("d", "gpu-0", share)});
    CHECK(store.taken_twice().empty());
    CHECK(store.holder_of(gpu, "uid-of-c", Clock::now()) == "default/d");

    store.put(with_device("e", "gpu-0")); // that one has all of it
    CHECK(store.taken_twice() == std::set<DeviceId>{gpu});
    store.remove({"default", "e"});
    CHECK(store.taken_twice().empty());
}
