// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gres/index.h"

#include <doctest/doctest.h>
#include <format>

using namespace bridge;

namespace {

DeviceId id(const std::string &device)
{
    return {"gpu.example.com", "n1", device};
}

// Letters are devices: small ones of type a100, capitals of type h100.
DevicesNow now(const std::string &names, bool known = true)
{
    DevicesNow made;
    for (char name : names)
        made.present.push_back(
            {"gpu", name >= 'a' ? "a100" : "h100", id(std::string(1, name))});
    if (known)
        made.known_pools = {{"gpu.example.com", "n1"}};
    return made;
}

// In the order of the indexes: '-' before what is absent, '.' for no device.
std::string shown(const DeviceIndex &index)
{
    std::string text;
    for (const auto &[gres, slots] : index.slots())
        for (const DeviceSlot &slot : slots) {
            text += slot.id.device.empty() ? "." : slot.absent ? "-" : "";
            text += slot.id.device;
        }
    return text;
}

DeviceIndex index_of(const std::string &names)
{
    DeviceIndex index;
    CHECK(index.update(now(names), {}));
    CHECK(shown(index) == names);
    return index;
}

std::set<GresIndex> used(std::initializer_list<std::uint32_t> indexes)
{
    std::set<GresIndex> made;
    for (std::uint32_t i : indexes)
        made.insert({"gpu", i});
    return made;
}

} // namespace

TEST_CASE("devices get indexes in the order in which they come")
{
    DeviceIndex index = index_of("abCd");

    CHECK(index.find(id("C")) == GresIndex{"gpu", 2});
    CHECK(index.at({"gpu", 2})->type == "h100");
    CHECK(index.at({"gpu", 4}) == nullptr);
    CHECK(index.at({"nic", 0}) == nullptr);
    CHECK(index.counts() ==
          std::vector<GresCount>{{"gpu", "a100", 3}, {"gpu", "h100", 1}});
    CHECK_FALSE(index.update(now("dCba"), {})); // whatever their order is later
    CHECK(shown(index) == "abCd");
}

TEST_CASE("a driver that starts anew leaves every index where it was")
{
    DeviceIndex index = index_of("abc");

    index.update(now("", false), {}); // its slices are away
    CHECK(shown(index) == "-a-b-c");
    index.update(now("b", false), {}); // a part of them is back
    CHECK(shown(index) == "-ab-c");
    index.update(now("cab"), {});
    CHECK(shown(index) == "abc");
}

TEST_CASE("a device takes the place of one that is gone and not used")
{
    DeviceIndex index = index_of("abc");

    CHECK(index.update(now("acd"), {}));

    CHECK(shown(index) == "adc");
    CHECK(index.update(now("abcd"), {}));
    CHECK(shown(index) == "adcb");
}

TEST_CASE("nobody takes the place of a device that is used")
{
    DeviceIndex index = index_of("abc");

    index.update(now("acd"), used({1}));

    CHECK(shown(index) == "a-bcd");
    CHECK(index.at({"gpu", 1})->absent);
}

TEST_CASE("nobody takes the place of a device whose pool is not known now")
{
    DeviceIndex index = index_of("abc");

    index.update(now("acd", false), {});

    CHECK(shown(index) == "a-bcd");
}

TEST_CASE("a device takes no place of another type")
{
    DeviceIndex index = index_of("abc");

    index.update(now("acD"), {});

    CHECK(shown(index) == "a-bcD");
}

TEST_CASE("a device that became another sort gets an index of that sort")
{
    DeviceIndex index = index_of("ab");
    DevicesNow changed = now("ab");
    changed.present[0].type = "mig";

    CHECK_FALSE(index.update(changed, used({0})));
    CHECK(index.at({"gpu", 0})->type == "a100");
    CHECK(index.update(changed, {}));
    CHECK(shown(index) == ".ba");
    CHECK(index.at({"gpu", 2})->type == "mig");
    index.update(now("abc"), {});
    CHECK(shown(index) == "ab.c");
}

