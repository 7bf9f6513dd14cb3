// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/said.h"

#include "common/contract/worker_names.h"

#include <utility>

namespace bridge::slinky {

namespace {

// Events of the conditions that change, but for those that other Events tell:
// steps that fail, and trials that begin.
std::vector<Told> changes(const std::vector<Said> &said,
                          const std::vector<Condition> &before)
{
    std::vector<Told> told;
    for (const Said &one : said) {
        const Condition *old = find_condition(before, one.type);
        if (one.unknown || one.type == "Failing" ||
            (old && old->status == (one.holds ? "True" : "False")))
            continue;
        bool bad =
            !one.holds && (one.type == "Accepted" || one.type == "ConfigValid");
        told.push_back({one.type + (one.holds ? "" : "Not"), one.message, bad});
    }
    return told;
}

} // namespace

std::vector<Step> say(const std::string &kind, const std::string &plural,
                      const Meta &meta, const std::vector<Condition> &before,
                      const std::vector<Said> &said, Now now)
{
    if (are_said(said, meta, before))
        return {};
    JsonMembers members;
    if (kind == "LoginSet") // its status has to have one
        members.emplace_back("selector",
                             JsonValue(std::string(names::instance_label) +
                                       "=" + meta.key.name + "," +
                                       names::app_label + "=login")
                                 .dump());
    Step step = status_step(kind, plural, meta, std::move(members),
                            conditions_json(said, meta, before, now));
    step.changes = changes(said, before);
    return {std::move(step)};
}

Said accepted(const std::string &problem, const std::string &otherwise)
{
    bool good = problem.empty();
    return {"Accepted", good, good ? "Accepted" : "CannotBeServed",
            good ? otherwise : problem};
}

Said updated(const std::string &reason)
{
    bool good = reason.empty();
    return {"Updated", good, good ? "AsWished" : "HeldBack",
            good ? "Nothing holds the image of the spec back." : reason};
}

Said failing(const std::string &failure)
{
    bool good = failure.empty();
    return {"Failing", !good, good ? "NothingRefused" : "Refused",
            good ? "The API server refuses nothing." : failure};
}

} // namespace bridge::slinky
