// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/host_steps.h"

#include "agent/calls/token_request.h"
#include "cli/check/host_facts.h"
#include "cli/setup/conf_edit.h"
#include "common/base/owned_fd.h"
#include "common/base/read_file.h"
#include "common/base/replace_file.h"
#include "common/base/system_error.h"
#include "common/contract/names.h"
#include "common/kube/http.h"
#include "common/kube/token_claims.h"

#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <format>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

namespace bridge {

namespace {

constexpr std::string_view example_address = "192.0.2."; // RFC 5737
constexpr char new_conf[] =
    "# k8s.conf: configuration of slurm-k8s-bridge. k8s.conf(5) describes each "
    "key.\n";
constexpr mode_t others = 077;

std::string content_of(const std::string &path)
{
    return read_file(path, any_size).value_or("");
}

// Makes the directory unless it is there; its parent must be there. Another
// user may own that, so what is changed is what was opened, and no link.
Result<> make_directory(const std::string &path, mode_t mode, uid_t owner,
                        gid_t group)
{
    if (mkdir(path.c_str(), 0700) != 0)
        return errno == EEXIST ? Result<>()
                               : fail_errno(Code::busy, "make " + path);
    OwnedFd made(
        open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!made || fchown(made.get(), owner, group) != 0 ||
        fchmod(made.get(), mode) != 0)
        return fail_errno(Code::busy, "make " + path);
    return {};
}

std::string or_else(const std::string &text, const std::string &other)
{
    return text.empty() ? other : text;
}

// The one that Kubernetes gives to every Pod.
Result<std::string> ca_of_pods(const Kubectl &kubectl)
{
    auto map = kubectl.json(
        {"get", "configmap", "kube-root-ca.crt", "--namespace=default"});
    if (!map)
        return std::unexpected(map.error());
    std::string text = map->at("data").member("ca.crt").text();
    if (text.empty())
        return fail(Code::rejected,
                    "the cluster has no certificate authority to show");
    return text;
}

// Asks the API server whose token it is, as the agent will.
Result<bool> is_accepted(const HostPlan &plan)
{
    Http http({plan.server, plan.ca_file, plan.token_file});
    auto reply = http.post("/apis/authentication.k8s.io/v1/selfsubjectreviews",
                           R"({"apiVersion":"authentication.k8s.io/v1",)"
                           R"("kind":"SelfSubjectReview"})");
    if (!reply)
        return reply.error().code == Code::denied
                   ? Result<bool>(false)
                   : std::unexpected(reply.error());
    if (reply->status == 401)
        return false;
    if (auto said = check_status(*reply); !said)
        return std::unexpected(said.error());
    auto json = Json::parse(reply->body);
    return json && json->text("status/userInfo/username") ==
                       std::format("system:serviceaccount:{}:{}",
                                   account_namespace, account_name);
}

// Whether the token and its file can stay as they are.
Result<bool> is_good_token(const Site &site, const HostPlan &plan)
{
    FileFacts file = read_file_facts(plan.token_file);
    auto now = std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now());
    if (!file.there || file.owner != site.slurm.slurm_user_id ||
        (file.mode & others) != 0 ||
        token_is_due(token_claims(content_of(plan.token_file)), now))
        return false;
    auto accepted = is_accepted(plan);
    if (!accepted)
        return fail(accepted.error(),
                    "the API server does not answer at " + plan.server +
                        ": name its address as this host reaches it by "
                        "--api-server URL");
    return accepted;
}

Result<> make_token(const Site &site, const std::string &path)
{
    uid_t user = site.slurm.slurm_user_id;
    auto token = site.kubectl.run(
        {"create", "token", account_name,
         std::string("--namespace=") + account_namespace,
         std::format("--duration={}s", site.options.token_life.count())});
    if (!token)
        return std::unexpected(token.error());
    if (auto made =
            make_directory(directory_of(path), 0700, user, site.slurm_group);
        !made)
        return made;
    return replace_file(
        path, *token, {.mode = 0400, .owner = user, .group = site.slurm_group});
}

// Whether the agent can replace the file.
void check_renewal(const Site &site, const HostPlan &plan, Report &report)
{
    const std::string directory = directory_of(plan.token_file);
    FileFacts facts = read_file_facts(directory);
    if (!facts.there || (facts.owner == site.slurm.slurm_user_id &&
                         (facts.mode & S_IWUSR) != 0))
        return;
    report.left_to_do(std::format(
        "slurmk8sd cannot write {} and so cannot renew its token: set "
        "KubeTokenFile={} in {}, and run setup again",
        directory, default_token_file, site.conf_path));
}

} // namespace

