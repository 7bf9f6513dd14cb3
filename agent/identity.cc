// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/identity.h"

#include "common/names.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <grp.h>
#include <optional>
#include <pwd.h>
#include <vector>

namespace bridge {

namespace {

// From here on a number means "not given" in Slurm (NO_VAL).
constexpr std::uint32_t first_reserved_id = 0xfffffffe;
constexpr std::size_t record_size = 64 * 1024; // bytes for one user or group

std::string annotation(const Namespace &ns, const char *name)
{
    auto found = ns.annotations.find(name);
    return found == ns.annotations.end() ? std::string() : found->second;
}

std::optional<std::uint32_t> as_number(const std::string &text)
{
    std::uint32_t id = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), id);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return id;
}

std::unexpected<Error> no_answer(const char *kind, const std::string &name,
                                 int error)
{
    return fail(Code::busy, std::string("looking up ") + kind + " \"" + name +
                                "\": " + std::strerror(error));
}

// The user's id and primary group.
Result<Identity> find_user(const std::string &name)
{
    std::vector<char> buffer(record_size);
    passwd record{};
    passwd *found = nullptr;
    auto id = as_number(name);
    int error = id ? getpwuid_r(*id, &record, buffer.data(), buffer.size(),
                                &found)
                   : getpwnam_r(name.c_str(), &record, buffer.data(),
                                buffer.size(), &found);
    if (found)
        return Identity{found->pw_uid, found->pw_gid, {}};
    if (error != 0 && error != ENOENT && error != ESRCH)
        return no_answer("user", name, error);
    return fail(Code::rejected,
                "user \"" + name + "\" is not known where slurmctld runs");
}

Result<std::uint32_t> find_group(const std::string &name)
{
    if (auto id = as_number(name); id && *id < first_reserved_id)
        return *id;
    std::vector<char> buffer(record_size);
    group record{};
    group *found = nullptr;
    int error = getgrnam_r(name.c_str(), &record, buffer.data(), buffer.size(),
                           &found);
    if (found)
        return found->gr_gid;
    if (error != 0 && error != ENOENT && error != ESRCH)
        return no_answer("group", name, error);
    return fail(Code::rejected,
                "group \"" + name + "\" is not known where slurmctld runs");
}

} // namespace

Result<Identity> identify(const Namespace &ns, const Conf &conf)
{
    std::string user = annotation(ns, names::namespace_user);
    if (user.empty())
        user = conf.default_user;
    if (user.empty())
        return fail(Code::rejected,
                    "namespace \"" + ns.name + "\" has no annotation " +
                        names::namespace_user +
                        " and k8s.conf has no DefaultUser: there is nobody to "
                        "run this Pod as in Slurm");
    auto identity = find_user(user);
    if (!identity)
        return identity;
    if (std::string name = annotation(ns, names::namespace_group);
        !name.empty()) {
        auto id = find_group(name);
        if (!id)
            return std::unexpected(id.error());
        identity->group_id = *id;
    }
    identity->account = annotation(ns, names::namespace_account);
    if (!conf.allow_root && (identity->user_id == 0 || identity->group_id == 0))
        return fail(Code::rejected,
                    "Pods of namespace \"" + ns.name +
                        "\" would run as root in Slurm, and k8s.conf has no "
                        "AllowRoot=yes");
    return identity;
}

} // namespace bridge
