// SPDX-License-Identifier: GPL-2.0-or-later
// A directory that is gone again after the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace bridge {

struct TemporaryDirectory {
    std::string path;

    TemporaryDirectory()
    {
        char name[] = "/tmp/slurmk8s-test-XXXXXX";
        if (mkdtemp(name))
            path = name;
    }
    TemporaryDirectory(const TemporaryDirectory &) = delete;
    TemporaryDirectory &operator=(const TemporaryDirectory &) = delete;
    ~TemporaryDirectory()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

} // namespace bridge
