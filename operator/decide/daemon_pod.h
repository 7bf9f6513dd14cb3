// SPDX-License-Identifier: GPL-2.0-or-later
// What the Pods of slurmctld and slurmdbd have in common. Pure.
#pragma once

#include "common/base/json.h"
#include "operator/decide/objects.h"

#include <string>

namespace bridge::slinky {

inline constexpr int slurm_group = 64030; // of Debian's user slurm

// A key of auth/slurm and one of auth/jwt, as sources of a projected volume:
// slurm.key and jwt.key. A key that is not named is left out.
JsonValue::Array key_sources(const Json &spec);

// The Secret and its key that hold the key of auth/jwt.
struct SecretKey {
    std::string secret;
    std::string key;
};
SecretKey jwt_key(const Json &spec);

// The line of slurm.conf and of slurmdbd.conf that names both kinds of keys of
// auth/jwt.
std::string auth_alt_line(const Json &spec);

JsonValue mount(const char *volume, const char *path, bool read_only = false);
JsonValue empty_volume(const char *name);
JsonValue port_json(const char *name, std::int64_t port);

// No capabilities: these daemons are not root.
JsonValue container_security();
// Volumes and keys can be read by the group slurm.
JsonValue pod_security();

// A container under this name, with what users give over it.
std::string container_json(const char *name, const JsonValue &ours,
                           const Json &theirs);

// The spec of the Pod: ours, with the template's over it, and without a token
// in every container.
std::string daemon_spec(const Json &ours,
                        const std::vector<std::string> &containers,
                        const Json &theirs, const std::string &account);

// Labels and annotations of the Pod: the template's, and ours over them.
JsonValue daemon_metadata(const Json &theirs, const TextMap &labels,
                          const TextMap &annotations);

} // namespace bridge::slinky
