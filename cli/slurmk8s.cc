// SPDX-License-Identifier: GPL-2.0-or-later
// slurmk8s(1), also installed as kubectl-slurm: shows people what the agent is
// doing. Asks the agent on this host.
#include "cli/commands.h"
#include "cli/setup/commands.h"
#include "cli/top/run_top.h"
#include "cli/user/user_commands.h"
#include "common/base/printable.h"
#include "config.h"

#include <cstdio>
#include <getopt.h>
#include <string>

namespace bridge {

namespace {

constexpr char help[] =
    "Usage: slurmk8s [OPTIONS] status\n"
    "       slurmk8s [OPTIONS] explain POD|JOBID\n"
    "       slurmk8s [-f FILE] top [-d SECONDS] [--once]\n"
    "       slurmk8s [OPTIONS] check\n"
    "       slurmk8s setup|uninstall [OPTIONS]\n"
    "       slurmk8s [-f FILE] logs [--follow] JOBID\n"
    "       slurmk8s [-f FILE] attach JOBID [-- COMMAND...]\n"
    "       slurmk8s [-f FILE] salloc [SBATCH-OPTIONS] [-- COMMAND...]\n"
    "Shows what slurmk8sd, the agent between Slurm and Kubernetes, is doing.\n"
    "\n"
    "Commands:\n"
    "  status           whether it serves, what is wrong, and each gang: its\n"
    "                   Slurm job, its Node, and why it waits\n"
    "  explain POD      one Pod's whole story: its job, what Slurm says, what\n"
    "  explain JOBID    the agent does or waits for, and what would change "
    "it.\n"
    "                   POD is NAME or NAMESPACE/NAME\n"
    "  top              a live view of Slurm: nodes, the queue and why jobs "
    "wait,\n"
    "                   what is broken. Once with --once or without a "
    "terminal\n"
    "  check            what is wrong, or will cause trouble, in Slurm's\n"
    "                   settings, in Kubernetes and on this host, with the "
    "line\n"
    "                   to change. Works without the agent. Run it as root or\n"
    "                   SlurmUser\n"
    "  setup            sets this host and the cluster up, step by step: see\n"
    "                   slurmk8s setup --help. Run it as root\n"
    "  uninstall        takes that back, and says what it leaves\n"
    "For users of sbatch --k8s-image:\n"
    "  logs JOBID       what the container of your job has printed\n"
    "  attach JOBID     a shell, or COMMAND, in the container of your job\n"
    "  salloc           the same in a job of its own, which ends with it\n"
    "\n"
    "Options:\n"
    "  -n, --namespace NAME  the namespace of POD; else any that has it\n"
    "  -j, --json            the answer as JSON\n"
    "  -f, --conf FILE       configuration instead of /etc/slurm/k8s.conf\n"
    "  -V, --version         print the version and exit\n"
    "  -h, --help            print this and exit\n"
    "\n"
    "The exit status is 0 when the agent answered (status: and serves; top: "
    "with\n"
    "numbers), 1 when not, 2 for a wrong call, 3 for a Pod or job that is not\n"
    "known. That of check is 0 without errors, 1 with, 2 when something could "
    "not be looked\n"
    "at. See slurmk8s(1).\n";

struct Options {
    std::string conf_path = names::default_conf_path;
    std::string ns;
    bool json = false;
    int exit_status = -1; // >= 0: exit at once
};

// order is "+" to end the options at the first argument that is not one.
Options parse_options(int argc, char **argv, const std::string &order)
{
    static const option long_options[] = {
        {"conf", required_argument, {}, 'f'},
        {"namespace", required_argument, {}, 'n'},
        {"json", no_argument, {}, 'j'},
        {"version", no_argument, {}, 'V'},
        {"help", no_argument, {}, 'h'},
        {}};
    Options options;
    int c;
    const std::string letters = order + "f:n:jVh";
    optind = 0; // this may be the second call
    while ((c = getopt_long(argc, argv, letters.c_str(), long_options,
                            nullptr)) != -1) {
        switch (c) {
        case 'f':
            options.conf_path = optarg;
            break;
        case 'n':
            options.ns = optarg;
            break;
        case 'j':
            options.json = true;
            break;
        case 'V':
            std::puts(PACKAGE_STRING);
            options.exit_status = exit_ok;
            return options;
        case 'h':
            std::fputs(help, stdout);
            options.exit_status = exit_ok;
            return options;
        default:
            std::fputs("Try 'slurmk8s --help'.\n", stderr);
            options.exit_status = exit_wrong_call;
            return options;
        }
    }
    return options;
}

int wrong_call()
{
    std::fputs(help, stderr);
    return exit_wrong_call;
}

int run(int argc, char **argv)
{
    Options options = parse_options(argc, argv, "+");
    if (options.exit_status >= 0)
        return options.exit_status;
    if (optind < argc && is_user_command(argv[optind]))
        return run_user_command(options.conf_path, argc - optind,
                                argv + optind);
    if (optind < argc && is_setup_command(argv[optind]))
        return run_setup_command(options.conf_path, argc - optind,
                                 argv + optind);
    if (optind < argc && std::string(argv[optind]) == "top")
        return options.json
                   ? print_error("top has no JSON: read /metrics of slurmk8sd",
                                 exit_wrong_call)
                   : run_top(options.conf_path, argc - optind, argv + optind);
    options = parse_options(argc, argv, "");
    if (options.exit_status >= 0)
        return options.exit_status;
    const std::string command = optind < argc ? argv[optind] : "";
    bool explains = command == "explain";
    if ((!explains && command != "status" && command != "check") ||
        argc - optind != (explains ? 2 : 1))
        return wrong_call();
    if (command == "check") // it reports mistakes in k8s.conf itself
        return check(options.conf_path, options.json);
    auto conf = load_conf(options.conf_path);
    if (!conf)
        return print_error(conf.error().message);
    if (!explains)
        return show_status(*conf, options.json);
    std::string what = argv[optind + 1];
    if (what.empty() || (!options.ns.empty() && what.contains('/')))
        return wrong_call();
    if (!options.ns.empty())
        what = options.ns + "/" + what;
    return explain(*conf, what, options.json);
}

} // namespace

int print_error(const std::string &what, int exit_status)
{
    std::fprintf(stderr, "slurmk8s: %s\n", printable(what).c_str());
    return exit_status;
}

} // namespace bridge

int main(int argc, char **argv)
try {
    return bridge::run(argc, argv);
} catch (const std::exception &e) {
    std::fprintf(stderr, "slurmk8s: %s\n", e.what());
    return 1;
}
