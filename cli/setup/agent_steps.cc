// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/agent_steps.h"

#include "cli/agent_client.h"
#include "cli/setup/program.h"
#include "common/contract/names.h"
#include "common/slurm/api.h"

#include <chrono>
#include <format>
#include <thread>

namespace bridge {

namespace {

constexpr std::chrono::seconds look_again{2};
// Beyond ResizeDelay, for all that the agent has to do for a Node.
constexpr std::chrono::seconds patience{120};

} // namespace

bool agent_runs(const Site &site)
{
    return ask_agent(site.conf.web_address, "/status").has_value();
}

std::string agent_nodes(const std::vector<SlurmNode> &nodes)
{
    std::string list;
    for (const SlurmNode &node : nodes)
        if (node.external &&
            ("," + node.features + ",")
                .contains("," + std::string(names::feature) + ","))
            list += (list.empty() ? "" : ",") + node.name;
    return list;
}

Result<> wait_for_nodes(const Site &site, const Report &report)
{
    SlurmApi slurm;
    const std::string what = "Slurm has no node of the agent";
    auto limit = std::chrono::steady_clock::now() + site.conf.resize_delay +
                 site.conf.node_lost_timeout + patience;
    bool waited = false;
    for (;; std::this_thread::sleep_for(look_again), waited = true) {
        auto nodes = slurm.load_nodes();
        if (!nodes)
            return std::unexpected(nodes.error());
        std::string left = agent_nodes(*nodes);
        if (left.empty())
            break;
        if (report.dry_run())
            return report.change("waits for slurmk8sd to delete " + left, {});
        bool forced = site.options.force;
        bool late = std::chrono::steady_clock::now() > limit;
        if (!forced && !agent_runs(site))
            return fail(Code::busy, "slurmk8sd does not run any more, and has "
                                    "not deleted " +
                                        left);
        if (forced && (late || !agent_runs(site))) {
            report.left("nodes in Slurm: scontrol delete NodeName=" + left);
            return {};
        }
        if (!waited)
            report.waits(std::format(
                "for slurmk8sd to delete {}, which takes {} s (ResizeDelay) "
                "and longer while jobs use or name them",
                left, site.conf.resize_delay.count()));
        if (late)
            return fail(Code::busy,
                        "slurmk8sd has not deleted these nodes, as somebody "
                        "has drained them, jobs use or name them, or jobs of "
                        "Pods wait in Slurm (squeue -t PD) that may need "
                        "them: say --force, or delete them: scontrol delete "
                        "NodeName=" +
                            left);
    }
    if (waited)
        return report.change(what, [] { return Result<>(); });
    report.already(what);
    return {};
}

Result<> stop_agent(const Site &site, const Report &report)
{
    // Where there is no systemd, or no such unit, the agent still runs.
    auto disable = [] {
        (void)run_program({"systemctl", "disable", "--now", "slurmk8sd"});
    };
    if (!agent_runs(site)) {
        if (!report.dry_run())
            disable(); // it may be about to be started again
        report.already("slurmk8sd does not run");
        return {};
    }
    return report.change(
        "slurmk8sd: is stopped and disabled", [&]() -> Result<> {
            disable();
            if (agent_runs(site))
                return fail(Code::rejected, "it still runs: stop it");
            return {};
        });
}

} // namespace bridge
