// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/run_top.h"

#include "cli/top/print_top.h"
#include "cli/top/top_live.h"
#include "cli/top/top_reader.h"
#include "cli/top/top_terminal.h"
#include "common/base/text.h"

#include <cstdio>
#include <getopt.h>
#include <string>
#include <unistd.h>

namespace bridge {

namespace {

constexpr char help[] =
    "Usage: slurmk8s [-f FILE] top [-d SECONDS] [--once]\n"
    "Shows Slurm in numbers: nodes, the queue and why jobs wait, and what is\n"
    "broken and since when. The numbers are the agent's metrics.\n"
    "\n"
    "  -d, --delay SECONDS  between two reads, 1 to 3600; default: 5\n"
    "  --once               prints once and ends, as without a terminal\n"
    "  -f, --conf FILE      configuration instead of /etc/slurm/k8s.conf\n"
    "  -h, --help           print this and exit\n"
    "\n"
    "Press q or Ctrl-C to end. The exit status is 0 if there were numbers of\n"
    "Slurm at the end, 1 if not, 2 for a wrong call. See slurmk8s(1).\n";

struct Options {
    std::string conf_path;
    std::chrono::seconds delay{5};
    bool once = false;
    int exit_status = -1; // >= 0: exit at once
};

int wrong_call()
{
    std::fputs("Try 'slurmk8s top --help'.\n", stderr);
    return exit_wrong_call;
}

void set_delay(Options &options, const char *text)
{
    auto seconds = whole_number<int>(text);
    if (seconds && *seconds >= 1 && *seconds <= 3600)
        options.delay = std::chrono::seconds(*seconds);
    else
        options.exit_status =
            print_error("--delay takes 1 to 3600 seconds, not \"" +
                            std::string(text) + "\"",
                        exit_wrong_call);
}

void set(Options &options, int option)
{
    switch (option) {
    case 'd':
        set_delay(options, optarg);
        break;
    case 'f':
        options.conf_path = optarg;
        break;
    case '1':
        options.once = true;
        break;
    case 'h':
        std::fputs(help, stdout);
        options.exit_status = exit_ok;
        break;
    default:
        options.exit_status = wrong_call();
    }
}

Options parse_options(const std::string &conf_path, int argc, char **argv)
{
    static const option long_options[] = {{"delay", required_argument, {}, 'd'},
                                          {"once", no_argument, {}, '1'},
                                          {"conf", required_argument, {}, 'f'},
                                          {"help", no_argument, {}, 'h'},
                                          {}};
    Options options{.conf_path = conf_path};
    optind = 0; // those before the command have been parsed
    for (int c;
         options.exit_status < 0 &&
         (c = getopt_long(argc, argv, "d:f:h", long_options, nullptr)) != -1;)
        set(options, c);
    if (options.exit_status < 0 && optind != argc)
        options.exit_status = wrong_call();
    return options;
}

int show_once(const Conf &conf)
{
    TopView view = TopReader(conf).read();
    if (view.state == TopState::no_agent)
        return print_error(view.said);
    ScreenSize size;
    if (isatty(STDOUT_FILENO))
        size.columns = terminal_size().columns;
    for (const ScreenLine &line : top_screen(view, size, screen_time({})))
        std::puts(line.text.c_str());
    return exit_status_of(view);
}

} // namespace

int run_top(const std::string &conf_path, int argc, char **argv)
{
    Options options = parse_options(conf_path, argc, argv);
    if (options.exit_status >= 0)
        return options.exit_status;
    auto conf = load_conf(options.conf_path);
    if (!conf)
        return print_error(conf.error().message);
    if (options.once || !has_screen())
        return show_once(*conf);
    show_top_live(*conf, options.delay);
}

} // namespace bridge
