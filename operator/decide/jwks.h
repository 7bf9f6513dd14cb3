// SPDX-License-Identifier: GPL-2.0-or-later
// The keys of an identity provider, a JSON Web Key Set (RFC 7517): auth/jwt
// takes tokens that one of them has signed, too. The set is in a ConfigMap of
// the site, which jwksKeyRef of a Controller or an Accounting names with a file
// in it. It is copied beside slurm.conf and slurmdbd.conf, so that a daemon
// starts whatever becomes of that ConfigMap. Pure.
#pragma once

#include "operator/decide/objects.h"

#include <string>
#include <string_view>

namespace bridge::slinky {

inline constexpr char jwks_file[] = "jwks.json";

struct Jwks {
    bool named = false;
    bool known = true; // false: the ConfigMaps were not read yet
    std::string text;
    std::string problem; // it is not there, or has a mistake: a sentence, or ""
};

bool names_jwks(const Json &spec);

// The set that the spec of an object in this namespace names, as it is there.
Jwks jwks_of(const Known &known, const std::string &ns, const Json &spec);

// Of what slurmctld and slurmdbd die at their start (auth_jwt.c of Slurm): it
// is no JSON, or a key for RS256 lacks a part. A sentence, or "".
std::string jwks_mistake(std::string_view text);

} // namespace bridge::slinky
