// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_slurm.h"
#include "cli/commands.h"
#include "cli/setup/agent_steps.h"
#include "cli/setup/commands.h"
#include "cli/setup/host_steps.h"
#include "cli/setup/kube_steps.h"
#include "cli/setup/report.h"
#include "cli/setup/site.h"
#include "cli/setup/slurm_lines.h"
#include "common/base/read_file.h"
#include "common/base/replace_file.h"
#include "common/contract/names.h"

#include <algorithm>
#include <cstdio>
#include <curl/curl.h>
#include <format>
#include <iterator>

namespace bridge {

namespace {

constexpr char restart[] =
    "restart slurmctld, and then the slurmds: plugins are loaded at the start "
    "only. A slurmd without prep_k8s.so on its host does not start then: "
    "install it there first";

// The checks of what slurm.conf must have. Not check_accounting(): a site
// without slurmdbd must not be told to paste its line.
Findings slurm_findings(const Site &site, std::size_t nodes)
{
    Findings all;
    for (Findings found :
         {check_plugins(site.slurm), check_node_table(site.slurm, nodes + 1),
          check_job_age(site.slurm), check_select(site.slurm),
          check_scheduler(site.slurm), check_limits(site.slurm),
          check_gres_types(site.slurm, site.conf),
          check_pod_arrays(site.slurm, site.conf)})
        std::ranges::move(found, std::back_inserter(all));
    return all;
}

std::string include_path(const Site &site)
{
    return directory_of(site.slurm.conf_path) + "/" + slurm_conf_include;
}

// With the files that it includes, one level deep, but not with ours: that is
// for us to change.
SlurmConfText load_slurm_conf(const Site &site)
{
    const std::string &path = site.slurm.conf_path;
    SlurmConfText conf =
        read_slurm_conf(read_file(path, any_size).value_or(""));
    for (std::string &name : conf.includes) {
        if (!name.starts_with('/'))
            name = directory_of(path) + "/" + name;
        if (name == include_path(site))
            continue;
        SlurmConfText more =
            read_slurm_conf(read_file(name, any_size).value_or(""));
        conf.keys.insert(more.keys.begin(), more.keys.end());
        std::ranges::move(more.lines, std::back_inserter(conf.lines));
    }
    return conf;
}

Result<> write_include(const Site &site, const SlurmConfText &conf,
                       const std::vector<std::string> &lines, Report &report)
{
    const std::string path = include_path(site);
    const std::string present = read_file(path, any_size).value_or("");
    const std::string text = include_text(present, lines);
    if (text == present)
        report.already(path + " has the lines that slurm.conf lacks");
    else if (auto done = report.change(
                 path + ": the lines that slurm.conf lacks",
                 [&] { return replace_file(path, text, {.mode = 0644}); });
             !done)
        return done;
    if (!std::ranges::contains(conf.includes, path))
        report.left_to_do(std::format("add this line to {}: include {}",
                                      site.slurm.conf_path, path));
    report.left_to_do(std::format(
        "copy {} to each host that has a copy of {}, beside it: Slurm's "
        "daemons and commands there do not start without it",
        path, site.slurm.conf_path));
    return {};
}

// Says what slurm.conf lacks, or writes it where slurm.conf can include it.
Result<> slurm_conf_step(const Site &site, const std::string &partition,
                         std::size_t nodes, Report &report)
{
    const std::string &path = site.slurm.conf_path;
    auto lacking =
        lacking_lines(slurm_findings(site, nodes), site.slurm, partition);
    if (lacking.empty()) {
        report.already("slurmctld has all lines of slurm.conf that it needs");
        return {};
    }
    SlurmConfText conf = load_slurm_conf(site);
    SplitLines split = split_lines(lacking, conf);
    if (!split.there.empty())
        report.left_to_do(path + " has lines that slurmctld has not read yet");
    std::vector<std::string> to_paste = split.to_change;
    if (!site.options.write_slurm_conf)
        std::ranges::copy(split.to_include, std::back_inserter(to_paste));
    else if (!split.to_include.empty())
        if (auto done = write_include(site, conf, split.to_include, report);
            !done)
            return done;
    if (!to_paste.empty()) {
        std::printf("%-9s these lines are for %s, in place of those with the "
                    "same key:\n",
                    "to do:", path.c_str());
        report.block(to_paste);
        report.left_to_do("put the lines above into " + path);
    }
    report.left_to_do(restart);
    return {};
}

// What systemd has to know where this site differs from the unit. An agent that
// answers knows it.
void unit_step(const Site &site, Report &report)
{
    const std::string &user = site.slurm.slurm_user;
    bool own_user = user != "slurm";
    bool own_path = site.conf_path != names::default_conf_path;
    if (!own_user && !own_path)
        return;
    std::vector<std::string> lines = {"[Service]"};
    if (own_user)
        lines.insert(lines.end(), {"User=" + user, "Group="}); // its own group
    if (own_path)
        lines.insert(lines.end(),
                     {"Environment=SLURM_CONF=" + site.slurm.conf_path,
                      "ExecStart=",
                      "ExecStart=/usr/sbin/slurmk8sd -f " + site.conf_path});
    std::printf("%-9s the unit of slurmk8sd needs these lines (systemctl edit "
                "slurmk8sd), unless it has them:\n",
                "to do:");
    report.block(lines);
    report.left_to_do("systemctl edit slurmk8sd, as shown above");
}

void agent_step(const Site &site, bool conf_changed, Report &report)
{
    if (!agent_runs(site)) {
        unit_step(site, report);
        report.left_to_do("systemctl enable --now slurmk8sd");
    } else if (conf_changed)
        report.left_to_do("systemctl restart slurmk8sd");
}

Result<> take_steps(const Site &site, Report &report)
{
    report.already(std::format("slurmctld {} runs on this host as {}",
                               site.slurm.version, site.slurm.slurm_user));
    auto cluster = site.kubectl.cluster();
    if (!cluster)
        return std::unexpected(cluster.error());
    auto minor = find_cluster(site.kubectl);
    if (!minor)
        return std::unexpected(minor.error());
    report.already(
        std::format("Kubernetes 1.{} answers at {}", *minor, cluster->server));
    if (cluster->odd)
        report.left_to_do("the kubeconfig has tls-server-name or proxy-url, "
                          "which slurmk8sd does not know: it must reach "
                          "KubeApiServer directly");
    auto nodes = chosen_nodes(site);
    if (!nodes)
        return std::unexpected(nodes.error());
    HostPlan plan = plan_host(site, *cluster);
    bool conf_changed = false;
    Result<> done =
        slurm_conf_step(site, plan.partition, nodes->size(), report);
    if (done)
        done = apply_manifests(site, *minor, report);
    if (done)
        done = write_ca(site, plan, *cluster, report);
    if (done)
        done = write_token(site, plan, report);
    if (done)
        done = write_conf(site, plan, report, conf_changed);
    if (done)
        done = opt_in_nodes(site, *nodes, report);
    if (done)
        done = opt_in_namespaces(site, report);
    if (!done)
        return done;
    agent_step(site, conf_changed, report);
    return {};
}

} // namespace

int setup(const SetupOptions &options)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    Report report(options.dry_run);
    auto site = find_site(options);
    if (!site)
        return print_error(site.error().message);
    auto done = take_steps(*site, report);
    if (!done) {
        report.finish();
        return print_error(done.error().message +
                           ". What was done stays; run setup again then.");
    }
    int status = exit_ok;
    if (options.dry_run)
        std::puts("would do: slurmk8s check");
    else
        status = check(site->conf_path, false);
    report.finish();
    return status;
}

} // namespace bridge
