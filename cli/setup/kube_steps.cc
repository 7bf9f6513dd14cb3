// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/kube_steps.h"

#include "agent/calls/token_request.h"
#include "common/base/read_file.h"
#include "common/base/replace_file.h"
#include "common/base/system_error.h"
#include "common/contract/names.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <format>
#include <iterator>
#include <set>
#include <system_error>

namespace bridge {

namespace {

namespace fs = std::filesystem;

constexpr char memory[] = "slurmk8s-setup";
constexpr char all_variant[] = "-1.35"; // a component for Kubernetes 1.35

std::string in_our_namespace()
{
    return std::string("--namespace=") + account_namespace;
}

// A folder for a kustomization, which goes when this is destroyed.
class WorkFolder {
  public:
    WorkFolder()
    {
        char name[] = "/tmp/slurmk8s-XXXXXX";
        if (mkdtemp(name))
            path_ = name;
    }
    WorkFolder(const WorkFolder &) = delete;
    WorkFolder &operator=(const WorkFolder &) = delete;
    ~WorkFolder()
    {
        std::error_code ignored;
        if (!path_.empty())
            fs::remove_all(path_, ignored);
    }

    const std::string &path() const { return path_; } // "": there is none

  private:
    std::string path_;
};

std::vector<std::string> known_components(const std::string &folder)
{
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder + "/components", error), end;
         !error && entry != end; entry.increment(error)) {
        std::string name = entry->path().filename();
        if (!name.ends_with(all_variant))
            names.push_back(std::move(name));
    }
    return names;
}

// Whether the API server serves MutatingAdmissionPolicies in this version.
bool mutates(const Kubectl &kubectl, const std::string &version)
{
    auto text = kubectl.run(
        {"get", "--raw", "/apis/admissionregistration.k8s.io/" + version});
    auto json = text ? Json::parse(*text) : std::unexpected(text.error());
    return json && std::ranges::any_of(json->items("resources"),
                                       [](const Json &resource) {
                                           return resource.text("name") ==
                                                  "mutatingadmissionpolicies";
                                       });
}

KubeRelease release_of(const Kubectl &kubectl, int minor)
{
    KubeRelease release{minor, true, mutates(kubectl, "v1")};
    if (!release.mutates_v1)
        release.mutates = mutates(kubectl, "v1beta1");
    return release;
}

std::string text_of_memory(const std::string &components,
                           const std::vector<ObjectId> &objects)
{
    return JsonValue::object(
               {{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata",
                 JsonValue::object(
                     {{"name", memory}, {"namespace", account_namespace}})},
                {"data", JsonValue::object({{"components", components},
                                            {"objects", text_of(objects)}})}})
        .dump();
}

Result<> put(const Kubectl &kubectl, const std::string &text)
{
    auto done = kubectl.run({"apply", "-f", "-"}, text);
    return done ? Result<>() : std::unexpected(done.error());
}

// A Namespace goes with all that is in it, which others may have put there.
Result<> drop(const Kubectl &kubectl, std::vector<ObjectId> objects,
              const Report &report)
{
    auto is_namespace = [](const ObjectId &id) {
        return id.kind == "Namespace";
    };
    for (const ObjectId &id : objects)
        if (is_namespace(id))
            report.left("Namespace " + id.name + ", with all that is in it");
    std::erase_if(objects, is_namespace);
    if (objects.empty())
        return {};
    std::string names;
    for (const ObjectId &id : objects)
        names += (names.empty() ? "" : ", ") + id.kind + " " + id.name;
    return report.change(
        "manifests: deletes what they no longer have: " + names,
        [&]() -> Result<> {
            auto done = kubectl.run({"delete", "--ignore-not-found", "-f", "-"},
                                    list_of(objects));
            return done ? Result<>() : std::unexpected(done.error());
        });
}

} // namespace

Result<Applied> load_applied(const Kubectl &kubectl)
{
    auto map = kubectl.json(
        {"get", "configmap", memory, in_our_namespace(), "--ignore-not-found"});
    if (!map)
        return std::unexpected(map.error());
    return Applied{map->text("data/components"),
                   parse_ids(map->text("data/objects"))};
}

