// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/shared/packed_job.h"

#include "common/contract/batch_names.h"
#include "common/contract/names.h"

#include <cstddef>
#include <string>

extern "C" {
#include <slurm/slurm.h>
}

namespace bridge {

namespace {

// Reads in order what pack.c has written. When something is missing, all later
// values are 0 and "", and failed() is true.
class Reader {
  public:
    explicit Reader(std::string_view packed) : rest_(packed) {}

    std::uint64_t number(std::size_t bytes)
    {
        std::uint64_t value = 0;
        for (char byte : take(bytes))
            value = value << 8 | static_cast<unsigned char>(byte);
        return value;
    }

    std::uint32_t number32() { return static_cast<std::uint32_t>(number(4)); }

    // A text has its length, with its final 0, before it.
    std::string_view text()
    {
        std::string_view with_end = take(number32());
        if (with_end.empty())
            return {};
        failed_ |= with_end.find('\0') != with_end.size() - 1;
        return with_end.substr(0, with_end.size() - 1);
    }

    // Skips several: 1, 2, 4, 8 are numbers of so many bytes, t is a text.
    void skip(std::string_view kinds)
    {
        for (char kind : kinds)
            if (kind == 't')
                text();
            else
                take(static_cast<std::size_t>(kind - '0'));
    }

    // Skips arrays of numbers; each has its length before it.
    void skip_arrays(std::string_view kinds)
    {
        for (char kind : kinds)
            take(static_cast<std::size_t>(kind - '0') * number32());
    }

    // Data of a plugin has its length before it.
    void skip_data() { take(number32()); }

    void skip_bitmap()
    {
        if (number32() != NO_VAL)
            text();
    }

    bool failed() const { return failed_; }

  private:
    std::string_view take(std::size_t bytes)
    {
        failed_ |= bytes > rest_.size();
        std::string_view taken = failed_ ? "" : rest_.substr(0, bytes);
        rest_.remove_prefix(taken.size());
        return taken;
    }

    std::string_view rest_;
    bool failed_ = false;
};

// What decides which fields are there.
struct State {
    std::uint32_t state = 0;
    std::uint32_t reason = 0;
};

// job_record_pack_common(), after the ids.
State skip_common(Reader &reader)
{
    State job;
    reader.skip("ttt4444"); // account … assoc_id
    reader.skip("t2t8tt8"); // batch_features … billable_tres
    reader.skip("ttttt");   // comment … cpus_per_tres
    reader.skip("8444tt");  // deadline … failed_node
    if (reader.number(1))   // in a federation
        reader.skip("4t8t8t");
    reader.skip("t44t4"); // gres_used … het_job_offset
    job.state = reader.number32();
    reader.skip("8tt2ttttt");  // last_sched_eval … network
    reader.skip("88441482tt"); // preempt_time … resv_ports
    reader.skip("t42t");       // selinux_context … state_desc
    job.reason = reader.number32();
    reader.skip("8t4tttttttt"); // suspend_time … tres_per_task
    reader.skip("4t4t");        // user_id … wckey
    return job;
}

// job_record_pack(), from there to the nodes.
void skip_to_nodes(Reader &reader, const State &job)
{
    if (std::uint32_t tasks = reader.number32(); tasks != NO_VAL)
        reader.skip(tasks ? "t444444" : "444444"); // of a job array
    reader.skip("444484444");                      // time_limit … db_flags
    reader.skip("88888");    // prolog_launch_time … tot_sus_time
    reader.skip("22242222"); // direct_set_prio … warn_time
    reader.skip("22");       // limits that the job has set
    reader.skip_arrays("2");
    reader.skip("t2t22"); // resp_host … resv_port_cnt
    if (job.state & JOB_COMPLETING)
        reader.text();
    if (job.reason == WAIT_PROLOG)
        reader.text();
    if (job.state & JOB_RESIZING)
        reader.text();
}

// pack_job_resources() (job_resources.c). Returns the CPUs of the only node; 0
// if there are several.
std::uint32_t read_resources(Reader &reader)
{
    std::uint32_t hosts = reader.number32();
    if (hosts == NO_VAL)
        return 0;
    reader.skip("444t122");                   // ncpus … cr_type
    reader.skip_arrays("4");                  // how many nodes, and with
    std::uint32_t values = reader.number32(); // how many CPUs each
    auto cpus = static_cast<std::uint32_t>(values ? reader.number(2) : 0);
    for (std::uint32_t i = 1; i < values && !reader.failed(); i++)
        reader.skip("2");
    reader.skip_arrays("2288224"); // cpus … sock_core_rep_count
    reader.skip_bitmap();
    reader.skip_bitmap();
    reader.skip_arrays("4"); // node_ranks
    return hosts == 1 ? cpus : 0;
}

void read_mark(Reader &reader, JobFacts &facts)
{
    const std::string mark = std::string(names::job_mark) + "=";
    std::uint32_t entries = reader.number32();
    for (std::uint32_t i = 0; i < entries && !reader.failed(); i++)
        if (std::string_view entry = reader.text(); entry.starts_with(mark)) {
            facts.ours = true;
            facts.batch =
                entry.substr(mark.size()).starts_with(names::batch_mark);
        }
}

} // namespace

std::optional<JobFacts> facts_in_packed(std::string_view packed)
{
    Reader reader(packed);
    JobFacts facts;
    facts.job.sluid = Sluid{reader.number(8)};
    facts.job.id = reader.number32();
    reader.skip("44"); // the rest of a step's id
    skip_to_nodes(reader, skip_common(reader));
    facts.hostlist = reader.text();
    reader.skip("4tt"); // node_cnt, partition, lic_req
    reader.skip_data(); // of the switch
    reader.skip_data(); // of the topology
    facts.cpus = read_resources(reader);
    read_mark(reader, facts);
    if (reader.failed() || facts.job.id == 0)
        return std::nullopt;
    return facts;
}

} // namespace bridge
