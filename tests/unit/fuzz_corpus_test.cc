// SPDX-License-Identifier: GPL-2.0-or-later
// Every input that the fuzz targets were given by hand or found on their own.
#include "tests/fuzz/targets.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

using namespace bridge;

TEST_CASE("the parsers keep their promises over the whole corpus")
{
    for (auto targets :
         {value_targets(), object_targets(), wire_targets(), device_targets()})
        for (const FuzzTarget &target : targets) {
            std::filesystem::path corpus =
                std::filesystem::path(FUZZ_CORPUS_DIR) / target.name;
            CAPTURE(corpus.string());
            std::size_t inputs = 0;
            for (const auto &file :
                 std::filesystem::directory_iterator(corpus)) {
                std::ifstream stream(file.path(), std::ios::binary);
                std::string input(std::istreambuf_iterator<char>(stream), {});
                CAPTURE(file.path().string());
                target.run(input);
                inputs++;
            }
            CHECK(inputs > 0);
        }
}
