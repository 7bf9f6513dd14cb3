// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/said.h"

#include "common/contract/worker_names.h"

#include <utility>

namespace bridge::slinky {

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
    return {status_step(kind, plural, meta, std::move(members),
                        conditions_json(said, meta, before, now))};
}

Said accepted(const std::string &problem, const std::string &otherwise)
{
    bool good = problem.empty();
    return {"Accepted", good, good ? "Accepted" : "CannotBeServed",
            good ? otherwise : problem};
}

Said failing(const std::string &failure)
{
    bool good = failure.empty();
    return {"Failing", !good, good ? "NothingRefused" : "Refused",
            good ? "The API server refuses nothing." : failure};
}

} // namespace bridge::slinky
