// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/options.h"

#include "agent/calls/token_request.h"
#include "common/base/text.h"

#include <cstdint>
#include <format>
#include <getopt.h>
#include <string_view>

namespace bridge {

const char setup_help[] =
    "Usage: slurmk8s setup [OPTIONS]\n"
    "Sets slurm-k8s-bridge up on the host of slurmctld, step by step. Run it\n"
    "as root, as often as you like: what is so already stays as it is. It "
    "asks\n"
    "no questions, and never changes slurm.conf.\n"
    "\n"
    "  --kubeconfig FILE      of an administrator of the cluster; else where\n"
    "                         kubectl finds one\n"
    "  --components LIST      all, base, or names separated by commas; "
    "default:\n"
    "                         as the last time, or all\n"
    "  --manifests DIR        instead of those that are installed\n"
    "  --api-server URL       instead of that of the kubeconfig\n"
    "  --partition NAME       the partition of Pods; default: k8s\n"
    "  --token-lifetime TIME  1h to 30d; default: 7d\n"
    "  --nodes LIST           gives these Nodes to Slurm\n"
    "  --node-selector WORDS  gives the Nodes with these labels to Slurm\n"
    "  --namespace NAME=USER[:ACCOUNT]\n"
    "                         whose the jobs of its Pods are; may be repeated\n"
    "  --write-slurm-conf     writes slurm-k8s-bridge.conf beside slurm.conf\n"
    "  -f, --conf FILE        k8s.conf; default: beside slurm.conf\n"
    "  --dry-run              changes nothing, and says what it would change\n"
    "  -h, --help             print this and exit\n"
    "\n"
    "It ends with the checks of \"slurmk8s check\" and their exit status. See\n"
    "slurmk8s(1).\n";

const char uninstall_help[] =
    "Usage: slurmk8s uninstall --yes|--dry-run [OPTIONS]\n"
    "Takes back what \"slurmk8s setup\" has done, and says what it leaves. "
    "Run\n"
    "it as root on the host of slurmctld, while slurmk8sd still runs.\n"
    "\n"
    "  --yes              really do it\n"
    "  --dry-run          changes nothing, and says what it would change\n"
    "  --force            also while Pods of Slurm live, and also if "
    "slurmk8sd\n"
    "                     does not run to take its nodes out of Slurm\n"
    "  --kubeconfig FILE  of an administrator of the cluster\n"
    "  --manifests DIR    instead of those that are installed\n"
    "  -f, --conf FILE    k8s.conf; default: beside slurm.conf\n"
    "  -h, --help         print this and exit\n";

namespace {

enum Option {
    kubeconfig = 1000,
    components,
    manifests,
    api_server,
    partition,
    token_lifetime,
    nodes,
    node_selector,
    ns,
    write_slurm_conf,
    dry_run,
    force,
};

constexpr option both_options[] = {
    {"conf", required_argument, {}, 'f'},
    {"kubeconfig", required_argument, {}, kubeconfig},
    {"manifests", required_argument, {}, manifests},
    {"dry-run", no_argument, {}, dry_run},
    {"yes", no_argument, {}, 'y'},
    {"help", no_argument, {}, 'h'},
};
constexpr option only_setup[] = {
    {"components", required_argument, {}, components},
    {"api-server", required_argument, {}, api_server},
    {"partition", required_argument, {}, partition},
    {"token-lifetime", required_argument, {}, token_lifetime},
    {"nodes", required_argument, {}, nodes},
    {"node-selector", required_argument, {}, node_selector},
    {"namespace", required_argument, {}, ns},
    {"write-slurm-conf", no_argument, {}, write_slurm_conf},
};
constexpr option only_uninstall[] = {{"force", no_argument, {}, force}};

std::vector<option> options_of(bool uninstall)
{
    std::vector<option> all(std::begin(both_options), std::end(both_options));
    if (uninstall)
        all.insert(all.end(), std::begin(only_uninstall),
                   std::end(only_uninstall));
    else
        all.insert(all.end(), std::begin(only_setup), std::end(only_setup));
    all.push_back({});
    return all;
}

Result<> set_value(SetupOptions &options, int which, const std::string &value)
{
    switch (which) {
    case token_lifetime: {
        auto life = parse_token_life(value);
        if (!life)
            return fail(life.error(), "--token-lifetime");
        options.token_life = *life;
        return {};
    }
    case nodes:
        for (std::string_view name : all_parts(value, ','))
            if (!name.empty())
                options.nodes.emplace_back(name);
        return {};
    case ns: {
        auto wish = parse_namespace_wish(value);
        if (!wish)
            return fail(wish.error(), "--namespace");
        options.namespaces.push_back(std::move(*wish));
        return {};
    }
    default:
        return fail(Code::rejected, "");
    }
}

Result<> set(SetupOptions &options, int which, const char *value)
{
    switch (which) {
    case 'f':
        options.conf_path = value;
        return {};
    case kubeconfig:
        options.kubeconfig = value;
        return {};
    case manifests:
        options.manifests = value;
        return {};
    case components:
        options.components = value;
        return {};
    case api_server:
        options.api_server = value;
        return {};
    case partition:
        options.partition = value;
        return {};
    case node_selector:
        options.node_selector = value;
        return {};
    case write_slurm_conf:
        options.write_slurm_conf = true;
        return {};
    case dry_run:
        options.dry_run = true;
        return {};
    case 'y':
        options.yes = true;
        return {};
    case force:
        options.force = true;
        return {};
    case 'h':
        options.help = true;
        return {};
    default:
        return set_value(options, which, value ? value : "");
    }
}

} // namespace

Result<SetupOptions> parse_setup_options(int argc, char **argv, bool uninstall)
{
    SetupOptions options;
    const std::vector<option> known = options_of(uninstall);
    optind = 0; // this is not the first call
    int which;
    while ((which = getopt_long(argc, argv, "f:yh", known.data(), nullptr)) !=
           -1)
        if (auto done = set(options, which, optarg); !done)
            return std::unexpected(done.error());
    if (optind < argc)
        return fail(Code::rejected, std::string("unexpected argument \"") +
                                        argv[optind] + "\"");
    return options;
}

Result<std::chrono::seconds> parse_token_life(const std::string &text)
{
    std::string digits = text;
    std::int64_t unit = 1;
    if (!digits.empty()) {
        constexpr std::pair<char, std::int64_t> units[] = {
            {'s', 1}, {'m', 60}, {'h', 3600}, {'d', 24 * 3600}};
        for (auto [letter, seconds] : units)
            if (digits.ends_with(letter)) {
                unit = seconds;
                digits.pop_back();
                break;
            }
    }
    auto number = whole_number<std::uint32_t>(digits);
    auto life = std::chrono::seconds(number ? *number * unit : 0);
    if (life < token_life_least || life > token_life_most)
        return fail(Code::rejected, "must be from 1h to 30d");
    return life;
}

} // namespace bridge
