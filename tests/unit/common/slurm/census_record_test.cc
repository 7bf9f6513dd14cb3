// SPDX-License-Identifier: GPL-2.0-or-later
// slurmctld's records of jobs as they are counted.
#include "common/slurm/census_record.h"
#include "common/slurm/job.h"
#include "common/slurm/node_use.h"
#include "common/slurm/state_tests.h"

#include <cstdint>
#include <ctime>
#include <doctest/doctest.h>
#include <string>

extern "C" {
// Exported by libslurm under these names, and missing in slurm.h.
bitstr_t *slurm_bit_alloc(bitoff_t count);
void slurm_bit_set(bitstr_t *bits, bitoff_t bit);
void slurm_bit_free(bitstr_t **bits);
}

using namespace bridge;

namespace {

char *own(const char *text)
{
    return const_cast<char *>(text);
}

std::int64_t ran(std::time_t start, std::time_t end, std::time_t suspended,
                 std::time_t before)
{
    slurm_job_info_t info{};
    info.job_state = JOB_COMPLETE;
    info.start_time = start;
    info.end_time = end;
    info.suspend_time = suspended;
    info.pre_sus_time = before;
    return counted_job_of(info).ran.count();
}

JobKind kind(std::string comment)
{
    slurm_job_info_t info{};
    info.admin_comment = comment.data();
    return counted_job_of(info).kind;
}

} // namespace

TEST_CASE("a job that has run had nodes, and was eligible at some time")
{
    slurm_job_info_t info{};
    info.job_state = JOB_RUNNING;
    info.submit_time = 900;
    info.start_time = 1000;
    info.nodes = own("n1");
    // As slurmctld has it after scontrol hold and release.
    info.eligible_time = 0;
    CHECK(counted_job_of(info).eligible.time_since_epoch().count() == 900);
    CHECK(counted_job_of(info).had_nodes);
    info.job_state = JOB_COMPLETE;
    info.end_time = 1000;
    CHECK(counted_job_of(info).had_nodes);
    info.nodes = nullptr;
    info.job_state = JOB_NODE_FAIL | JOB_COMPLETING; // its node has failed
    CHECK(counted_job_of(info).had_nodes);
    info.job_state = JOB_CANCELLED;
    CHECK_FALSE(counted_job_of(info).had_nodes);
}

TEST_CASE("a job ran as long as squeue says: not while it was suspended")
{
    CHECK(ran(1000, 1100, 0, 0) == 100);
    CHECK(ran(1000, 1100, 1060, 30) == 70);  // resumed at 1060
    CHECK(ran(1000, 1060, 1060, 60) == 60);  // ended while suspended
    CHECK(ran(1000, 1100, 900, 500) == 100); // suspended in an earlier run
    CHECK(ran(0, 1100, 0, 0) == 0);
    CHECK(ran(1000, 990, 0, 0) == 0);

    slurm_job_info_t info{};
    info.job_state = JOB_RUNNING;
    info.start_time = 1000;
    info.end_time = 5000; // when its time limit is over
    CHECK(counted_job_of(info).ran.count() == 0);
}

TEST_CASE(
    "the waiting tasks of an array are those of its bitmap, which is never "
    "cut short")
{
    slurm_job_info_t info{};
    info.array_job_id = 7;
    info.array_task_id = NO_VAL;
    info.array_task_str = own("1-3,7%2");
    CHECK(counted_job_of(info).tasks == 4);

    info.array_task_str = own("1,3,5,...");
    info.array_bitmap = slurm_bit_alloc(1000);
    CHECK(counted_job_of(info).tasks == 1); // the record is there
    for (bitoff_t i = 1; i < 1000; i += 2)
        slurm_bit_set(info.array_bitmap, i);
    CHECK(counted_job_of(info).tasks == 500);

    info.array_task_id = 3; // a task that has a record of its own
    CHECK(counted_job_of(info).tasks == 1);
    slurm_bit_free(&info.array_bitmap);
}

TEST_CASE("whose job it is says its admin_comment")
{
    CHECK(kind("") == JobKind::native);
    CHECK(kind("mine") == JobKind::native);
    CHECK(kind(R"({"mine":1})") == JobKind::native);
    CHECK(kind(encode(GangTag{"a/b", "uid", 1})) == JobKind::pod);
    CHECK(kind(encode_shadow("n1")) == JobKind::shadow);
}

TEST_CASE("a job is starting while it has nodes that are not ready")
{
    CHECK(is_starting(JOB_RUNNING | JOB_CONFIGURING));
    CHECK(is_starting(JOB_RUNNING | JOB_POWER_UP_NODE));
    CHECK_FALSE(is_starting(JOB_RUNNING));
    CHECK_FALSE(is_starting(JOB_PENDING));
    CHECK_FALSE(is_starting(JOB_CANCELLED | JOB_CONFIGURING));
}
