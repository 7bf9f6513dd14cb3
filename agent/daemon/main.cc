// SPDX-License-Identifier: GPL-2.0-or-later
// slurmk8sd(8): options and configuration.
#include "agent/calls/endpoint.h"
#include "agent/daemon/own_conf.h"
#include "agent/daemon/serve.h"
#include "common/base/conf_lines.h"
#include "common/base/log.h"
#include "common/contract/names.h"
#include "config.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <curl/curl.h>
#include <exception>
#include <getopt.h>
#include <malloc.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <utility>

namespace bridge {

namespace {

constexpr char help[] =
    "Usage: slurmk8sd [-f FILE] [-t]\n"
    "Makes Slurm the scheduler of Kubernetes Pods. Runs in the foreground, as\n"
    "SlurmUser, beside slurmctld.\n"
    "\n"
    "  -f, --conf FILE  configuration instead of /etc/slurm/k8s.conf\n"
    "  -t, --test       check the configuration and exit\n"
    "  -V, --version    print the version and exit\n"
    "  -h, --help       print this and exit\n"
    "\n"
    "SIGHUP reads the configuration again. See slurmk8sd(8) and k8s.conf(5).\n";

struct Options {
    std::string conf_path = names::default_conf_path;
    bool test = false;
    int exit_code = -1; // >= 0: exit at once
};

Options parse_options(int argc, char **argv)
{
    static const option long_options[] = {{"conf", required_argument, {}, 'f'},
                                          {"test", no_argument, {}, 't'},
                                          {"version", no_argument, {}, 'V'},
                                          {"help", no_argument, {}, 'h'},
                                          {}};
    Options options;
    int c;
    while ((c = getopt_long(argc, argv, "f:tVh", long_options, nullptr)) !=
           -1) {
        switch (c) {
        case 'f':
            options.conf_path = optarg;
            break;
        case 't':
            options.test = true;
            break;
        case 'V':
            std::puts(PACKAGE_STRING);
            options.exit_code = 0;
            return options;
        case 'h':
            std::fputs(help, stdout);
            options.exit_code = 0;
            return options;
        default:
            std::fputs("Try 'slurmk8sd --help'.\n", stderr);
            options.exit_code = 2;
            return options;
        }
    }
    if (optind < argc) {
        std::fprintf(stderr, "slurmk8sd: unexpected argument '%s'\n",
                     argv[optind]);
        options.exit_code = 2;
    }
    return options;
}

// Loads k8s.conf and the files that it names.
Result<Conf> load_all(const std::string &path)
{
    auto conf = load_conf(path);
    if (!conf)
        return conf;
    if (auto read = read_batch_template(*conf); !read)
        return fail(read.error(), path);
    return conf;
}

// An agent in a Pod follows its k8s.conf; on a host SIGHUP says when.
bool follows_conf(const Conf &conf)
{
    return !conf.config_hash_file.empty();
}

// Becomes a new process with the same arguments. Returns the exit code if that
// fails: whoever started this one then starts it again.
int start_anew(char **argv)
{
    execv("/proc/self/exe", argv);
    log_error("cannot start anew", {{"err", std::strerror(errno)}});
    return exit_anew;
}

int fail_start(const Error &error)
{
    log_error("cannot start", {{"err", error.message}});
    return 1;
}

int run(int argc, char **argv)
{
    Options options = parse_options(argc, argv);
    if (options.exit_code >= 0)
        return options.exit_code;
    auto text = read_conf_file(options.conf_path); // not newer than conf
    auto conf = load_all(options.conf_path);
    if (!conf)
        return fail_start(conf.error());
    auto sessions = load_session_conf(options.conf_path);
    if (!sessions)
        return fail_start(sessions.error());
    auto endpoint = endpoint_of(*conf);
    if (!endpoint)
        return fail_start(endpoint.error());
    if (options.test) {
        std::printf("%s is well formed\n", options.conf_path.c_str());
        return 0;
    }
    set_log_level(conf->log_level);
    // Otherwise each worker's arena would keep the peak of the largest list
    // that it has read.
    mallopt(M_ARENA_MAX, 2);
    // What is larger, such as a list of jobs, goes back when it is freed; by
    // default that limit grows (mallopt(3)).
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    std::signal(SIGPIPE, SIG_IGN);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    auto load = [&] { return load_all(options.conf_path); };
    OwnConf own(options.conf_path, text.value_or(""), load);
    bool follows = follows_conf(*conf);
    auto exit_code =
        serve(std::make_shared<const Conf>(std::move(*conf)), *sessions,
              *endpoint, load, follows ? &own : nullptr);
    if (!exit_code)
        return fail_start(exit_code.error());
    return *exit_code == exit_anew ? start_anew(argv) : *exit_code;
}

} // namespace

} // namespace bridge

int main(int argc, char **argv)
try {
    return bridge::run(argc, argv);
} catch (const std::exception &e) {
    bridge::log_error("ended by an exception", {{"err", e.what()}});
    return 1;
}