TEST_CASE("a node that is created anew has indexes of what is there only")
{
    DeviceIndex index = index_of("abc");
    index.update(now("ac"), {});

    index.compact(now("ac", false)); // of which nobody knows whether it is gone
    CHECK(shown(index) == "a-bc");
    index.compact(now("ac"));

    CHECK(shown(index) == "ac");
    index.update(now(""), {});
    index.compact(now(""));
    CHECK(index == DeviceIndex{});
    CHECK(index.text() == "");
}

TEST_CASE("each GRES has indexes of its own, and a device is counted once")
{
    DevicesNow both = now("ab");
    both.present.push_back({"nic", "x", {"net", "n1", "a"}});
    both.present.push_back({"nic", "x", id("a")});
    DeviceIndex index;

    index.update(both, {});

    CHECK(index.find({"net", "n1", "a"}) == GresIndex{"nic", 0});
    CHECK(index.slots().at("nic").size() == 1);
}

TEST_CASE("what Slurm could not say gets no index")
{
    DevicesNow odd;
    odd.present = {{"gpu", "4", id("a")},         {"gpu", "a b", id("b")},
                   {"g:u", "a", id("c")},         {"gpu", "a", id("-d")},
                   {"gpu", "a", id("")},          {"gpu", "a", {"", "p", "e"}},
                   {"gpu", "a", {"d", "p|", "f"}}};
    DeviceIndex index;

    index.update(odd, {});

    CHECK(index.text() == "");
}

TEST_CASE("the text is short, and is read as it was written")
{
    DeviceIndex index = index_of("abC");
    CHECK(index.text() ==
          "k8sdev:1|gpu!a100@gpu.example.com/n1:a:b!h100@gpu.example.com/n1:C");

    DevicesNow changed = now("abC");
    changed.present[1].type = "mig";
    changed.present[2].id.pool = "racks/n1";
    index.update(changed, {});
    std::string text = index.text();
    CHECK(text == "k8sdev:1|gpu!a100@gpu.example.com/n1:a:-"
                  "!h100@gpu.example.com/racks/n1:C"
                  "!mig@gpu.example.com/n1:b");

    auto read = DeviceIndex::parse(text);
    REQUIRE(read.has_value());
    CHECK(*read == index);
    CHECK(read->text() == text);
    CHECK(DeviceIndex::parse("")->text() == "");
}

TEST_CASE("a text that is not ours is rejected")
{
    for (const char *text :
         {"k8sdev:2|gpu!a@d/p:x", "hello", "k8sdev:1|gpu", "k8sdev:1|gpu!",
          "k8sdev:1|!a@d/p:x", "k8sdev:1|gpu!a@d/p", "k8sdev:1|gpu!4@d/p:x",
          "k8sdev:1|gpu!a@d/p:x:x", "k8sdev:1|gpu!a@d/p:x|gpu!a@d/p:y",
          "k8sdev:1|gpu!a@d/p:x|nic!a@d/p:x", "k8sdev:1|gpu!a@dp:x",
          "k8sdev:1|gpu!a@d/p:x y", "k8sdev:1|gpu!a@d/p:--x",
          "k8sdev:1|gpu!a@/:x", "{\"json\":1}"}) {
        CAPTURE(text);
        auto read = DeviceIndex::parse(text);
        REQUIRE_FALSE(read.has_value());
        CHECK(read.error().code == Code::rejected);
    }
    std::string many = "k8sdev:1|gpu!a@d/p";
    for (std::size_t i = 0; i <= DeviceIndex::max_slots; i++)
        many += std::format(":{}", i);
    CHECK_FALSE(DeviceIndex::parse(many).has_value());
    CHECK_FALSE(DeviceIndex::parse(std::string(DeviceIndex::max_text + 1, 'x'))
                    .has_value());
}

TEST_CASE("as many devices get an index as their text can say")
{
    DevicesNow many;
    for (int i = 0; i < 3000; i++)
        many.present.push_back(
            {"gpu",
             "a",
             {"d", "p", std::format("{}-{}", i, std::string(50, 'x'))}});
    DeviceIndex index;

    index.update(many, {});

    CHECK(index.text().size() <= DeviceIndex::max_text);
    CHECK(index.slots().at("gpu").size() <= DeviceIndex::max_slots);
    auto read = DeviceIndex::parse(index.text());
    REQUIRE(read.has_value());
    CHECK(*read == index);
}