HostPlan plan_host(const Site &site, const KubeCluster &cluster)
{
    const Conf &conf = site.conf;
    bool example = conf.kube_api_server.contains(example_address);
    const std::string beside = directory_of(site.conf_path);
    return {or_else(site.options.api_server,
                    example ? cluster.server
                            : or_else(conf.kube_api_server, cluster.server)),
            or_else(conf.kube_ca_file, beside + "/k8s/ca.crt"),
            or_else(conf.kube_token_file, default_token_file),
            or_else(site.options.partition, or_else(conf.partition, "k8s"))};
}

Result<> write_ca(const Site &site, const HostPlan &plan,
                  const KubeCluster &cluster, const Report &report)
{
    const std::string present = content_of(plan.ca_file);
    bool its_address = plan.server == cluster.server;
    bool own = plan.ca_file == directory_of(site.conf_path) + "/k8s/ca.crt";
    if (!present.empty() && (!own || !its_address || cluster.ca.empty())) {
        report.already(plan.ca_file +
                       " is kept: only setup's own file is replaced, by the "
                       "authority of a kubeconfig with the same API server");
        return {};
    }
    Result<std::string> wanted = cluster.ca;
    if (cluster.ca.empty() || !its_address)
        wanted = ca_of_pods(site.kubectl);
    if (!wanted)
        return std::unexpected(wanted.error());
    if (present.contains(*wanted)) {
        report.already(plan.ca_file + " has the certificate authority");
        return {};
    }
    return report.change(
        plan.ca_file + ": the certificate authority of " + plan.server, [&] {
            if (auto made =
                    make_directory(directory_of(plan.ca_file), 0755, 0, 0);
                !made)
                return made;
            return replace_file(plan.ca_file, *wanted, {.mode = 0644});
        });
}

Result<> write_token(const Site &site, const HostPlan &plan, Report &report)
{
    auto good = is_good_token(site, plan);
    if (!good)
        return std::unexpected(good.error());
    const std::string &path = plan.token_file;
    if (*good)
        report.already(path + " has a token of " + account_name);
    else if (auto done = report.change(
                 std::format("{}: a token of {} for {} h, owner {}, mode 0400",
                             path, account_name,
                             site.options.token_life.count() / 3600,
                             site.slurm.slurm_user),
                 [&] { return make_token(site, path); });
             !done)
        return done;
    check_renewal(site, plan, report);
    return {};
}

Result<> write_conf(const Site &site, const HostPlan &plan,
                    const Report &report, bool &changed)
{
    std::string text = or_else(site.conf_text, new_conf), what;
    const std::pair<const char *, std::string> settings[] = {
        {"KubeApiServer", plan.server},
        {"KubeCaFile", plan.ca_file},
        {"KubeTokenFile", plan.token_file},
        {"Partition", plan.partition}};
    for (const auto &[key, value] : settings)
        if (conf_value(text, key) != value) {
            text = with_conf_value(text, key, value);
            what +=
                std::format("{}{}={}", what.empty() ? "" : ", ", key, value);
        }
    changed = !what.empty();
    if (!changed) {
        report.already(site.conf_path + " has what it needs");
        return {};
    }
    FileRights rights{.mode = 0644};
    if (struct stat now{}; stat(site.conf_path.c_str(), &now) == 0)
        rights = {now.st_mode & 07777, now.st_uid, now.st_gid};
    return report.change(site.conf_path + ": " + what, [&] {
        return replace_file(site.conf_path, text, rights);
    });
}

} // namespace bridge
