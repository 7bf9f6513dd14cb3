// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/report.h"

#include "common/base/printable.h"

#include <cstdio>

namespace bridge {

namespace {

void print(const char *state, const std::string &what)
{
    std::printf("%-9s %s\n", state, printable(what).c_str());
    std::fflush(stdout); // what comes next may take a while
}

} // namespace

void Report::already(const std::string &what) const
{
    print("already:", what);
}

Result<> Report::change(const std::string &what,
                        const std::function<Result<>()> &act) const
{
    if (dry_run_) {
        print("would do:", what);
        return {};
    }
    if (auto done = act(); !done)
        return fail(done.error(), what);
    print("done:", what);
    return {};
}

void Report::block(const std::vector<std::string> &lines) const
{
    for (const std::string &line : lines)
        std::printf("    %s\n", printable(line).c_str());
}

void Report::left_to_do(const std::string &what)
{
    to_do_.push_back(what);
}

void Report::left(const std::string &what) const
{
    print("left:", what);
}

void Report::waits(const std::string &what) const
{
    print("waits:", what);
}

void Report::finish() const
{
    for (const std::string &what : to_do_)
        print("to do:", what);
}

} // namespace bridge
