// SPDX-License-Identifier: GPL-2.0-or-later
// What kube-scheduler's own code answers to selectors: see tests/cel/README.md.
#include "tests/unit/cel/device.h"

#include <fstream>

using namespace bridge;

namespace {

std::string expanded(std::string text)
{
    constexpr std::string_view attributes =
        "device.attributes['gpu.example.com']";
    for (std::size_t at = 0; (at = text.find('@', at)) != text.npos;
         at += attributes.size())
        text.replace(at, 1, attributes);
    return text;
}

// Either keeps the device from being used.
std::string without_stage(const std::string &answer)
{
    return answer == "refused" ? "error" : answer;
}

} // namespace

TEST_CASE("selectors have the answers of kube-scheduler")
{
    std::ifstream answers(TEST_DATA_DIR "/../cel/answers.txt");
    bool supported = true;
    std::size_t compared = 0;
    for (std::string line; std::getline(answers, line);) {
        if (line.starts_with("# Not supported here"))
            supported = false;
        std::size_t tab = line.find('\t');
        if (tab == line.npos)
            continue;
        std::string text = line.substr(tab + 1);
        CAPTURE(text);
        std::string ours = verdict(expanded(text));
        if (supported)
            CHECK(without_stage(ours) == without_stage(line.substr(0, tab)));
        else
            CHECK(ours == "refused");
        compared++;
    }
    CHECK(!supported);
    CHECK(compared > 100);
}
