// SPDX-License-Identifier: GPL-2.0-or-later
// What users ask of Slurm by annotation: one table of names and of what each
// changes in a job's description. What they write is hostile until checked.
// Pure.
#pragma once

#include "agent/objects/objects.h"
#include "common/slurm/job.h"

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace bridge {

struct Wish {
    std::string annotation; // its whole name
    std::string value;      // never empty: an empty one asks for nothing

    bool operator==(const Wish &) const = default;
};

// By the name behind the prefix, such as "qos". Of one name under several
// prefixes ours counts first, then Slinky's newer one. Unknown names are among
// them, what the agent or the node half of the bridge writes is not.
using Wishes = std::map<std::string, Wish, std::less<>>;
Wishes wishes_in(const TextMap &annotations);

// Adds those wishes of an owner's annotations that its Pod's own say nothing
// of, under whatever prefix; an empty one of the Pod says that there is none.
void add_wishes(TextMap &annotations, const TextMap &owners);

// The value of that wish, or "".
const std::string &value_of(const Wishes &wishes, std::string_view name);

// "annotation slurmk8s/qos must …, not \"…\"": the value shortened and without
// control characters.
std::string wish_objection(const Wish &wish, const std::string &must);

// The wishes as "qos=high, licenses=foo:2", shortened, for people.
std::string wishes_text(const Wishes &wishes);

// Writes all wishes into the description, whose size must be set already.
// Returns why one cannot be, in words for its author, or "". Those about the
// user, the group, the account and the QoS are only checked: see identity.h.
// Relative times count from the given one.
std::string apply_wishes(JobDescription &job, const Wishes &wishes,
                         std::chrono::sys_seconds created);

} // namespace bridge
