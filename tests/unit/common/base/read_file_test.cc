// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/read_file.h"

#include "common/base/owned_fd.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

using namespace bridge;

namespace {

struct TestFile {
    explicit TestFile(std::string_view text)
    {
        OwnedFd made(::mkstemp(path.data()));
        std::ofstream(path) << text;
    }
    ~TestFile() { std::filesystem::remove(path); }

    std::string path = std::filesystem::temp_directory_path() / "readXXXXXX";
};

} // namespace

TEST_CASE("a file is read as it is, up to the limit")
{
    std::string large(200'000, 'x');
    std::string zero("a\0b\n", 4);

    CHECK(read_file(TestFile("").path, 0) == "");
    CHECK(read_file(TestFile(zero).path, 4) == zero);
    CHECK(read_file(TestFile(large).path, large.size()) == large);
    CHECK(read_file(TestFile(large).path, any_size) == large);
    auto too_long = read_file(TestFile(large).path, large.size() - 1);
    REQUIRE_FALSE(too_long);
    CHECK(too_long.error().code == Code::rejected);
}

TEST_CASE("a file that reports no size is read")
{
    auto text = read_file("/proc/self/stat", 4096);

    REQUIRE(text);
    CHECK_FALSE(text->empty());
}

TEST_CASE("why a file cannot be read")
{
    auto gone = read_file("/nonexistent", any_size);
    auto directory = read_file("/", any_size);

    REQUIRE_FALSE(gone);
    CHECK(gone.error().code == Code::not_found);
    CHECK(gone.error().message == "No such file or directory");
    REQUIRE_FALSE(directory);
    CHECK(directory.error().code == Code::busy);
    CHECK(directory.error().message == "Is a directory");
}
