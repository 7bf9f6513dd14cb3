// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/login_notary.h"

#include "common/contract/login_dir.h"
#include "common/contract/session_conf.h"

#include <chrono>
#include <mutex>
#include <string_view>

namespace bridge {

namespace {

LoginDir::Time now()
{
    return std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now());
}

} // namespace

std::optional<std::string> login_in(std::span<char *const> spank_job_env)
{
    const std::string prefix = std::string(names::login_variable) + "=";
    for (const char *text : spank_job_env)
        if (std::string_view entry = text ? text : "";
            entry.starts_with(prefix))
            return std::string(entry.substr(prefix.size()));
    return std::nullopt;
}

std::optional<std::string> record_login(const std::string &login,
                                        std::uint32_t user,
                                        const std::string &state_save_location,
                                        const std::string &conf_path)
{
    auto conf = load_session_conf(conf_path);
    if (!conf || conf->address.empty())
        return "slurmk8sd serves no users here: slurmctld's k8s.conf has no "
               "UserAddress.";
    if (state_save_location.empty())
        return "slurmctld has no StateSaveLocation for logins.";
    static std::mutex mutex; // put() allows one thread at a time
    std::lock_guard lock(mutex);
    LoginDir logins(state_save_location + "/" + names::logins_dir);
    if (auto noted = logins.put(login, user, now()); !noted)
        return "slurmctld could not tell slurmk8sd who you are: " +
               noted.error().message;
    return std::nullopt;
}

} // namespace bridge
