// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/login_dir.h"

#include "common/base/hexadecimal.h"
#include "common/base/private_dir.h"
#include "common/base/text.h"

#include <optional>
#include <vector>

namespace bridge {

namespace {

constexpr std::size_t name_length = 64;

struct Login {
    std::string_view name; // the hash
    std::uint32_t user = 0;
    std::int64_t time = 0; // seconds since the epoch
};

std::string file_of(const Login &login)
{
    return std::string(login.name) + "-" + std::to_string(login.user) + "-" +
           std::to_string(login.time);
}

// Parses a file name. Nothing if the file is not a login.
std::optional<Login> login_in_file(std::string_view file)
{
    std::string_view name = next_part(file, '-');
    auto user = whole_number<std::uint32_t>(next_part(file, '-'));
    auto time = whole_number<std::int64_t>(file);
    if (!is_login_name(name) || !user || !time)
        return std::nullopt;
    return Login{name, *user, *time};
}

bool is_good(const Login &login, LoginDir::Time now)
{
    auto age = now.time_since_epoch() - std::chrono::seconds(login.time);
    return age <= LoginDir::life + LoginDir::clock_skew &&
           age >= -LoginDir::clock_skew;
}

// Files of earlier versions have the hash as their name and the rest as
// contents.
bool is_to_go(const std::string &file, LoginDir::Time now)
{
    auto login = login_in_file(file);
    return login ? !is_good(*login, now) : is_login_name(file);
}

Result<std::vector<std::string>> files_of(const PrivateDir &directory,
                                          const std::string &name)
{
    if (!is_login_name(name))
        return fail(Code::rejected, "this is not the hash of a login");
    auto files = directory.list();
    if (files)
        std::erase_if(*files, [&](const std::string &file) {
            auto login = login_in_file(file);
            return !login || login->name != name;
        });
    return files;
}

} // namespace

bool is_login_name(std::string_view name)
{
    return is_hexadecimal(name, name_length);
}

Result<> LoginDir::put(const std::string &name, std::uint32_t user,
                       Time now) const
{
    if (!is_login_name(name))
        return fail(Code::rejected, "this is not the hash of a login");
    PrivateDir directory(path_);
    if (auto made = directory.make(); !made)
        return made;
    auto files = directory.list();
    if (!files)
        return std::unexpected(files.error());
    for (const std::string &file : *files) {
        if (is_to_go(file, now)) {
            static_cast<void>(directory.remove(file)); // or the next put()
                                                       // removes it
        } else if (auto login = login_in_file(file);
                   login && login->name == name) {
            return fail(Code::busy, "this login exists already");
        }
    }
    return directory.put(file_of({name, user, now.time_since_epoch().count()}),
                         {});
}

Result<std::uint32_t> LoginDir::user_of(const std::string &name, Time now) const
{
    auto files = files_of(PrivateDir(path_), name);
    if (!files)
        return std::unexpected(files.error());
    for (const std::string &file : *files)
        if (auto login = login_in_file(file); login && is_good(*login, now))
            return login->user;
    return fail(Code::not_found, files->empty() ? "there is no such login"
                                                : "this login has expired");
}

Result<> LoginDir::remove(const std::string &name) const
{
    PrivateDir directory(path_);
    auto files = files_of(directory, name);
    if (!files)
        return std::unexpected(files.error());
    for (const std::string &file : *files)
        if (auto removed = directory.remove(file); !removed)
            return removed;
    return {};
}

} // namespace bridge
