// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/identity.h"

#include "agent/decide/job_requests.h"
#include "agent/decide/job_values.h"
#include "agent/decide/messages.h"
#include "agent/gang/batch_mark.h"
#include "common/base/text.h"
#include "common/base/user_database.h"
#include "common/contract/names.h"

#include <algorithm>
#include <cstring>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>
#include <vector>

namespace bridge {

namespace {

// From here on Slurm's numbers mean "not given" (NO_VAL).
constexpr std::uint32_t first_reserved_id = 0xfffffffe;

std::string annotation(const Namespace &ns, const char *name)
{
    auto found = ns.annotations.find(name);
    return found == ns.annotations.end() ? std::string() : found->second;
}

std::unexpected<Error> no_answer(const char *kind, const std::string &name,
                                 int error)
{
    return fail(Code::busy, std::string("cannot look up ") + kind + " \"" +
                                name + "\": " + std::strerror(error));
}

// Looks up the user's id and primary group.
Result<Identity> find_user(const std::string &name)
{
    std::vector<char> room;
    passwd record{};
    passwd *found = nullptr;
    auto id = whole_number<std::uint32_t>(name);
    int error = ask_user_database(room, [&](char *buffer, std::size_t size) {
        return id ? getpwuid_r(*id, &record, buffer, size, &found)
                  : getpwnam_r(name.c_str(), &record, buffer, size, &found);
    });
    if (found)
        return Identity{found->pw_uid, found->pw_gid, {}, {}, 0};
    if (!is_no_such_record(error))
        return no_answer("user", name, error);
    return fail(Code::rejected,
                "user \"" + name + "\" is not known where slurmctld runs");
}

Result<std::uint32_t> find_group(const std::string &name)
{
    if (auto id = whole_number<std::uint32_t>(name);
        id && *id < first_reserved_id)
        return *id;
    std::vector<char> room;
    group record{};
    group *found = nullptr;
    int error = ask_user_database(room, [&](char *buffer, std::size_t size) {
        return getgrnam_r(name.c_str(), &record, buffer, size, &found);
    });
    if (found)
        return found->gr_gid;
    if (!is_no_such_record(error))
        return no_answer("group", name, error);
    return fail(Code::rejected,
                "group \"" + name + "\" is not known where slurmctld runs");
}

bool lists(const std::vector<std::string> &namespaces, const std::string &name)
{
    return std::ranges::contains(namespaces, "*") ||
           std::ranges::contains(namespaces, name);
}

// Combines what the namespace sets, what its Pod requests, and what the Pod may
// choose.
struct Chooser {
    const Namespace &ns;
    const Wishes &wishes;
    const Conf &conf;
    bool may_choose;

    const Wish *wish(std::string_view name) const
    {
        auto found = wishes.find(name);
        return found == wishes.end() ? nullptr : &found->second;
    }

    std::unexpected<Error> refuse(const Wish &wish, const std::string &what,
                                  const char *key) const
    {
        return fail(Code::rejected,
                    unfit_wish_reason(wish, what + " in namespace \"" +
                                                ns.name + "\", which " + key +
                                                " in k8s.conf does not list"));
    }

    // Returns the namespace's user, or the one that the Pod requests.
    Result<Identity> user() const
    {
        std::string name = annotation(ns, names::namespace_user);
        if (name.empty())
            name = conf.default_user;
        const Wish *wished = wish("user-id");
        if (wished && may_choose)
            return find_user(wished->value);
        if (name.empty())
            return fail(
                Code::rejected,
                "namespace \"" + ns.name + "\" has no annotation " +
                    names::namespace_user +
                    " and k8s.conf has no DefaultUser: no Slurm user is "
                    "known for this Pod (" +
                    name_user_command(ns.name) + ")");
        auto found = find_user(name);
        if (found && wished && wished->value != name &&
            wished->value != std::to_string(found->user_id))
            return refuse(*wished, "name the user \"" + name + "\"",
                          "ChooseUser");
        return found;
    }

    // A user that the Pod names has its primary group unless the Pod requests
    // another.
    Result<std::uint32_t> group(std::uint32_t primary) const
    {
        const Wish *wished = wish("group-id");
        if (wished && may_choose)
            return find_group(wished->value);
        std::string name = annotation(ns, names::namespace_group);
        bool other_user = may_choose && wish("user-id");
        Result<std::uint32_t> id = primary;
        if (!name.empty() && !other_user)
            id = find_group(name);
        if (id && wished && wished->value != name &&
            wished->value != std::to_string(*id))
            return refuse(*wished, "name the group " + std::to_string(*id),
                          "ChooseUser");
        return id;
    }

    // What the namespace leaves open is decided by Slurm for that user.
    Result<std::string> account_or_qos(const char *name,
                                       const char *of_namespace) const
    {
        std::string fixed = annotation(ns, of_namespace);
        const Wish *wished = wish(name);
        if (!wished || wished->value == fixed)
            return fixed;
        if (!fixed.empty() && !may_choose)
            return refuse(*wished, "be \"" + fixed + "\"", "ChooseUser");
        return wished->value;
    }

    // sbatch allows these to operators only.
    Result<> check_priority() const
    {
        if (lists(conf.choose_priority, ns.name))
            return {};
        if (const Wish *wished = wish("priority");
            wished && parse_number(wished->value, 1, UINT32_MAX))
            return refuse(*wished, "be 0, which holds the job,",
                          "ChoosePriority");
        if (const Wish *wished = wish("nice");
            wished && parse_number(wished->value, -max_nice, -1))
            return refuse(*wished, "be 0 or more", "ChoosePriority");
        return {};
    }
};

// Slurm hardly checks jobs of root or of SlurmUser, the user of this program.
bool is_mighty(const Identity &identity)
{
    return identity.user_id == 0 || identity.group_id == 0 ||
           identity.user_id == geteuid();
}

} // namespace

Result<Identity> identify(const Namespace &ns, const Pod &pod, const Conf &conf)
{
    Wishes wishes = wishes_in(pod.annotations);
    // The agent itself wrote the annotations of a batch job's Pod.
    bool ours =
        is_batch_namespace(conf, ns.name) && batch_mark(pod).has_value();
    Chooser chooser{ns, wishes, conf, ours || lists(conf.choose_user, ns.name)};
    auto identity = chooser.user();
    if (!identity)
        return identity;
    auto group = chooser.group(identity->group_id);
    if (!group)
        return std::unexpected(group.error());
    identity->group_id = *group;
    if (!conf.allow_root && is_mighty(*identity))
        return fail(Code::rejected,
                    "Pods of namespace \"" + ns.name +
                        "\" would run as root or SlurmUser in Slurm, and "
                        "k8s.conf has no AllowRoot=yes");
    auto account = chooser.account_or_qos("account", names::namespace_account);
    if (!account)
        return std::unexpected(account.error());
    auto qos = chooser.account_or_qos("qos", names::namespace_qos);
    if (!qos)
        return std::unexpected(qos.error());
    if (auto may = chooser.check_priority(); !may)
        return std::unexpected(may.error());
    identity->account = std::move(*account);
    identity->qos = std::move(*qos);
    if (auto known = conf.priority_classes.find(pod.priority_class);
        known != conf.priority_classes.end()) {
        identity->nice = known->second.nice;
        if (identity->qos.empty())
            identity->qos = known->second.qos;
    }
    return identity;
}

} // namespace bridge
