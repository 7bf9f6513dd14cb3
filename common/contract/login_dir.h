// SPDX-License-Identifier: GPL-2.0-or-later
// How a user proves his identity to the agent over TLS. slurmctld vouches for
// the user, by whatever authentication it has: auth/munge, auth/slurm or
// auth/jwt.
//
//   slurmk8s        makes a secret. As the user, it asks slurmctld whether a
//                   job would run (REQUEST_JOB_WILL_RUN, which creates no job);
//                   spank_job_env of that job has the secret's SHA-256
//   job_submit/k8s  knows from slurmctld which user sent the RPC. It creates
//                   an empty file HASH-UID-TIME in a directory of
//                   StateSaveLocation, and refuses the job
//   slurmk8s        sends the secret to the agent
//   slurmk8sd       looks for a file with the secret's SHA-256 that is not
//                   older than a minute, and removes it: a secret is good for
//                   one session
//
// Slurm's RPC need not be encrypted: who reads it learns only a hash. The
// file's name has all data, so that a crash cannot leave a half-written file. A
// thread of job_submit/k8s makes it, so slurmk8s may have its answer some
// milliseconds before the file is there. Only one thread of one process may
// call put() at a time; the other functions have no such limit.
#pragma once

#include "common/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

namespace names {
inline constexpr char logins_dir[] = "k8s_logins"; // in StateSaveLocation
// The name of the entry in spank_job_env; its value is the SHA-256 in
// hexadecimal.
inline constexpr char login_variable[] = "K8S_LOGIN";
} // namespace names

// Tells whether name is 64 lower-case hexadecimal digits.
bool is_login_name(std::string_view name);

class LoginDir {
  public:
    using Time = std::chrono::sys_seconds;

    static constexpr std::chrono::seconds life{60};
    // Allowed difference between the clocks of slurmctld's and the agent's
    // host.
    static constexpr std::chrono::seconds clock_skew{30};
    explicit LoginDir(std::string path) : path_(std::move(path)) {}

    // Removes expired logins and records this one. Code::rejected if name is
    // not a hash; Code::busy if the login exists already, or with the system's
    // message.
    Result<> put(const std::string &name, std::uint32_t user, Time now) const;

    // Returns the user of a login. Code::not_found if there is none or it has
    // expired; Code::busy if the directory cannot be read.
    Result<std::uint32_t> user_of(const std::string &name, Time now) const;

    // Succeeds if there is no such login. Code::busy with the system's message;
    // put() then removes the login when it has expired.
    Result<> remove(const std::string &name) const;

  private:
    std::string path_;
};

} // namespace bridge
