// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/commands.h"

#include "cli/commands.h"
#include "cli/setup/options.h"
#include "common/contract/names.h"

#include <cstdio>

namespace bridge {

bool is_setup_command(std::string_view word)
{
    return word == "setup" || word == "uninstall";
}

int run_setup_command(const std::string &conf_path, int argc, char **argv)
{
    bool uninstalls = std::string_view(argv[0]) == "uninstall";
    auto options = parse_setup_options(argc, argv, uninstalls);
    if (!options) {
        if (!options.error().message.empty())
            print_error(options.error().message);
        std::fprintf(stderr, "Try 'slurmk8s %s --help'.\n", argv[0]);
        return exit_wrong_call;
    }
    if (options->help) {
        std::fputs(uninstalls ? uninstall_help : setup_help, stdout);
        return exit_ok;
    }
    if (options->conf_path.empty() && conf_path != names::default_conf_path)
        options->conf_path = conf_path;
    if (!uninstalls)
        return setup(*options);
    if (!options->yes && !options->dry_run)
        return print_error("uninstall takes the whole installation back: say "
                           "--yes to do it, or --dry-run to see what it does",
                           exit_wrong_call);
    return uninstall(*options);
}

} // namespace bridge
