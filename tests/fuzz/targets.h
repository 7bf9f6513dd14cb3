// SPDX-License-Identifier: GPL-2.0-or-later
// The fuzz targets: one for each parser of what others write. A target stops
// the program when a promise of the parser's header does not hold; everything
// else is the sanitizers' business. The unit tests run them over
// tests/fuzz/corpus, libFuzzer makes up the rest.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <span>
#include <string_view>

namespace bridge {

struct FuzzTarget {
    std::string_view name; // of its corpus, too
    void (*run)(std::string_view input);
};

// Those of values_target.cc, objects_target.cc, wire_target.cc and
// devices_target.cc.
std::span<const FuzzTarget> value_targets();
std::span<const FuzzTarget> object_targets();
std::span<const FuzzTarget> wire_targets();
std::span<const FuzzTarget> device_targets();

// Null when there is none of this name.
inline const FuzzTarget *find_fuzz_target(std::string_view name)
{
    for (auto targets :
         {value_targets(), object_targets(), wire_targets(), device_targets()})
        for (const FuzzTarget &target : targets)
            if (target.name == name)
                return &target;
    return nullptr;
}

inline void
promise(bool holds,
        std::source_location where = std::source_location::current())
{
    if (holds)
        return;
    std::fprintf(stderr, "%s:%u: a promise is broken\n", where.file_name(),
                 where.line());
    std::abort();
}

} // namespace bridge
