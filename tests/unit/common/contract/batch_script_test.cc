// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/batch_script.h"

#include "common/contract/batch_options.h"
#include "common/contract/script_dir.h"
#include "common/slurm/job.h"
#include "tests/unit/fakes/store_script.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>

using namespace bridge;

namespace {

const std::string name = "0123456789abcdef0123456789abcdef";

BatchScript sample()
{
    return {.user_id = 1001,
            .group_id = 1002,
            .image = "busybox:stable",
            .work_dir = "/home/a=b\n",
            .script = "#!/bin/sh\necho \xff\n",
            .arguments = {"a b", "", "=", "env=X"},
            .environment = {"A=1", "B==", "C=line\nline", "D"},
            .output = "%x/%j.out",
            .error = "append=no",
            .append = true,
            .array = "1-10:3%2",
            .input = "in=%x",
            .signal = 10,
            .signal_seconds = 65535,
            .variables = {"PATH=/a b", "X="},
            .volumes = {"data", "scratch"},
            .service_account = "spark",
            .name_space = "jobs",
            .step_key = std::string(64, 'a')};
}

} // namespace

TEST_CASE("a batch script is read as it was written, whatever is in it")
{
    for (const BatchScript &batch :
         {sample(), BatchScript{}, BatchScript{.script = "end=\nuid=0"}})
        CHECK(decode_batch_script(encode(batch)) == batch);
}

TEST_CASE("no part of a batch script is taken for a whole one")
{
    std::string text = encode(sample());

    for (std::size_t size = 0; size < text.size(); size++) {
        CAPTURE(size);
        CHECK_FALSE(decode_batch_script(text.substr(0, size)));
    }
    CHECK_FALSE(decode_batch_script(text + "x"));
    CHECK_FALSE(decode_batch_script(text + std::string("uid=0\0", 6)));
}

TEST_CASE("a record that is bad, or comes twice, is refused")
{
    std::string text = encode(sample());
    auto with = [&](std::string record) {
        std::string changed = text;
        record.push_back('\0');
        return changed.insert(text.find('\0') + 1, record);
    };

    CHECK_FALSE(decode_batch_script(with("uid=0")));
    CHECK_FALSE(decode_batch_script(with("image=x")));
    CHECK_FALSE(decode_batch_script(with("array=1-2")));
    CHECK_FALSE(decode_batch_script(with("key=" + std::string(64, 'a'))));
    CHECK_FALSE(decode_batch_script(with("in=x")));
    CHECK_FALSE(decode_batch_script(with("signal=10")));
    CHECK_FALSE(decode_batch_script(with("uid")));
    for (const char *bad : {"colour", "=red", "Colour=red", "col our=red"}) {
        auto decoded = decode_batch_script(with(bad));
        REQUIRE_FALSE(decoded);
        CHECK(decoded.error().code == Code::rejected);
    }
    CHECK(decode_batch_script(with("env=X=1")));
}

TEST_CASE("what a later release has written is neither run nor refused")
{
    const std::string text = encode(sample());
    std::string record = text, format = text;
    record.insert(text.find('\0') + 1, std::string("colour=red\0", 11));
    format.replace(0, text.find('\0'), "slurmk8s=2");

    for (const std::string &later : {record, format}) {
        auto decoded = decode_batch_script(later);
        REQUIRE_FALSE(decoded);
        CHECK(decoded.error().code == Code::newer);
        CHECK(decoded.error().message.contains("later release"));
    }
    // But an incomplete one may mean anything.
    record.resize(record.size() - 1);
    CHECK(decode_batch_script(record).error().code == Code::rejected);
}

TEST_CASE("what was written before there were signals, input and keys is read")
{
    std::string text = encode(BatchScript{});

    CHECK_FALSE(text.contains("signal="));
    CHECK_FALSE(text.contains(std::string_view("\0key=", 5)));
    CHECK_FALSE(text.contains(std::string_view("\0in=", 4)));
    for (std::string record : {"signal=65536", "signal=x", "seconds=-1",
                               "key=", "key=abc", "key=/etc"}) {
        std::string changed = text;
        record.push_back('\0');
        CHECK_FALSE(
            decode_batch_script(changed.insert(text.find('\0') + 1, record)));
    }
}

TEST_CASE("an image's name is looked at")
{
    for (const char *good :
         {"busybox", "busybox:1.36", "registry.example.com:5000/a/b_c:v1",
          "localhost/a--b.c__d", "a", "Reg.Example.com/a",
          "a/b:V_1.x-@sha256:0123456789abcdef0123456789"
          "abcdef0123456789abcdef0123456789abcdef"})
        CHECK(unfit_image_reason(good).empty());
    for (const std::string &bad :
         {std::string(), std::string("a b"), std::string("-a"),
          std::string("a\nb"), std::string("a/"), std::string(513, 'a'),
          std::string("a\xc3\xa9"), std::string("$(id)"),
          // what a kubelet would call InvalidImageName for ever
          std::string("Ubuntu:24.04"), std::string("a::b"), std::string("a//b"),
          std::string("x@y"), std::string("a:b:c"),
          std::string("a@sha256:0123"), std::string("a:"), std::string("a_-b"),
          std::string("a..b"), std::string("r.example.com:x/a"),
          std::string("r..com/a"), std::string("r.com./a"),
          std::string("-r.com/a"), std::string("r.com/"),
          std::string("a:") + std::string(129, 'b'), std::string(":a"),
          std::string("@a"), std::string("/a"), std::string("a:.b")}) {
        CAPTURE(bad.substr(0, 20));
        CHECK_FALSE(unfit_image_reason(bad).empty());
    }
}

