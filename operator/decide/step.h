// SPDX-License-Identifier: GPL-2.0-or-later
// A write of the operator to the API server, as a value. Each may be repeated:
// what is created has a fixed name, what is deleted is named by uid and
// version, and what is patched or applied says what is to be.
#pragma once

#include "operator/decide/objects.h"

#include <optional>
#include <string>
#include <vector>

namespace bridge::slinky {

// An Event about the object, once the step has been made.
struct Told {
    std::string reason;
    std::string note;
    bool warning = false;
};

// A Pod as it was when a step was decided; version "": it was not there.
struct Seen {
    Key pod;
    std::string version;
};

struct Step {
    enum class Verb { create, apply, patch, remove };

    Verb verb;
    std::string what; // "create Pod w-1", for the log and for conditions
    std::string path;
    std::string body;
    std::optional<Told> told = {};
    std::optional<Seen> seen = {};  // the Pod that it changes
    bool is_report = false;         // it writes a status
    bool may_exist = false;         // what is there already will do
    std::vector<Told> changes = {}; // of conditions, as told
};

const char *verb_name(Step::Verb verb);

// The field manager of all that is applied.
inline constexpr char manager[] = "slurmk8s-operator";

std::string pods_path(const std::string &ns);
std::string pod_path(const Key &key);
std::string slinky_path(const std::string &plural, const Key &key);
// With the query of a server-side apply.
std::string applied(const std::string &path);

// DeleteOptions: only this object, and only as it was seen.
std::string delete_body(const Meta &meta);

} // namespace bridge::slinky
