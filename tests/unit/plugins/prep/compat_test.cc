// SPDX-License-Identifier: GPL-2.0-or-later
// What the plugins and the agent of the release before (commit 7d40a22) say and
// write, as it was recorded, and what this release makes of it. A change that
// fails here would break an upgrade: plugins and agent may differ by one
// release. tests/long/60-compat.t tries it with the programs themselves.
#include "common/contract/batch_script.h"
#include "common/contract/hook_message.h"
#include "plugins/prep/gate_file.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <fstream>
#include <string>

using namespace bridge;
using Type = HookMessage::Type;

namespace {

constexpr JobRef job{17, Sluid{12345}};

std::string of_job(const std::string &type, const std::string &rest = "")
{
    return R"({"type":")" + type + R"(","job":17,"sluid":")" + job.sluid.str() +
           R"(")" + rest + "}";
}

void check_read(const std::string &packet, const HookMessage &wanted)
{
    CAPTURE(packet);
    auto read = decode_hook_message(packet);
    REQUIRE(read);
    CHECK(*read == wanted);
}

} // namespace

TEST_CASE("the messages of the release before are read")
{
    check_read(
        R"({"type":"hello","version":1,"cluster":"c","host":"h"})",
        {.type = Type::hello, .version = 1, .cluster = "c", .host = "h"});
    check_read(of_job("allocated", R"(,"nodes":"n[1-2]","dirty":"n1,n2",)"
                                   R"("cpus":4,"ours":true,"batch":true)"),
               {.type = Type::allocated,
                .job = job,
                .nodes = "n[1-2]",
                .dirty = "n1,n2",
                .cpus = 4,
                .ours = true,
                .batch = true});
    check_read(of_job("ended", R"(,"nodes":"n1")"),
               {.type = Type::ended, .job = job, .nodes = "n1"});
    check_read(R"({"type":"resync"})", {.type = Type::resync});
    check_read(R"({"type":"bridge","nodes":"n1,n2","more":true})",
               {.type = Type::bridge, .nodes = "n1,n2", .more = true});
    check_read(R"({"type":"synced","dirty":"n1"})",
               {.type = Type::synced, .dirty = "n1"});
    check_read(R"({"type":"synced"})", {.type = Type::synced});
    check_read(of_job("start"), {.type = Type::start, .job = job});
    check_read(of_job("fail", R"(,"rc":256)"),
               {.type = Type::fail, .job = job, .rc = 256});
    check_read(of_job("clean"), {.type = Type::clean, .job = job});
    check_read(R"({"type":"kick"})", {.type = Type::kick});
    check_read(R"({"type":"ping"})", {.type = Type::ping});
}

TEST_CASE("the release before reads the messages of this one")
{
    // Its reader knows these keys and no others; it passes others over, so
    // what it must know has to be in them.
    HookMessage allocated{.type = Type::allocated,
                          .job = job,
                          .nodes = "n1",
                          .dirty = "n1",
                          .cpus = 2,
                          .ours = true,
                          .batch = true};
    CHECK(encode(allocated) == of_job("allocated",
                                      R"(,"nodes":"n1","dirty":"n1","cpus":2,)"
                                      R"("ours":true,"batch":true)"));
    HookMessage start{.type = Type::start, .job = job};
    CHECK(encode(start) == of_job("start"));
    HookMessage clean{.type = Type::clean, .job = job};
    CHECK(encode(clean) == of_job("clean"));
    HookMessage bridge{.type = Type::bridge, .nodes = "n1", .more = true};
    CHECK(encode(bridge) == R"({"type":"bridge","nodes":"n1","more":true})");
    CHECK(hook_protocol_version == 1);
}

TEST_CASE("the gate file of the release before is read, and ours by it")
{
    const std::string written =
        R"({"version":1,"bridge":["n1","n2"],"dirty":["n2"]})";
    const GateMemory memory{{"n1", "n2"}, {"n2"}};
    TemporaryDirectory dir;
    std::string path = dir.path + "/k8s_gate";
    std::ofstream(path) << written;

    CHECK(GateFile(path).load() == memory);

    std::string ours = dir.path + "/ours";
    REQUIRE(GateFile(ours).save(memory));
    std::ifstream file(ours);
    CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == written);
}

TEST_CASE("the scripts of the release before are read, and ours by it")
{
    using namespace std::string_literals;
    const std::string written =
        "slurmk8s=1\0uid=1001\0gid=1001\0append=no\0in=/in\0image=busybox\0"
        "dir=/home/a\0script=#!/bin/sh\ntrue\n\0out=o-%j\0err=\0account=\0"
        "namespace=\0arg=1\0env=HOME=/home/a\0var=A=1\0volume=v:/v\0end=\0"s;

    auto read = decode_batch_script(written);

    REQUIRE(read);
    CHECK(read->user_id == 1001);
    CHECK(read->image == "busybox");
    CHECK(read->script == "#!/bin/sh\ntrue\n");
    CHECK(read->output == "o-%j");
    CHECK(read->volumes == std::vector<std::string>{"v:/v"});
    CHECK(encode(*read) == written);
}
