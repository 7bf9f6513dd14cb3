// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/token_file.h"

#include <cstdlib>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

struct TokenPath {
    TokenPath() { ::close(::mkstemp(path.data())); }
    ~TokenPath() { std::filesystem::remove(path); }
    void write(const std::string &text) { std::ofstream(path) << text; }

    std::string path = std::filesystem::temp_directory_path() / "tokenXXXXXX";
};

} // namespace

TEST_CASE("the token is read again after a minute, or when it was refused")
{
    TokenPath file;
    file.write("one\r\n");
    TokenFile token(file.path);
    TokenFile::Clock::time_point now{};

    CHECK(token.read(now) == "one");
    file.write("two");
    CHECK(token.read(now + 59s) == "one");
    CHECK(token.read(now + 60s) == "two");
    file.write("three");
    token.forget();
    CHECK(token.read(now + 61s) == "three");
}

TEST_CASE("a token that is gone, empty or no word is denied")
{
    TokenPath file;
    TokenFile token(file.path);
    for (std::string text : {"", "\n\n", "a\nb", "a b", "a\x7f", "\xc3\xa4"}) {
        CAPTURE(text);
        file.write(text);
        auto read = token.read({});
        REQUIRE(!read.has_value());
        CHECK(read.error().code == Code::denied);
        CHECK(read.error().message.contains(file.path));
    }
    std::filesystem::remove(file.path);
    CHECK(token.read({}).error().message ==
          "there is no token in " + file.path + ": No such file or directory");
}

// Tests may run as root, who may read any file.
TEST_CASE("a token that cannot be read says whose it is and as whom we run")
{
    std::string path = std::filesystem::temp_directory_path();

    std::string message = TokenFile(path).read({}).error().message;

    CHECK(message.contains("the token in " + path +
                           " cannot be read: Is a directory: its owner is "));
    CHECK(message.contains(", and this process runs as "));
    CHECK(TokenFile("/proc/1/none/token")
              .read({})
              .error()
              .message.contains("there is no token"));
}
