// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/capacity_gres.h"

#include "common/base/text.h"
#include "common/contract/device_gres.h"
#include "common/contract/gres_words.h"

#include <format>

namespace bridge {

namespace {

constexpr std::size_t shown = 64;

// Slurm derives these counts from the devices of its GRES gpu.
bool is_slurms_own(std::string_view gres)
{
    return gres == "shard" || gres == "mps";
}

Result<CapacityGres> parse_one(std::string_view text)
{
    std::string whole(text.substr(0, shown));
    CapacityGres made;
    std::string_view what = trim_spaces(next_part(text, ':'));
    made.gres = trim_spaces(next_part(text, ':'));
    std::string_view unit = trim_spaces(text);
    made.driver = next_part(what, '/');
    made.name = what;
    if (!is_gres_word(made.driver, "-.") || !is_gres_word(made.name, "-_.") ||
        !is_gres_word(made.gres, "-_"))
        return fail(Code::rejected, std::format("has \"{}\", which is not "
                                                "DRIVER/CAPACITY:GRES[:UNIT]",
                                                whole));
    if (is_slurms_own(made.gres))
        return fail(Code::rejected,
                    std::format("names the GRES {}, which Slurm itself derives "
                                "from its GPUs",
                                made.gres));
    auto value = Quantity::parse(unit.empty() ? "1" : unit);
    if (!value || value->nanos() <= 0)
        return fail(Code::rejected,
                    std::format("has \"{}\", whose unit is not a quantity "
                                "above 0, such as 1Gi",
                                whole));
    if (made.gres == cpu_gres && *value != *Quantity::parse("1"))
        return fail(Code::rejected,
                    std::format("has \"{}\": the unit of Slurm's own CPUs "
                                "must be 1",
                                whole));
    made.unit = *value;
    return made;
}

std::string name_of(const CapacityGres &one)
{
    return one.driver + "/" + one.name;
}

} // namespace

Result<std::vector<CapacityGres>> parse_capacity_gres(std::string_view text)
{
    return parse_gres_list<CapacityGres>(text, parse_one, name_of);
}

} // namespace bridge
