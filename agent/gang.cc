// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/gang.h"

#include "common/names.h"

#include <algorithm>
#include <charconv>

namespace bridge {

std::uint32_t generation_of(const Pod &pod)
{
    std::string text = pod.annotation(names::generation_annotation);
    std::uint32_t value = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    bool whole = error == std::errc() && end == text.data() + text.size();
    return whole ? value : 0;
}

std::uint32_t generation_of(const Gang &gang)
{
    std::uint32_t highest = gang.least_generation;
    for (const PodPtr &pod : gang.pods)
        highest = std::max(highest, generation_of(*pod));
    return highest;
}

} // namespace bridge
