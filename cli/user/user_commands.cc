// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/user/user_commands.h"

#include "cli/commands.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace bridge {

namespace {

using Words = std::vector<std::string>;

// The words before and behind the first "--".
struct Parts {
    Words before;
    Words behind;
};

Parts split(const Words &words)
{
    auto dashes = std::ranges::find(words, "--");
    return {{words.begin(), dashes},
            {dashes == words.end() ? dashes : dashes + 1, words.end()}};
}

int wrong_call(const char *usage)
{
    return print_error(std::string("usage: slurmk8s [-f FILE] ") + usage,
                       exit_wrong_call);
}

int run_logs(const std::string &conf_path, Words words)
{
    bool follow = std::erase_if(words, [](const std::string &word) {
                      return word == "-f" || word == "--follow";
                  }) != 0;
    if (words.size() != 1)
        return wrong_call("logs [--follow] JOBID");
    return show_logs(conf_path, words.front(), follow);
}

int run_attach(const std::string &conf_path, const Words &words)
{
    auto [before, behind] = split(words);
    bool dashes = before.size() != words.size();
    if (before.size() != 1 || (dashes && behind.empty()))
        return wrong_call("attach JOBID [-- COMMAND [ARGUMENT...]]");
    return attach(conf_path, before.front(), behind);
}

int run_salloc(const std::string &conf_path, const Words &words)
{
    auto [options, command] = split(words);
    return salloc(conf_path, options, command);
}

} // namespace

bool is_user_command(const std::string &name)
{
    constexpr std::array<std::string_view, 3> all = {"logs", "attach",
                                                     "salloc"};
    return std::ranges::contains(all, name);
}

int run_user_command(const std::string &conf_path, int argc, char **argv)
{
    std::string name = argv[0];
    Words words(argv + 1, argv + argc);
    if (name == "logs")
        return run_logs(conf_path, std::move(words));
    return name == "attach" ? run_attach(conf_path, words)
                            : run_salloc(conf_path, words);
}

} // namespace bridge
