// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/slurm/tres_memory.h"

#include "common/base/text.h"

#include <charconv>
#include <cmath>
#include <string>

namespace bridge {

namespace {

constexpr std::string_view key = "mem=";
constexpr double most = 1ull << 50; // MiB; exact as a double

Result<MebiBytes> amount_of(std::string_view text)
{
    auto bad = [&] {
        return fail(Code::internal,
                    "cannot parse \"mem=" + std::string(text.substr(0, 40)) +
                        "\" from slurmctld");
    };
    double amount = 0;
    const char *last = text.data() + text.size();
    auto [end, error] =
        std::from_chars(text.data(), last, amount, std::chars_format::fixed);
    if (error != std::errc() || !(amount >= 0))
        return bad();
    constexpr std::string_view units = "MGTP"; // slurmctld counts in MiB
    std::string_view unit =
        text.substr(static_cast<std::size_t>(end - text.data()));
    std::size_t power = unit.empty() ? 0 : units.find(unit.front());
    if (unit.size() > 1 || power == units.npos)
        return bad();
    amount *= static_cast<double>(1ull << (10 * power));
    if (!(amount <= most))
        return bad();
    return MebiBytes{static_cast<std::uint64_t>(std::floor(amount))};
}

} // namespace

Result<MebiBytes> tres_memory(std::string_view tres)
{
    while (!tres.empty()) {
        std::string_view one = next_part(tres, ',');
        if (one.starts_with(key))
            return amount_of(one.substr(key.size()));
    }
    return MebiBytes{};
}

} // namespace bridge
