// SPDX-License-Identifier: GPL-2.0-or-later
// Lays what a user gives over what the operator gives, as Kubernetes does by a
// strategic merge: objects member by member, lists of named things by the name.
// Values are copied as they are written. Pure.
#pragma once

#include "common/base/json.h"
#include "common/base/json_text.h"

#include <string>
#include <string_view>

namespace bridge::slinky {

// Returns ours with theirs over it. What is null in theirs says nothing. The
// depth of the recursion is that of ours.
std::string merged(const Json &ours, const Json &theirs);

// The members of an object, as JSON.
JsonMembers members_of(const Json &object);
// Sets a member, in its place if there is one.
void put(JsonMembers &members, std::string_view name, std::string json);
void drop(JsonMembers &members, std::string_view name);

// Parses what we have written ourselves.
Json read_own(const std::string &json);

} // namespace bridge::slinky
