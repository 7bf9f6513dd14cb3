// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands.h"
#include "cli/setup/agent_steps.h"
#include "cli/setup/commands.h"
#include "cli/setup/conf_edit.h"
#include "cli/setup/host_steps.h"
#include "cli/setup/kube_steps.h"
#include "cli/setup/report.h"
#include "cli/setup/site.h"
#include "cli/setup/slurm_lines.h"
#include "common/base/replace_file.h"
#include "common/base/system_error.h"
#include "common/contract/names.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <curl/curl.h>
#include <format>
#include <functional>
#include <thread>
#include <unistd.h>

namespace bridge {

namespace {

constexpr std::chrono::seconds look_again{2};
// The API server may apply a policy for a moment after it was deleted.
constexpr int policy_tries = 5;

// Names some of the Pods for Slurm that are not over; "": there is none.
Result<std::string> living_pods(const Site &site)
{
    constexpr std::size_t most = 3;
    std::size_t count = 0;
    std::string names;
    for (const std::string &scheduler : site.conf.scheduler_names) {
        auto list = site.kubectl.json(
            {"get", "pods", "--all-namespaces",
             "--field-selector=spec.schedulerName=" + scheduler +
                 ",status.phase!=Succeeded,status.phase!=Failed"});
        if (!list)
            return std::unexpected(list.error());
        for (const Json &pod : list->items("items"))
            if (count++ < most)
                names += (names.empty() ? "" : ", ") +
                         pod.text("metadata/namespace") + "/" +
                         pod.text("metadata/name");
    }
    if (count == 0)
        return std::string();
    return std::format("{} Pods of Slurm live ({}{})", count, names,
                       count > most ? ", …" : "");
}

Result<> check_consent(const Site &site, const Report &report)
{
    auto pods = living_pods(site);
    if (!pods)
        return std::unexpected(pods.error());
    std::string nodes = agent_nodes(site.slurm.nodes);
    if (!pods->empty() && (report.dry_run() || site.options.force))
        report.left(*pods + (report.dry_run() ? ", with which uninstall "
                                                "refuses without --force"
                                              : ""));
    if (site.options.force || report.dry_run())
        return {};
    if (!pods->empty())
        return fail(Code::rejected,
                    *pods + ": delete them, or say --force: those that run go "
                            "on without a job, those that wait do so for ever");
    if (!nodes.empty() && !agent_runs(site))
        return fail(Code::rejected,
                    "slurmk8sd does not run, which takes its nodes out of "
                    "Slurm: start it, or say --force and delete them by hand: "
                    "scontrol delete NodeName=" +
                        nodes);
    return {};
}

// Runs the commands that one of the functions of opt_in.h gives for each.
template <class Objects, class Plan>
Result<> for_each_object(const Site &site, const Report &report,
                         const Objects &objects, const std::string &kind,
                         const std::string &what, const std::string &none,
                         Plan plan)
{
    bool any = false;
    for (const auto &object : objects) {
        Commands commands = plan(object);
        if (commands.empty())
            continue;
        any = true;
        auto done = report.change(kind + " " + object.name + ": " + what, [&] {
            return run_all(site.kubectl, commands);
        });
        if (!done)
            return done;
    }
    if (!any)
        report.already(none);
    return {};
}

Result<> end_adoptions(const Site &site, const Report &report)
{
    auto all = load_kube_namespaces(site.kubectl);
    if (!all)
        return std::unexpected(all.error());
    return for_each_object(site, report, *all, "Namespace",
                           "its Pods are adopted no more",
                           "no Namespace's Pods are adopted", end_adoption);
}

Result<> opt_nodes_out(const Site &site, const Report &report)
{
    auto all = load_kube_nodes(site.kubectl, "");
    if (!all)
        return std::unexpected(all.error());
    return for_each_object(site, report, *all, "Node",
                           "is given to Slurm no more",
                           "no Node is given to Slurm", opt_out);
}

// What setup has applied, or else all that there could be.
Result<std::vector<ObjectId>> objects_to_delete(const Site &site, int minor)
{
    auto applied = load_applied(site.kubectl);
    if (!applied)
        return std::unexpected(applied.error());
    if (!applied->objects.empty())
        return applied->objects;
    auto yaml = render(site, "all", minor);
    if (!yaml)
        return std::unexpected(yaml.error());
    return object_ids(*yaml);
}

Result<> delete_manifests(const Site &site, int minor, const Report &report)
{
    auto objects = objects_to_delete(site, minor);
    if (!objects)
        return std::unexpected(objects.error());
    const std::string list = list_of(*objects);
    auto there = site.kubectl.run(
        {"get", "--ignore-not-found", "-o", "name", "-f", "-"}, list);
    if (!there)
        return std::unexpected(there.error());
    if (there->empty()) {
        report.already("no manifest is applied");
        return {};
    }
    std::string namespaces;
    for (const ObjectId &id : *objects)
        if (id.kind == "Namespace")
            namespaces += (namespaces.empty() ? "" : ", ") + id.name;
    return report.change(
        std::format("manifests: {} objects are deleted, and all that is in the "
                    "Namespaces {}",
                    std::ranges::count(*there, '\n'), namespaces),
        [&]() -> Result<> {
            auto done = site.kubectl.run(
                {"delete", "--ignore-not-found", "--timeout=180s", "-f", "-"},
                list);
            return done ? Result<>() : std::unexpected(done.error());
        });
}

// As a policy keeps everybody but the agent from some annotations.
Result<> try_again(const std::function<Result<>()> &act)
{
    for (int tries = 1;; tries++) {
        auto done = act();
        if (done || tries == policy_tries)
            return done;
        std::this_thread::sleep_for(look_again);
    }
}

Result<> clean_objects(const Site &site, const Report &report)
{
    auto nodes = load_kube_nodes(site.kubectl, "");
    if (!nodes)
        return std::unexpected(nodes.error());
    auto done =
        for_each_object(site, report, *nodes, "Node",
                        "taint, labels and annotations are taken away",
                        "no Node has a taint, label or annotation of ours",
                        [](const Node &node) { return clean(node); });
    if (!done)
        return done;
    auto namespaces = load_kube_namespaces(site.kubectl);
    if (!namespaces)
        return std::unexpected(namespaces.error());
    return for_each_object(site, report, *namespaces, "Namespace",
                           "labels and annotations are taken away",
                           "no Namespace has a label or annotation of ours",
                           [](const Namespace &ns) { return clean(ns); });
}

Result<> remove_file(const std::string &path, const Report &report)
{
    if (access(path.c_str(), F_OK) != 0) {
        report.already("there is no " + path);
        return {};
    }
    return report.change(path + ": is deleted", [&]() -> Result<> {
        if (unlink(path.c_str()) != 0)
            return fail_errno(Code::busy, "delete " + path);
        return {};
    });
}

// k8s.conf goes last: a run after a failure must still find what it names. The
// directory of the token can go once the counts of jobs are not in it.
Result<> remove_files(const Site &site, const Report &report)
{
    auto or_else = [&](const char *key, const std::string &other) {
        return conf_value(site.conf_text, key).value_or(other);
    };
    const std::string token = or_else("KubeTokenFile", default_token_file);
    const std::string ca =
        or_else("KubeCaFile", directory_of(site.conf_path) + "/k8s/ca.crt");
    const std::string counts = names::job_history_file;
    const std::string beside = directory_of(site.conf_path) + "/k8s/";
    for (const std::string &path : {counts, token, ca}) {
        if (path != default_token_file && path != counts &&
            !path.starts_with(beside)) {
            report.left(path + ": k8s.conf names it, and others may use it");
            continue;
        }
        if (auto done = remove_file(path, report); !done)
            return done;
        const std::string directory = directory_of(path);
        if (!report.dry_run() && directory != directory_of(site.conf_path))
            (void)rmdir(directory.c_str()); // unless others have files there
    }
    return remove_file(site.conf_path, report);
}

void say_what_is_left(const Site &site, const Report &report)
{
    const SlurmFacts &slurm = site.slurm;
    std::vector<std::string> lines;
    if (std::ranges::contains(slurm.job_submit_plugins, "k8s"))
        lines.emplace_back("JobSubmitPlugins: k8s");
    if (std::ranges::contains(slurm.prep_plugins, "k8s"))
        lines.emplace_back("PrEpPlugins: prep/k8s");
    if (std::ranges::contains(slurm.node_features_plugins, "k8s"))
        lines.emplace_back("NodeFeaturesPlugins: k8s");
    if (slurm.burst_buffer == "k8s")
        lines.emplace_back("BurstBufferType: burst_buffer/k8s");
    lines.emplace_back("NodeSets with Feature=k8s, and partitions of them");
    lines.push_back(std::string("include of ") + slurm_conf_include);
    report.left(slurm.conf_path +
                ", which is yours. Take out what it has of "
                "this, and restart slurmctld and the slurmds, "
                "before you remove the plugins:");
    report.block(lines);
    std::string remove = "rm -rf";
    for (const char *name : {"k8s_gate", "k8s_sbatch", "k8s_logins"})
        remove += " " + slurm.state_save_location + "/" + name;
    report.left("files of the plugins, until slurmctld runs without these: " +
                remove);
    report.left("the programs and plugins: remove the packages, or make "
                "uninstall");
    report.left("the records of jobs in slurmdbd");
}

Result<> take_steps(const Site &site, const Report &report)
{
    auto minor = find_cluster(site.kubectl);
    if (!minor)
        return std::unexpected(minor.error());
    if (auto may = check_consent(site, report); !may)
        return may;
    Result<> done = end_adoptions(site, report);
    if (done)
        done = opt_nodes_out(site, report);
    if (done)
        done = wait_for_nodes(site, report);
    if (done)
        done = stop_agent(site, report);
    if (done)
        done = delete_manifests(site, *minor, report);
    if (done)
        done = report.dry_run()
                   ? clean_objects(site, report)
                   : try_again([&] { return clean_objects(site, report); });
    if (done)
        done = remove_files(site, report);
    if (!done)
        return done;
    say_what_is_left(site, report);
    return {};
}

} // namespace

int uninstall(const SetupOptions &options)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    Report report(options.dry_run);
    auto site = find_site(options);
    if (!site)
        return print_error(site.error().message);
    auto done = take_steps(*site, report);
    if (!done)
        return print_error(done.error().message +
                           ". What was done stays; run uninstall again then.");
    return exit_ok;
}

} // namespace bridge
