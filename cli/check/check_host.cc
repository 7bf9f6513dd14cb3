// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check_host.h"

#include <algorithm>
#include <format>
#include <iterator>

namespace bridge {

namespace {

constexpr unsigned others_write = 022; // group and others
constexpr unsigned others_read = 044;
constexpr unsigned owner_reads = 0400;
constexpr std::chrono::hours soon{1};

// Whoever may write the file can control the agent.
bool writable_by_others(const FileFacts &file)
{
    return file.mode & others_write;
}

bool owned_by(const FileFacts &file, const std::optional<SlurmUser> &user)
{
    return file.owner == 0 || !user || file.owner == user->id;
}

// Others than its owner are a finding of their own.
bool readable_by(const FileFacts &file, const SlurmUser &user)
{
    if (user.id == 0 || (file.mode & others_read))
        return true;
    return file.owner == user.id && (file.mode & owner_reads);
}

// "chown slurm PATH; chmod 755 PATH"
std::string give_to(const std::optional<SlurmUser> &user, const FileFacts &file,
                    const std::string &mode)
{
    std::string chmod = "chmod " + mode + " " + file.path;
    if (!user || file.owner == user->id)
        return chmod;
    return "chown " + user->name + " " + file.path + "; " + chmod;
}

Finding not_there(Severity severity, const FileFacts &file,
                  const std::string &says, const std::string &change)
{
    return {severity, file.path, says + ": " + file.reason, change};
}

std::string words(std::chrono::seconds time)
{
    auto minutes = std::chrono::duration_cast<std::chrono::minutes>(time);
    return std::format("{} min", minutes.count());
}

} // namespace

Findings check_conf_file(const HostFacts &host,
                         const std::optional<SlurmUser> &slurm_user)
{
    if (!host.conf.there)
        return {};
    if (writable_by_others(host.conf) || !owned_by(host.conf, slurm_user))
        return {
            {Severity::error, host.conf.path,
             "others than root and SlurmUser may write it",
             "chown root " + host.conf.path + "; chmod 644 " + host.conf.path}};
    return {};
}

Findings check_choices(const Conf &conf)
{
    Findings found;
    auto add_finding = [&](const std::string &says, const std::string &change) {
        found.push_back({Severity::warning, "k8s.conf", says, change});
    };
    if (std::ranges::contains(conf.choose_user, "*"))
        add_finding(
            "whoever may create a Pod anywhere may run as any user of Slurm",
            "ChooseUser=the namespaces that need it");
    if (std::ranges::contains(conf.choose_priority, "*"))
        add_finding(
            "whoever may create a Pod anywhere may pass every other job",
            "ChoosePriority=the namespaces that need it");
    if (conf.allow_root)
        add_finding(
            "Pods may run as root or SlurmUser, whose jobs Slurm hardly checks",
            "AllowRoot=no");
    return found;
}

Findings check_token(const HostFacts &host,
                     const std::optional<SlurmUser> &slurm_user)
{
    Findings found;
    const FileFacts &token = host.token;
    if (!token.there)
        return {not_there(Severity::error, token, "there is no token",
                          make_token_command)};
    if (token.mode & (others_read | others_write))
        found.push_back({Severity::error, token.path,
                         "others may read the agent's token, and act as it",
                         "chmod 400 " + token.path});
    if (!owned_by(token, slurm_user) ||
        (slurm_user && !readable_by(token, *slurm_user)))
        found.push_back(
            {Severity::error, token.path,
             std::format("slurmk8sd runs as {}, and only that user must be "
                         "able to read its token: the owner is {}, the mode "
                         "{:04o}",
                         slurm_user->name, token.owner_name, token.mode),
             give_to(slurm_user, token, "400")});
    if (!host.token_expires)
        return found;
    auto left = *host.token_expires - host.now;
    if (left <= std::chrono::seconds(0))
        found.push_back({Severity::error, token.path, "the token has expired",
                         make_token_command});
    else if (left < soon)
        found.push_back({Severity::warning, token.path,
                         "the token expires in " + words(left) +
                             ": something must renew it",
                         make_token_command});
    return found;
}

Findings check_socket(const HostFacts &host,
                      const std::optional<SlurmUser> &slurm_user)
{
    const FileFacts &directory = host.socket_directory;
    if (!directory.there)
        return {not_there(host.agent.answers ? Severity::error : Severity::note,
                          directory, "the socket's directory is not there",
                          "RuntimeDirectory=slurmk8s in slurmk8sd.service")};
    Findings found;
    if (writable_by_others(directory) || !owned_by(directory, slurm_user))
        found.push_back({Severity::error, directory.path,
                         "others may put a socket of theirs there, and "
                         "slurmctld's plugin would find it",
                         give_to(slurm_user, directory, "755")});
    if (!host.socket.there) {
        if (host.agent.answers)
            found.push_back(not_there(Severity::error, host.socket,
                                      "slurmk8sd runs, but its socket is gone",
                                      "systemctl restart slurmk8sd"));
        return found;
    }
    if (!host.socket.socket)
        found.push_back({Severity::error, host.socket.path,
                         "it is not a socket", "rm " + host.socket.path});
    else if (slurm_user && host.socket.owner != slurm_user->id)
        found.push_back(
            {Severity::error, host.socket.path,
             std::format("slurmk8sd ran as {}, not as SlurmUser, which is {}: "
                         "the plugin does not speak to it",
                         host.socket.owner_name, slurm_user->name),
             run_as_command(slurm_user->name)});
    return found;
}

Findings check_state_save(const HostFacts &host, const SlurmUser &slurm_user)
{
    if (!host.state_save)
        return {};
    const FileFacts &directory = *host.state_save;
    if (!directory.there || !directory.directory)
        return {{Severity::error, directory.path,
                 "this StateSaveLocation is not there: the check must run "
                 "where slurmctld does" +
                     (directory.reason.empty() ? "" : ": " + directory.reason),
                 ""}};
    if (directory.owner != slurm_user.id && directory.owner != 0)
        return {{Severity::error, directory.path,
                 "StateSaveLocation belongs to " + directory.owner_name +
                     ", not to SlurmUser, which is " + slurm_user.name,
                 "chown " + slurm_user.name + " " + directory.path}};
    if (writable_by_others(directory))
        return {{Severity::error, directory.path,
                 "others may write StateSaveLocation, and open closed gates",
                 "chmod 700 " + directory.path}};
    if (directory.mode & others_read)
        return {{Severity::note, directory.path,
                 "others may read StateSaveLocation",
                 "chmod 700 " + directory.path}};
    return {};
}

Findings check_files(const HostFacts &host,
                     const std::optional<SlurmUser> &slurm_user)
{
    if (host.in_pod)
        return {{Severity::note, "Pod",
                 "owners and modes of k8s.conf, of the token, the socket and "
                 "StateSaveLocation are not checked here: the kubelet sets "
                 "them",
                 ""}};
    Findings found = check_conf_file(host, slurm_user);
    auto add = [&](Findings more) {
        std::ranges::move(more, std::back_inserter(found));
    };
    add(check_token(host, slurm_user));
    add(check_socket(host, slurm_user));
    if (slurm_user)
        add(check_state_save(host, *slurm_user));
    return found;
}

Findings check_agent(const HostFacts &host)
{
    const AgentFacts &agent = host.agent;
    if (!agent.answers)
        return {{Severity::warning, "slurmk8sd",
                 "it does not answer on this host: it is not running, or "
                 "WebAddress is wrong",
                 "systemctl start slurmk8sd"}};
    Findings found;
    if (!agent.standby.empty())
        found.push_back({Severity::note, "slurmk8sd",
                         "it stands by: " + agent.standby, ""});
    for (const auto &[what, reason] : agent.problems)
        found.push_back(
            {Severity::warning, "slurmk8sd", what + ": " + reason, ""});
    return found;
}

} // namespace bridge
