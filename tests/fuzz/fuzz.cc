// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer's entry points. One program for all targets: FUZZ_TARGET in the
// environment names one, or nothing, which prints their names.
#include "tests/fuzz/targets.h"

#include <cstdint>
#include <cstdio>

namespace {

const bridge::FuzzTarget *target;

} // namespace

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    using namespace bridge;
    const char *name = std::getenv("FUZZ_TARGET");
    if (!name) {
        for (auto some : {value_targets(), object_targets(), wire_targets(),
                          device_targets()})
            for (const FuzzTarget &one : some)
                std::puts(one.name.data());
        std::exit(0);
    }
    target = find_fuzz_target(name);
    if (!target) {
        std::fprintf(stderr, "no fuzz target has the name %s\n", name);
        std::exit(2);
    }
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data,
                                      std::size_t size)
{
    target->run({reinterpret_cast<const char *>(data), size});
    return 0;
}