TEST_CASE("the values of sbatch's other options are looked at")
{
    for (const char *good : {"A=", "_a1=b=c\nd", "PATH=/bin"})
        CHECK(unfit_variable_reason(good).empty());
    for (const std::string &bad :
         {std::string(), std::string("A"), std::string("=b"),
          std::string("1A=b"), std::string("A-B=c"), std::string("-i=c"),
          std::string("SLURM_JOB_ID=1"), std::string("SLURMD_X=1"),
          "A=" + std::string(70000, 'x'), std::string("A=\0", 3)}) {
        CAPTURE(bad.substr(0, 20));
        CHECK_FALSE(unfit_variable_reason(bad).empty());
    }
    for (const char *good : {"data", "a,b-1"})
        CHECK(unfit_volumes_reason(good).empty());
    for (const char *bad : {"", "a,", ",a", "a,,b", "A", "a b", "-a", "../a"}) {
        CAPTURE(bad);
        CHECK_FALSE(unfit_volumes_reason(bad).empty());
    }
    std::string names = "a";
    while (names.size() + 2 <= 4096)
        names += ",a";
    CHECK(unfit_volumes_reason(names).empty());
    CHECK(unfit_volumes_reason(names + ",a").contains("4096 characters"));
    CHECK(unfit_object_name_reason("a.b-c").empty());
    for (const char *bad : {"", "A", ".a", "a-", "a/b", "a b", "a,b"}) {
        CAPTURE(bad);
        CHECK_FALSE(unfit_object_name_reason(bad).empty());
    }
}

TEST_CASE("the tag of a batch job without a Pod has its script and no uid")
{
    auto tag = decode_gang_tag(batch_tag(name));

    REQUIRE(tag);
    CHECK(tag->script == name);
    CHECK(tag->uid.empty());
    tag->uid = "u";
    tag->gang = "jobs/job-1";
    CHECK(decode_gang_tag(encode(*tag)) == tag);
    CHECK_FALSE(decode_gang_tag(batch_tag("../../etc/shadow")));
    CHECK_FALSE(decode_gang_tag(batch_tag(name + "0")));
}

TEST_CASE("a script's file is its owner's alone, and gone when it is removed")
{
    TemporaryDirectory directory;
    ScriptDir scripts(directory.path + "/k8s_sbatch");
    CHECK(scripts.list().value().empty());

    auto first = store_script(scripts, "one");
    auto second = store_script(scripts, "two");

    REQUIRE(first.has_value());
    REQUIRE(second.has_value());
    CHECK(*first != *second);
    struct stat facts{};
    REQUIRE(stat((directory.path + "/k8s_sbatch/" + *first).c_str(), &facts) ==
            0);
    CHECK((facts.st_mode & 0777) == 0600);
    REQUIRE(stat((directory.path + "/k8s_sbatch").c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0700);
    CHECK(scripts.read(*first) == "one");
    CHECK(scripts.list().value().size() == 2);
    CHECK(scripts.remove(*first).has_value());
    CHECK(scripts.remove(*first).has_value());
    CHECK(scripts.read(*first).error().code == Code::not_found);
    CHECK(scripts.read(*second) == "two");
}

TEST_CASE("a directory that is away, or not ours alone, says nothing of a file")
{
    TemporaryDirectory directory;
    ScriptDir scripts(directory.path + "/k8s_sbatch");
    std::string first = store_script(scripts, "one").value();
    CHECK(scripts.may_exist(first));
    CHECK_FALSE(scripts.may_exist(name));

    std::filesystem::permissions(directory.path + "/k8s_sbatch",
                                 std::filesystem::perms::group_write,
                                 std::filesystem::perm_options::add);
    CHECK(scripts.read(name).error().code == Code::busy);
    CHECK_FALSE(store_script(scripts, "two"));
    CHECK(scripts.may_exist(name));
    CHECK_FALSE(scripts.list());
    std::filesystem::remove_all(directory.path + "/k8s_sbatch");
    CHECK(scripts.read(first).error().code == Code::busy);
    CHECK(scripts.may_exist(first));
}

TEST_CASE("no other file is read, removed or listed as a script")
{
    TemporaryDirectory directory;
    ScriptDir scripts(directory.path);
    std::ofstream(directory.path + "/secret") << "x";
    std::filesystem::create_symlink(directory.path + "/secret",
                                    directory.path + "/" + name);

    CHECK_FALSE(scripts.read("secret"));
    CHECK_FALSE(scripts.read("../" + name));
    CHECK_FALSE(scripts.read(name)); // a link
    CHECK_FALSE(scripts.remove("secret"));
    CHECK(std::filesystem::exists(directory.path + "/secret"));
}
