// SPDX-License-Identifier: GPL-2.0-or-later
// The requests that users make of Slurm by annotation: a table of names and of
// what each changes in a job's description. Values are untrusted until checked.
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
    std::string annotation; // its full name
    std::string value;      // never empty: an empty value is no request

    bool operator==(const Wish &) const = default;
};

// Requests by the name after the prefix, such as "qos". If one name comes with
// several prefixes, ours wins, then Slinky's newer one. Includes unknown names,
// but not what the agent or the node half of the bridge writes.
using Wishes = std::map<std::string, Wish, std::less<>>;
Wishes wishes_in(const TextMap &annotations);

// Returns the value of this request as wishes_in() would, without reading the
// others; "" if there is none. It lives as long as the annotations.
std::string_view wish_value_in(const TextMap &annotations,
                               std::string_view name);

// Adds the requests in an owner's annotations that its Pod does not make
// itself, under any prefix; an empty value on the Pod suppresses the owner's.
void add_wishes(TextMap &annotations, const TextMap &owners);

// Returns the value of this request, or "".
const std::string &value_of(const Wishes &wishes, std::string_view name);

// Returns "annotation slurmk8s/qos must …, not \"…\"", with the value shortened
// and without control characters.
std::string unfit_wish_reason(const Wish &wish, const std::string &must);

// Returns the requests as "qos=high, licenses=foo:2", shortened, for people.
std::string wishes_text(const Wishes &wishes);

// Whether a job with these requests would wait on an empty cluster, too: it is
// held, or asks for a later time or for the end of other jobs. False for values
// that apply_wishes() refuses.
bool asks_to_wait(const Wishes &wishes, std::chrono::sys_seconds created);

// Writes all requests into the description, whose size must be set already.
// Returns why one of them is impossible, as a message for its author, or "".
// Requests for user, group, account and QoS are only checked: see identity.h.
// Relative times count from `created`.
std::string apply_wishes(JobDescription &job, const Wishes &wishes,
                         std::chrono::sys_seconds created);

} // namespace bridge
