// SPDX-License-Identifier: GPL-2.0-or-later
// How a user proves to the agent, over TLS, who he is, by whatever slurmctld
// itself knows him: auth/munge, auth/slurm or auth/jwt.
//
//   slurmk8s      makes a secret; asks slurmctld, as the user, whether a job
//                 would run (REQUEST_JOB_WILL_RUN, which makes none) that has
//                 the secret's SHA-256 in its spank_job_env
//   job_submit/k8s  is told by slurmctld whose RPC that is. It puts an empty
//                 file HASH-UID-TIME into StateSaveLocation, and refuses the job
//   slurmk8s      tells the agent the secret
//   slurmk8sd     finds the file of its SHA-256, not older than a minute, and
//                 removes it; a secret is good for one session
//
// Slurm's RPC need not be encrypted: who reads it has a hash. A file's name
// says all: slurmctld, whose lock is held, reads one directory and no file, and
// a crash tears none. put() is for one thread of one process at a time, the
// others for any.
#pragma once

#include "common/base/result.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

namespace names {
inline constexpr char logins_dir[] = "k8s_logins"; // in StateSaveLocation
// Of an entry of spank_job_env; the value is the SHA-256, in hexadecimal.
inline constexpr char login_variable[] = "K8S_LOGIN";
} // namespace names

// 64 digits, lower case.
bool is_login_name(std::string_view name);

class LoginDir {
  public:
    using Time = std::chrono::sys_seconds;

    static constexpr std::chrono::seconds life{60};
    // The hosts of slurmctld and of the agent may differ by so much.
    static constexpr std::chrono::seconds clock_skew{30};
    // At a time: slurmctld's lock is held while they are looked at.
    static constexpr std::size_t most = 512;
    static constexpr std::size_t most_of_user = 32;

    explicit LoginDir(std::string path) : path_(std::move(path)) {}

    // Removes what is too old, and writes this. Code::rejected for another
    // name, busy where it is there or there are too many, or in the system's
    // words.
    Result<> put(const std::string &name, std::uint32_t user, Time now) const;

    // Whose it is. Code::not_found when there is none, or none any more; busy
    // where the directory cannot be read.
    Result<std::uint32_t> user_of(const std::string &name, Time now) const;

    // Success also when there is none. Code::busy, in the system's words: then
    // put() removes it, once it is too old.
    Result<> remove(const std::string &name) const;

  private:
    std::string path_;
};

} // namespace bridge
