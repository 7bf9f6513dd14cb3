// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/login_check.h"

#include "common/base/hexadecimal.h"
#include "common/base/log.h"

#include <array>
#include <openssl/evp.h>
#include <span>
#include <thread>

namespace bridge {

namespace {

constexpr std::size_t secret_size = 32; // bytes

} // namespace

std::string make_login_secret()
{
    return random_hexadecimal(secret_size);
}

std::string login_name_of(std::string_view secret)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
    std::size_t size = 0;
    if (EVP_Q_digest(nullptr, "SHA256", nullptr, secret.data(), secret.size(),
                     hash.data(), &size) != 1)
        return {};
    return hexadecimal(std::span(hash).first(size));
}

Result<uid_t> LoginCheck::find(const std::string &name, LoginDir::Time now,
                               const std::function<bool()> &goes_on) const
{
    constexpr std::chrono::milliseconds pause{20};
    auto user = logins_.user_of(name, now);
    for (auto waited = pause; !user && user.error().code == Code::not_found &&
                              waited <= patience_ && goes_on();
         waited += pause) {
        std::this_thread::sleep_for(pause);
        user = logins_.user_of(name, now);
    }
    return user;
}

bool LoginCheck::was_used(const std::string &name, LoginDir::Time now)
{
    std::lock_guard lock(mutex_);
    std::erase_if(used_, [&](const auto &one) {
        return now - one.second > LoginDir::life + 2 * LoginDir::clock_skew;
    });
    return used_.contains(name);
}

Result<uid_t> LoginCheck::user_of(const std::string &secret, LoginDir::Time now,
                                  const std::function<bool()> &goes_on)
{
    std::string name = login_name_of(secret);
    const auto used = [&] {
        return fail(Code::denied, "that login was used before");
    };
    if (was_used(name, now))
        return used();
    auto user = find(name, now, goes_on);
    std::lock_guard lock(mutex_);
    if (used_.contains(name)) // by another thread, meanwhile
        return used();
    if (!user && user.error().code == Code::busy)
        return fail(user.error(), "slurmk8sd does not know who you are");
    if (!user)
        return fail(Code::denied, "slurmctld has not said who you are");
    used_[name] = now;
    if (auto removed = logins_.remove(name); !removed && !has_warned_) {
        has_warned_ = true; // one log line is enough
        log_warning(
            "used logins cannot be removed, slurmctld removes them when "
            "they are old",
            {{"err", removed.error().message}});
    }
    return *user;
}

} // namespace bridge
