// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/agent_client.h"
#include "cli/commands.h"
#include "common/base/json.h"
#include "common/base/printable.h"

#include <cstdio>
#include <format>

namespace bridge {

namespace {

std::string cell(const std::string &text)
{
    return text.empty() ? "-" : printable(text);
}

void print_gang(const Json &gang)
{
    auto job = gang.integer("jobId");
    std::fputs(
        std::format("{:<40} {:>10} {:<12} {:<20} {}\n", cell(gang.text("gang")),
                    job ? std::to_string(*job) : "-", cell(gang.text("state")),
                    cell(gang.text("node")), cell(gang.text("said")))
            .c_str(),
        stdout);
}

void print_status(const Json &answer)
{
    std::string standby = answer.text("standby");
    if (answer.flag("serving") || standby.empty())
        std::printf("%s%s\n",
                    answer.flag("serving") ? "slurmk8sd is serving"
                                           : "slurmk8sd is NOT serving",
                    answer.flag("workersOnly")
                        ? ", workers only: SchedulePods=no"
                        : "");
    else
        std::printf("slurmk8sd is on standby: %s\n", cell(standby).c_str());
    for (const auto &[what, reason] : answer.members("problems"))
        std::printf("problem: %s: %s\n", cell(what).c_str(),
                    cell(reason.text()).c_str());
    for (const auto &[feature, reason] : answer.members("featuresOff"))
        std::printf("off: %s: %s\n", cell(feature).c_str(),
                    cell(reason.text()).c_str());
    auto gangs = answer.items("gangs");
    if (!gangs.empty())
        std::fputs(std::format("{:<40} {:>10} {:<12} {:<20} {}\n", "POD",
                               "JOBID", "STATE", "NODE", "WHY IT WAITS")
                       .c_str(),
                   stdout);
    for (const Json &gang : gangs)
        print_gang(gang);
}

} // namespace

int show_status(const Conf &conf, bool json)
{
    auto reply = ask_agent(conf.web_address, "/status");
    if (!reply)
        return print_error(reply.error().message);
    auto answer = Json::parse(reply->body);
    if (!answer)
        return print_error("slurmk8sd: " + answer.error().message);
    if (reply->status != 200)
        return print_error("slurmk8sd: " + answer->text("error"));
    if (json)
        std::puts(printable_json(reply->body).c_str());
    else
        print_status(*answer);
    return answer->flag("serving") ? exit_ok : exit_failed;
}

} // namespace bridge
