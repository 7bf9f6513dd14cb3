// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/options.h"

#include "common/kube/text.h"

#include <getopt.h>
#include <optional>

namespace bridge::slinky {

const char help_text[] =
    "Usage: slurmk8s-operator [OPTION...]\n"
    "Makes Slurm clusters out of the objects of slinky.slurm.net. Runs in the\n"
    "foreground.\n"
    "\n"
    "  -n, --namespace NS        only this namespace; may be repeated (all)\n"
    "  -s, --server URL          the API server (that of the Pod)\n"
    "      --ca-file FILE        its certificate authority (the Pod's)\n"
    "      --token-file FILE     the token of a ServiceAccount (the Pod's)\n"
    "      --lease-namespace NS  where the Lease is (the Pod's namespace)\n"
    "      --lease-name NAME     its name (slurmk8s-operator)\n"
    "  -w, --web-address IP:PORT /healthz, /readyz and /metrics "
    "(127.0.0.1:6830)\n"
    "      --agent-image IMAGE   slurmk8sd beside each slurmctld (none)\n"
    "      --check-unused        fail while Controllers or NodeSets are there\n"
    "  -l, --log-level LEVEL     error, warning, info or debug (info)\n"
    "  -V, --version             print the version and exit\n"
    "  -h, --help                print this and exit\n"
    "\n"
    "See slurmk8s-operator(8).\n";

namespace {

constexpr int ca_file = 256; // beyond all characters
constexpr int token_file = 257;
constexpr int lease_namespace = 258;
constexpr int lease_name = 259;
constexpr int agent_image = 260;
constexpr int check_unused = 261;

std::optional<LogLevel> level_of(std::string_view name)
{
    if (name == "error")
        return LogLevel::error;
    if (name == "warning")
        return LogLevel::warning;
    if (name == "info")
        return LogLevel::info;
    if (name == "debug")
        return LogLevel::debug;
    return std::nullopt;
}

// Returns what is wrong with it, or "".
std::string take(int option, const std::string &value, Options &options)
{
    bool named =
        option == 'n' || option == lease_namespace || option == lease_name;
    if (named && !is_object_name(value))
        return "\"" + value + "\" is no name of Kubernetes";
    switch (option) {
    case 'n':
        options.namespaces.push_back(value);
        break;
    case 's':
        options.server = value;
        break;
    case ca_file:
        options.ca_file = value;
        break;
    case token_file:
        options.token_file = value;
        break;
    case lease_namespace:
        options.lease_namespace = value;
        break;
    case lease_name:
        options.lease_name = value;
        break;
    case agent_image:
        options.agent_image = value;
        break;
    case check_unused:
        options.check_unused = true;
        break;
    case 'w':
        options.web_address = value;
        break;
    case 'l':
        if (auto level = level_of(value))
            options.log_level = *level;
        else
            return "\"" + value + "\" is no log level";
        break;
    case 'V':
        options.version = true;
        break;
    case 'h':
        options.help = true;
        break;
    default: // getopt has said why
        return "wrong options";
    }
    return {};
}

} // namespace

Result<Options> parse_options(int argc, char **argv)
{
    static const option long_options[] = {
        {"namespace", required_argument, {}, 'n'},
        {"server", required_argument, {}, 's'},
        {"ca-file", required_argument, {}, ca_file},
        {"token-file", required_argument, {}, token_file},
        {"lease-namespace", required_argument, {}, lease_namespace},
        {"lease-name", required_argument, {}, lease_name},
        {"agent-image", required_argument, {}, agent_image},
        {"check-unused", no_argument, {}, check_unused},
        {"web-address", required_argument, {}, 'w'},
        {"log-level", required_argument, {}, 'l'},
        {"version", no_argument, {}, 'V'},
        {"help", no_argument, {}, 'h'},
        {}};
    Options options;
    optind = 1;
    for (int c; (c = getopt_long(argc, argv, "n:s:w:l:Vh", long_options,
                                 nullptr)) != -1;) {
        std::string wrong = take(c, optarg ? optarg : "", options);
        if (!wrong.empty())
            return fail(Code::rejected, wrong);
    }
    if (optind < argc)
        return fail(Code::rejected, std::string("unexpected argument \"") +
                                        argv[optind] + "\"");
    return options;
}

} // namespace bridge::slinky
