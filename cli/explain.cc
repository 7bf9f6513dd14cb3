// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/agent_client.h"
#include "cli/commands.h"
#include "common/base/json.h"
#include "common/base/printable.h"
#include "common/kube/http.h"

#include <cstdio>
#include <format>

namespace bridge {

namespace {

// Prints a line of the table, or nothing if the text is empty.
void print_line(const char *what, const std::string &text)
{
    if (!text.empty())
        std::fputs(std::format("  {:<15} {}\n", what, printable(text)).c_str(),
                   stdout);
}

// Joins the parts that are not empty as "a, b, c".
std::string
list(std::initializer_list<std::pair<const char *, std::string>> parts)
{
    std::string text;
    for (const auto &[name, value] : parts)
        if (!value.empty())
            text += (text.empty() ? "" : ", ") + std::string(name) + value;
    return text;
}

std::string binary(std::int64_t bytes)
{
    constexpr std::int64_t mib = 1 << 20;
    if (bytes % mib == 0)
        return std::format("{}Mi", bytes / mib);
    return std::to_string(bytes);
}

std::string asks_of(const Json &pod)
{
    Json asks = pod.at("asks");
    std::string text =
        std::format("cpu={}m,memory={}", asks.integer("cpuMilli").value_or(0),
                    binary(asks.integer("memoryBytes").value_or(0)));
    for (const auto &[name, amount] : asks.members())
        if (name != "cpuMilli" && name != "memoryBytes")
            text += std::format(",{}={}", name, amount.integer().value_or(0));
    return text;
}

void print_pod(const Json &pod)
{
    std::string owner = pod.text("owner");
    print_line("Pod", pod.text("namespace") + "/" + pod.text("name") +
                          (owner.empty() ? "" : " of " + owner));
    print_line("Phase", pod.text("phase") +
                            (pod.flag("deleting") ? ", being deleted" : "") +
                            (pod.flag("gated") ? ", gated" : ""));
    print_line("Asks for", asks_of(pod));
    print_line("Node", pod.text("node"));
}

std::string time_limit(const Json &job)
{
    if (auto minutes = job.integer("timeLimitMinutes"))
        return std::format("time limit {} min", *minutes);
    return {};
}

void print_job(const Json &job)
{
    print_line("Slurm job",
               std::format("{}, {}", job.integer("jobId").value_or(0),
                           job.text("state")));
    std::string meaning = job.text("reasonMeaning");
    print_line("Reason",
               job.text("reason") + (meaning.empty() ? "" : ": " + meaning));
    if (job.text("reasonDetails") != job.text("reason"))
        print_line("Slurm says", job.text("reasonDetails"));
    print_line("Expected start", job.text("expectedStart"));
    print_line("Runs as", list({{"", job.text("user")},
                                {"account ", job.text("account")},
                                {"partition ", job.text("partition")},
                                {"QOS ", job.text("qos")},
                                {"reservation ", job.text("reservation")}}));
    print_line("Asked of Slurm", list({{"", job.text("asked")},
                                       {"features ", job.text("features")},
                                       {"", time_limit(job)}}));
    print_line("Allocated",
               list({{"", job.text("allocated")}, {"on ", job.text("nodes")}}));
    print_line("Submitted", job.text("submitted"));
    print_line("Started", job.text("started"));
    print_line("Ended", job.text("ended"));
}

void print_agent(const Json &agent)
{
    print_line("Agent", agent.text("now"));
    if (auto failures = agent.integer("failures").value_or(0); failures > 0)
        print_line("Last failure",
                   std::format("{} ({} in a row)", agent.text("lastFailure"),
                               failures));
    print_line("Said on the Pod", agent.text("said"));
}

void print_story(const Json &story)
{
    std::puts(printable(story.text("summary")).c_str());
    for (const Json &pod : story.items("pods"))
        print_pod(pod);
    if (story.at("job").present())
        print_job(story.at("job"));
    if (std::string reason = story.text("slurmError"); !reason.empty())
        print_line("Slurm", "could not be asked: " + reason);
    print_agent(story.at("agent"));
    print_line("To change it", story.text("remedy"));
}

bool is_job_id(const std::string &what)
{
    return what.find_first_not_of("0123456789") == what.npos;
}

} // namespace

int explain(const Conf &conf, const std::string &what, bool json)
{
    auto reply =
        ask_agent(conf.web_address, std::string("/explain?") +
                                        (is_job_id(what) ? "job=" : "pod=") +
                                        url_encode(what));
    if (!reply)
        return print_error(reply.error().message);
    auto answer = Json::parse(reply->body);
    if (!answer)
        return print_error("slurmk8sd: " + answer.error().message);
    if (reply->status == 404 || reply->status == 409)
        return print_error(answer->text("error"), exit_unknown);
    if (reply->status != 200)
        return print_error(answer->text("error"));
    if (json)
        std::puts(printable_json(reply->body).c_str());
    else
        print_story(*answer);
    return exit_ok;
}

} // namespace bridge
