// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/hook_message.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using Type = HookMessage::Type;

namespace {

const JobRef job{812, Sluid{UINT64_MAX}};

} // namespace

TEST_CASE("each message is read as it was written")
{
    const HookMessage rows[] = {
        {.type = Type::hello, .version = 1, .cluster = "c", .host = "h"},
        {.type = Type::allocated, .job = job, .nodes = "n[1-4]"},
        {.type = Type::allocated,
         .job = job,
         .nodes = "n1",
         .dirty = "n1",
         .cpus = 16,
         .ours = true,
         .batch = true},
        {.type = Type::ended, .job = job, .nodes = "n1"},
        {.type = Type::ended, .job = job},
        {.type = Type::resync},
        {.type = Type::bridge, .nodes = "kn[1-4],real1"},
        {.type = Type::bridge},
        {.type = Type::synced, .dirty = "kn1"},
        {.type = Type::synced},
        {.type = Type::synced, .dirty = "kn1", .more = true},
        {.type = Type::start, .job = job},
        {.type = Type::fail, .job = job, .rc = 256},
        {.type = Type::fail, .job = job, .rc = -1},
        {.type = Type::clean, .job = job},
        {.type = Type::kick},
        {.type = Type::ping},
        {.type = Type::pong},
    };
    for (const HookMessage &row : rows) {
        std::string packet = encode(row);
        CAPTURE(packet);
        auto message = decode_hook_message(packet);
        REQUIRE(message);
        CHECK(*message == row);
        CHECK(packet.find('\n') == packet.npos);
        CHECK(packet.size() < max_packet);
    }
    CHECK(encode({}).empty());
}

TEST_CASE("a message is written as documented")
{
    CHECK(encode({.type = Type::allocated,
                  .job = {7, Sluid{32}},
                  .nodes = "n1",
                  .ours = true}) ==
          R"({"type":"allocated","job":7,"sluid":"s0000000000010",)"
          R"("nodes":"n1","ours":true})");
}

TEST_CASE("a type and fields that we do not know are passed over")
{
    auto newer = decode_hook_message(R"({"type":"novel","job":"x"})");
    auto fields = decode_hook_message(R"({"type":"kick","a":{"b":[1]}})");

    REQUIRE(newer);
    CHECK(newer->type == Type::unknown);
    REQUIRE(fields);
    CHECK(*fields == HookMessage{.type = Type::kick});
}

TEST_CASE("a hostile packet is rejected")
{
    const std::string sluid = "\"sluid\":\"s0000000000010\"";
    const std::string rows[] = {
        "",
        "kick",
        "null",
        "[]",
        "7",
        "{}",
        "{",
        R"({"type":""})",
        R"({"type":7})",
        R"({"type":null})",
        R"({"type":["kick"]})",
        R"({"kick":true})",
        R"({"type":"start"})",
        R"({"type":"start","job":7})",
        "{\"type\":\"start\"," + sluid + "}",
        "{\"type\":\"start\",\"job\":0," + sluid + "}",
        "{\"type\":\"start\",\"job\":-1," + sluid + "}",
        "{\"type\":\"start\",\"job\":4294967296," + sluid + "}",
        "{\"type\":\"start\",\"job\":1.5," + sluid + "}",
        "{\"type\":\"start\",\"job\":\"7\"," + sluid + "}",
        R"({"type":"start","job":7,"sluid":""})",
        R"({"type":"start","job":7,"sluid":16})",
        R"({"type":"start","job":7,"sluid":"0000000000010"})",
        R"({"type":"clean","job":7,"sluid":"sG000000000000"})",
        R"({"type":"allocated","nodes":"n1"})",
        R"({"type":"kick"} {"type":"kick"})",
        "{\"type\":\"kick\xff\"}",
        std::string(max_packet, '['),
        std::string(max_packet, '\0'),
    };
    for (const std::string &row : rows) {
        CAPTURE(row.substr(0, 80));
        auto message = decode_hook_message(row);
        REQUIRE_FALSE(message);
        CHECK(message.error().code == Code::rejected);
    }
}

// A status of 0 would let the prolog end well.
TEST_CASE("a fail without a status that fails is rejected")
{
    const std::string front =
        R"({"type":"fail","job":7,"sluid":"s0000000000010")";
    for (const char *rest :
         {"}", ",\"rc\":0}", ",\"rc\":\"256\"}", ",\"rc\":2.5}",
          ",\"rc\":4294967296}", ",\"rc\":null}"}) {
        CAPTURE(rest);
        auto message = decode_hook_message(front + rest);
        REQUIRE_FALSE(message);
        CHECK(message.error().code == Code::rejected);
    }
    CHECK(decode_hook_message(front + ",\"rc\":256}"));
}

TEST_CASE("fields of a wrong type count as missing")
{
    auto message = decode_hook_message(
        R"({"type":"allocated","job":7,"sluid":"s0000000000010",)"
        R"("nodes":["n1"],"ours":"true","dirty":3,"version":9e99})");

    REQUIRE(message);
    CHECK(message->nodes == "");
    CHECK(message->dirty == "");
    CHECK_FALSE(message->ours);
    CHECK(message->version == 0);
}

TEST_CASE("a node list that is no UTF-8 still makes a packet")
{
    std::string packet = encode({.type = Type::bridge, .nodes = "n\xff"});

    auto message = decode_hook_message(packet);

    REQUIRE(message);
    CHECK(message->nodes == "n?");
}

TEST_CASE("a hostlist is cut to one that names some of its nodes")
{
    const std::string list = "n[1-3,7,9],m1,k[2,4]";

    CHECK(cut_hostlist(list, list.size()) == list);
    CHECK(cut_hostlist(list, list.size() - 1) == "n[1-3,7,9],m1,k[2]");
    CHECK(cut_hostlist(list, 14) == "n[1-3,7,9],m1");
    CHECK(cut_hostlist(list, 13) == "n[1-3,7,9]");
    CHECK(cut_hostlist(list, 8) == "n[1-3,7]");
    CHECK(cut_hostlist(list, 6) == "n[1-3]");
    CHECK(cut_hostlist(list, 5).empty());
    for (std::size_t longest = 0; longest <= list.size(); longest++)
        CHECK(cut_hostlist(list, longest).size() <= longest);
}

TEST_CASE("the longest lists fit into one packet together")
{
    const std::string longest(max_packet_list, 'n');

    CHECK(encode({.type = Type::allocated,
                  .job = {4'000'000'000, Sluid{~0ull}},
                  .nodes = longest,
                  .dirty = longest,
                  .cpus = 4'000'000'000,
                  .ours = true,
                  .batch = true})
              .size() <= max_packet);
}
