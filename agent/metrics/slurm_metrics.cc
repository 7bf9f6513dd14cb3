// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/metrics/slurm_metrics.h"

#include <utility>

namespace bridge {

namespace {

constexpr double microseconds = 1e6; // in a second

double seconds(std::uint64_t time)
{
    return static_cast<double>(time) / microseconds;
}

std::uint64_t timestamp(std::chrono::sys_seconds time)
{
    return static_cast<std::uint64_t>(time.time_since_epoch().count());
}

void write_rpcs(const SchedulerCensus &c, MetricText &text)
{
    text.counter("slurm_rpcs", "RPCs that slurmctld has served, by type.");
    for (const SchedulerCensus::Rpc &rpc : c.rpcs)
        text.add(std::uint64_t{rpc.count}, {{"rpc", std::to_string(rpc.type)}});
    text.counter("slurm_rpc_seconds", "Time in these.");
    for (const SchedulerCensus::Rpc &rpc : c.rpcs)
        text.add(seconds(rpc.time), {{"rpc", std::to_string(rpc.type)}});
}

// Names that slurmctld's own have, but for units.
void write_scheduler(const SchedulerCensus &c, MetricText &text)
{
    text.gauge("slurm_server_threads",
               "Threads of slurmctld that serve requests.", c.threads);
    text.gauge("slurm_agents", "Agents of slurmctld, which send to slurmd.",
               c.agents);
    text.gauge("slurm_agent_queue_size", "Messages to slurmd that wait.",
               c.agent_queue);
    text.gauge("slurm_slurmdbd_queue_size", "Messages to slurmdbd that wait.",
               c.database_queue);
    text.gauge("slurm_sched_queue_length",
               "Jobs at the main scheduler's last cycle.", c.queue);
    text.gauge("slurm_sched_last_cycle_seconds",
               "How long the main scheduler's last cycle took.",
               seconds(c.cycle_last));
    text.gauge("slurm_sched_max_cycle_seconds",
               "How long its longest cycle took since slurmctld counts.",
               seconds(c.cycle_max));
    text.gauge("slurm_bf_last_cycle_seconds",
               "How long the last cycle of backfill took.",
               seconds(c.backfill_last));
    text.gauge("slurm_bf_max_cycle_seconds",
               "How long its longest cycle took since slurmctld counts.",
               seconds(c.backfill_max));
    text.gauge("slurm_bf_last_depth",
               "Jobs that the last cycle of backfill tried.", c.backfill_depth);
    text.counter("slurm_sched_cycles", "Cycles of the main scheduler.",
                 c.cycles);
    text.counter("slurm_sched_cycle_seconds", "Time in these.",
                 seconds(c.cycle_sum));
    text.counter("slurm_bf_cycles", "Cycles of backfill.", c.backfill_cycles);
    text.counter("slurm_bf_cycle_seconds", "Time in these.",
                 seconds(c.backfill_sum));
    text.counter("slurm_bf_backfilled_jobs", "Jobs that backfill has started.",
                 c.backfilled);
    text.gauge("slurm_stats_since_timestamp_seconds",
               "Since when slurmctld counts the above.", timestamp(c.since));
}

void write_reservations(const std::vector<CountedReservation> &all,
                        MetricText &text)
{
    using One = CountedReservation;
    auto gauge = [&](const char *name, const char *help, auto value) {
        text.gauge(name, help);
        for (const One &one : all)
            text.add(std::uint64_t{value(one)}, {{"reservation", one.name}});
    };
    gauge("slurm_reservation_nodes", "Nodes of a reservation.",
          [](const One &one) { return one.nodes; });
    gauge("slurm_reservation_cores", "Cores of a reservation.",
          [](const One &one) { return one.cores; });
    gauge("slurm_reservation_start_timestamp_seconds", "When it begins.",
          [](const One &one) { return timestamp(one.start); });
    gauge("slurm_reservation_end_timestamp_seconds", "When it ends.",
          [](const One &one) { return timestamp(one.end); });
}

void write_licenses(const std::vector<CountedLicense> &all, MetricText &text)
{
    using One = CountedLicense;
    auto gauge = [&](const char *name, const char *help, auto value) {
        text.gauge(name, help);
        for (const One &one : all)
            text.add(std::uint64_t{value(one)},
                     {{"license", one.name}, {"nodes", one.nodes}});
    };
    gauge("slurm_licenses", "Licenses; of hierarchical ones those on nodes.",
          [](const One &one) { return one.total; });
    gauge("slurm_licenses_used", "Licenses that jobs have.",
          [](const One &one) { return one.used; });
    gauge("slurm_licenses_reserved", "Licenses of reservations.",
          [](const One &one) { return one.reserved; });
}

} // namespace

void SlurmMetrics::set(std::shared_ptr<const SlurmSnapshot> snapshot)
{
    std::lock_guard lock(mutex_);
    snapshot_ = std::move(snapshot);
    counts_ = true;
}

std::shared_ptr<const SlurmSnapshot> SlurmMetrics::snapshot() const
{
    std::lock_guard lock(mutex_);
    return snapshot_;
}

void SlurmMetrics::write(MetricText &text, MetricsReader reader) const
{
    {
        std::lock_guard lock(mutex_);
        if (!counts_)
            return;
        history_.write(text);
    }
    auto known = snapshot();
    text.gauge("slurm_up", "Whether slurmctld answers.", known != nullptr);
    if (!known)
        return;
    text.gauge("slurm_census_timestamp_seconds",
               "When slurmctld said the numbers of nodes and jobs.",
               timestamp(known->taken));
    known->numbers.write(text);
    write_scheduler(known->scheduler, text);
    write_rpcs(known->scheduler, text);
    // One without a name of its own has that of a user or an account.
    if (reader == MetricsReader::trusted ||
        (!known->conf.reservations_are_private &&
         !known->conf.people_are_private))
        write_reservations(known->reservations, text);
    write_licenses(known->licenses, text);
}

void SlurmMetrics::write_detail(MetricText &text, MetricsReader reader) const
{
    auto known = snapshot();
    if (!known)
        return;
    known->numbers.write_nodes(text);
    const bool shows_people =
        reader == MetricsReader::trusted || !known->conf.people_are_private;
    known->numbers.write_reasons(text, shows_people ? &known->users : nullptr);
    if (shows_people && known->people)
        known->people->write(known->users, text);
}

} // namespace bridge
