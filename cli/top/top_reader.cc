// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/top/top_reader.h"

#include "cli/agent_client.h"
#include "common/base/json.h"

#include <chrono>
#include <format>
#include <string>

namespace bridge {

namespace {

Result<Samples> read_page(const Conf &conf, const std::string &path)
{
    auto reply = ask_agent(conf.web_address, path);
    if (!reply)
        return std::unexpected(reply.error());
    const std::string whose = path + " at " + conf.web_address;
    if (reply->status != 200)
        return fail(Code::rejected, std::format("{}: the answer has the HTTP "
                                                "status {}",
                                                whose, reply->status));
    auto samples = Samples::parse(reply->body);
    if (!samples)
        return fail(samples.error(), whose);
    return samples;
}

// Why there are no numbers of Slurm in the agent's metrics.
std::string why_none(const Conf &conf)
{
    if (conf.metrics_interval.count() == 0)
        return "slurmk8sd has no numbers of Slurm: k8s.conf has "
               "MetricsInterval=0";
    if (auto reply = ask_agent(conf.web_address, "/status"))
        if (auto status = Json::parse(reply->body))
            if (auto standby = status->text("standby"); !standby.empty())
                return "slurmk8sd is on standby: " + standby;
    return "slurmk8sd has no numbers of Slurm yet";
}

Result<TopPages> read_pages(const Conf &conf)
{
    auto metrics = read_page(conf, "/metrics");
    if (!metrics)
        return std::unexpected(metrics.error());
    if (!metrics->value("slurm_up"))
        return TopPages{std::move(*metrics), {}, why_none(conf)};
    auto detail = read_page(conf, "/metrics/detail");
    if (!detail)
        return std::unexpected(detail.error());
    return TopPages{std::move(*metrics), std::move(*detail), {}};
}

} // namespace

TopView TopReader::read()
{
    auto pages = read_pages(conf_);
    if (!pages)
        return top_view_without(pages.error().message);
    if (auto counts = top_counts(pages->metrics))
        counts_.add(*counts);
    using namespace std::chrono;
    return top_view(*pages, counts_, floor<seconds>(system_clock::now()));
}

} // namespace bridge
