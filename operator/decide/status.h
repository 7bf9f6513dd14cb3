// SPDX-License-Identifier: GPL-2.0-or-later
// The status of an object: counts, and conditions in words. A condition keeps
// the time since when its status is what it is. Pure.
#pragma once

#include "common/base/json_text.h"
#include "operator/decide/objects.h"
#include "operator/decide/step.h"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace bridge::slinky {

using Now = std::chrono::sys_seconds;

// A condition that is to be: its time comes from the one that is there.
struct Said {
    std::string type;
    bool holds = false;
    std::string reason;
    std::string message;
    bool unknown = false; // whether it holds
};

// The array of conditions as JSON.
std::string conditions_json(const std::vector<Said> &said, const Meta &meta,
                            const std::vector<Condition> &before, Now now);

// Whether all of them are there already, in these words.
bool are_said(const std::vector<Said> &said, const Meta &meta,
              const std::vector<Condition> &before);

// Applies a status; members are its other fields.
Step status_step(const std::string &kind, const std::string &plural,
                 const Meta &meta, JsonMembers members, std::string conditions);

} // namespace bridge::slinky