Result<std::string> render(const Site &site, const std::string &words,
                           int minor)
{
    std::error_code error;
    fs::path folder = fs::canonical(manifests_of(site.options), error);
    auto all = read_file(folder.string() + "/all/kustomization.yaml", any_size);
    if (error || !all)
        return fail(Code::rejected, "there are no manifests in " +
                                        manifests_of(site.options) +
                                        ": name their folder by --manifests");
    auto components =
        choose_components(words, components_of(*all), known_components(folder),
                          release_of(site.kubectl, minor));
    if (!components)
        return fail(components.error(), "--components");
    WorkFolder work;
    if (work.path().empty())
        return fail_errno(Code::busy, "make a folder in /tmp");
    // kustomize takes relative paths only.
    fs::path from = fs::canonical(work.path(), error);
    std::string path = folder.lexically_relative(from);
    if (auto written = replace_file(work.path() + "/kustomization.yaml",
                                    kustomization_of(path, *components), {});
        !written)
        return std::unexpected(written.error());
    return site.kubectl.run({"kustomize", work.path()});
}

Result<> apply_manifests(const Site &site, int minor, const Report &report)
{
    const Kubectl &kubectl = site.kubectl;
    auto before = load_applied(kubectl);
    if (!before)
        return std::unexpected(before.error());
    std::string words = site.options.components;
    if (words.empty())
        words = before->components.empty() ? "all" : before->components;
    auto yaml = render(site, words, minor);
    if (!yaml)
        return std::unexpected(yaml.error());
    const std::vector<ObjectId> objects = object_ids(*yaml);
    auto differs = kubectl.status({"diff", "-f", "-"}, *yaml);
    if (!differs)
        return std::unexpected(differs.error());
    const std::string what =
        std::format("manifests ({}): {} objects", words, objects.size());
    bool same = *differs == 0 && before->objects == objects &&
                before->components == words;
    if (same) {
        report.already(what);
        return {};
    }
    auto applied = report.change(what, [&]() -> Result<> {
        if (auto done = put(kubectl, *yaml); !done)
            return done;
        // The old ones too, until they are deleted.
        std::vector<ObjectId> both = objects;
        std::ranges::copy(dropped(before->objects, objects),
                          std::back_inserter(both));
        return put(kubectl, text_of_memory(words, both));
    });
    if (!applied)
        return applied;
    auto gone = dropped(before->objects, objects);
    if (auto done = drop(kubectl, gone, report); !done)
        return done;
    if (gone.empty() || report.dry_run())
        return {};
    return put(kubectl, text_of_memory(words, objects));
}

Result<std::vector<Node>> chosen_nodes(const Site &site)
{
    const SetupOptions &options = site.options;
    std::vector<Node> chosen;
    if (options.nodes.empty() && options.node_selector.empty())
        return chosen;
    std::set<std::string> missing(options.nodes.begin(), options.nodes.end());
    auto all = load_kube_nodes(site.kubectl,
                               missing.empty() ? options.node_selector : "");
    if (!all)
        return std::unexpected(all.error());
    if (missing.empty())
        return all;
    for (Node &node : *all)
        if (missing.erase(node.name) != 0)
            chosen.push_back(std::move(node));
    if (!missing.empty())
        return fail(Code::rejected,
                    "--nodes: there is no Node " + *missing.begin());
    return chosen;
}

Result<> opt_in_nodes(const Site &site, const std::vector<Node> &nodes,
                      const Report &report)
{
    for (const Node &node : nodes) {
        Commands commands = opt_in(node);
        if (commands.empty()) {
            report.already("Node " + node.name + " is given to Slurm");
            continue;
        }
        auto done = report.change(
            "Node " + node.name + ": is given to Slurm (" +
                std::string(commands.size() == 2 ? "taint, then label"
                                                 : commands[0][0]) +
                ")",
            [&] { return run_all(site.kubectl, commands); });
        if (!done)
            return done;
    }
    return {};
}

Result<> opt_in_namespaces(const Site &site, const Report &report)
{
    if (site.options.namespaces.empty())
        return {};
    auto all = load_kube_namespaces(site.kubectl);
    if (!all)
        return std::unexpected(all.error());
    for (const NamespaceWish &wish : site.options.namespaces) {
        auto ns = std::ranges::find(*all, wish.name, &Namespace::name);
        if (ns == all->end())
            return fail(Code::rejected, "there is no Namespace " + wish.name +
                                            ": kubectl create namespace " +
                                            wish.name);
        std::string what = std::format(
            "Namespace {}: its Pods are jobs of {}{}", wish.name, wish.user,
            wish.account.empty() ? "" : ", account " + wish.account);
        Commands commands = opt_in(*ns, wish);
        if (commands.empty())
            report.already(what);
        else if (auto done = report.change(
                     what, [&] { return run_all(site.kubectl, commands); });
                 !done)
            return done;
    }
    return {};
}

} // namespace bridge
