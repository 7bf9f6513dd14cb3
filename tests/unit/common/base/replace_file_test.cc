// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/replace_file.h"

#include "common/base/read_file.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace bridge;

namespace {

mode_t mode_of(const std::string &path)
{
    struct stat facts{};
    REQUIRE(lstat(path.c_str(), &facts) == 0);
    return facts.st_mode;
}

} // namespace

TEST_CASE("a file is replaced with its mode, and nothing else is left")
{
    TemporaryDirectory directory;
    const std::string path = directory.path + "/token";

    for (const char *text : {"one\n", "two\n"}) {
        REQUIRE(replace_file(path, text, {.mode = 0400}));
        CHECK(read_file(path, any_size) == text);
        CHECK(mode_of(path) == (S_IFREG | 0400));
    }

    CHECK_FALSE(std::filesystem::exists(path + ".new"));
}

TEST_CASE("the owner is set before anything is written")
{
    TemporaryDirectory directory;
    const std::string path = directory.path + "/token";

    auto done =
        replace_file(path, "x", {.mode = 0600, .owner = 64030, .group = 64031});

    if (geteuid() != 0) {
        CHECK(done.error().code == Code::denied);
        CHECK_FALSE(std::filesystem::exists(path));
        return;
    }
    struct stat facts{};
    REQUIRE(stat(path.c_str(), &facts) == 0);
    CHECK(facts.st_uid == 64030);
    CHECK(facts.st_gid == 64031);
}

TEST_CASE("links are replaced, not followed, and what a crash has left is "
          "no obstacle")
{
    TemporaryDirectory directory;
    const std::string path = directory.path + "/conf";
    const std::string other = directory.path + "/other";
    std::ofstream(other) << "other";
    std::filesystem::create_symlink(other, path);
    std::filesystem::create_symlink(other, path + ".new");

    REQUIRE(replace_file(path, "new", {}));

    CHECK(read_file(other, any_size) == "other");
    CHECK(read_file(path, any_size) == "new");
    CHECK(S_ISREG(mode_of(path)));
}

TEST_CASE("a file in a directory that is not there is not written")
{
    TemporaryDirectory directory;
    auto done = replace_file(directory.path + "/none/file", "x", {});
    REQUIRE_FALSE(done);
    CHECK(done.error().message.contains("/none/file"));
}

TEST_CASE("the directory of a file")
{
    CHECK(directory_of("/a/b") == "/a");
    CHECK(directory_of("/a") == "/");
    CHECK(directory_of("a") == ".");
}
