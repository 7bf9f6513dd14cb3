// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/site.h"

#include "cli/slurm_here.h"
#include "common/base/read_file.h"
#include "common/base/replace_file.h"
#include "common/base/text.h"
#include "common/base/user_database.h"
#include "common/contract/names.h"
#include "common/slurm/api.h"
#include "common/slurm/load_controllers.h"

#include <pwd.h>
#include <unistd.h>

namespace bridge {

namespace {

std::string host_name()
{
    char name[256] = "";
    gethostname(name, sizeof(name) - 1);
    return name;
}

Result<> check_host()
{
    auto controllers = load_controllers();
    if (!controllers)
        return std::unexpected(controllers.error());
    if (controllers->hosts.empty() ||
        find_controller(*controllers, host_name()))
        return {};
    return fail(Code::rejected, "this is not a host of slurmctld: run it on " +
                                    controllers->hosts.front());
}

Result<SlurmFacts> ask_slurmctld()
{
    if (!has_slurm_conf()) // libslurm would end the process
        return fail(Code::rejected,
                    "there is no slurm.conf on this host: run it on the host "
                    "of slurmctld, with SLURM_CONF where slurm.conf is not in "
                    "/etc/slurm");
    SlurmApi slurm;
    auto facts = load_slurm_facts(slurm);
    // libslurm forgets slurm.conf when the SlurmApi is destroyed.
    if (auto host = check_host(); !host)
        return std::unexpected(host.error());
    if (!facts)
        return fail(facts.error(), "slurmctld does not answer: start it, and "
                                   "try again");
    return facts;
}

Result<gid_t> group_of(uid_t user)
{
    std::vector<char> room;
    passwd record{}, *found = nullptr;
    ask_user_database(room, [&](char *bytes, std::size_t size) {
        return getpwuid_r(user, &record, bytes, size, &found);
    });
    if (!found)
        return fail(Code::rejected, "this host does not know SlurmUser");
    return found->pw_gid;
}

Result<> read_conf(Site &site)
{
    auto text = read_file(site.conf_path, any_size);
    if (!text && access(site.conf_path.c_str(), F_OK) == 0)
        return fail(text.error(), "read " + site.conf_path);
    site.conf_text = text.value_or("");
    auto conf = parse_conf(site.conf_text);
    if (!conf)
        return fail(conf.error(), site.conf_path + " has a mistake: correct "
                                                   "it, and try again");
    site.conf = std::move(*conf);
    return {};
}

} // namespace

std::string manifests_of(const SetupOptions &options)
{
    return options.manifests.empty() ? PKGDATADIR "/kubernetes"
                                     : options.manifests;
}

Result<Site> find_site(const SetupOptions &options)
{
    if (geteuid() != 0)
        return fail(Code::denied, "this must be run as root");
    auto slurm = ask_slurmctld();
    if (!slurm)
        return std::unexpected(slurm.error());
    auto group = group_of(slurm->slurm_user_id);
    if (!group)
        return std::unexpected(group.error());
    Site site{options, Kubectl(options.kubeconfig), std::move(*slurm),
              *group,  options.conf_path,           {},
              {}};
    if (site.conf_path.empty())
        site.conf_path =
            directory_of(site.slurm.conf_path) + "/" + names::conf_file;
    if (auto read = read_conf(site); !read)
        return std::unexpected(read.error());
    return site;
}

Result<int> find_cluster(const Kubectl &kubectl)
{
    auto version = kubectl.json({"version"});
    if (!version)
        return fail(version.error(), "the API server does not answer");
    std::string text = version->text("serverVersion/minor");
    if (text.ends_with('+')) // of some vendors
        text.pop_back();
    auto minor = whole_number<int>(text);
    if (!minor)
        return fail(Code::rejected, "the API server does not say its version");
    for (const char *resource :
         {"namespaces", "clusterrolebindings.rbac.authorization.k8s.io",
          "validatingadmissionpolicies.admissionregistration.k8s.io"}) {
        auto may = kubectl.may("create", resource);
        if (!may)
            return std::unexpected(may.error());
        if (!*may)
            return fail(Code::denied,
                        std::string("this kubeconfig may not create ") +
                            resource +
                            ": use that of an administrator of the cluster");
    }
    return *minor;
}

Result<std::vector<Node>> load_kube_nodes(const Kubectl &kubectl,
                                          const std::string &selector)
{
    Words words = {"get", "nodes"};
    if (!selector.empty())
        words.push_back("--selector=" + selector);
    auto list = kubectl.json(std::move(words));
    if (!list)
        return std::unexpected(list.error());
    std::vector<Node> nodes;
    for (const Json &object : list->items("items"))
        nodes.push_back(node_from(object));
    return nodes;
}

Result<std::vector<Namespace>> load_kube_namespaces(const Kubectl &kubectl)
{
    auto list = kubectl.json({"get", "namespaces"});
    if (!list)
        return std::unexpected(list.error());
    std::vector<Namespace> namespaces;
    for (const Json &object : list->items("items"))
        namespaces.push_back(namespace_from(object));
    return namespaces;
}

Result<> run_all(const Kubectl &kubectl, const Commands &commands)
{
    for (const Words &words : commands)
        if (auto done = kubectl.run(words); !done)
            return std::unexpected(done.error());
    return {};
}

} // namespace bridge
