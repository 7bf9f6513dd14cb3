// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/submit_policy.h"

#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <vector>

using namespace bridge;

namespace {

using Desc = job_desc_msg_t;

// The values that matter here of slurm_init_job_desc_msg(), which libslurm has.
Desc unset()
{
    Desc desc{};
    desc.alloc_sid = NO_VAL;
    desc.nice = NO_VAL;
    desc.num_tasks = NO_VAL;
    desc.pn_min_memory = NO_VAL64;
    desc.priority = NO_VAL;
    desc.requeue = NO_VAL16;
    desc.site_factor = NO_VAL;
    desc.time_limit = NO_VAL;
    desc.time_min = NO_VAL;
    return desc;
}

char text[] = "anything";

struct Change {
    const char *name;
    void (*make)(Desc &desc);
};

} // namespace

TEST_CASE("a request that would take long to look at is refused")
{
    std::string fits(1024, 'x');
    std::string large = fits + "x";
    char *Desc::*const fields[] = {
        &Desc::partition,    &Desc::features,      &Desc::prefer,
        &Desc::account,      &Desc::qos,           &Desc::alloc_node,
        &Desc::tres_per_job, &Desc::tres_per_node, &Desc::tres_per_socket,
        &Desc::tres_per_task};
    for (char *Desc::*field : fields) {
        Desc desc = unset();
        desc.*field = fits.data();
        CHECK_FALSE(too_large_reason(desc));
        desc.*field = large.data();
        CHECK(too_large_reason(desc).value().contains("1024 characters"));
    }

    Desc desc = unset();
    std::vector<char *> entries(4097, text);
    desc.spank_job_env = entries.data();
    desc.spank_job_env_size = 4096;
    CHECK_FALSE(too_large_reason(desc));
    desc.spank_job_env_size = 4097;
    CHECK(too_large_reason(desc));
}

TEST_CASE("only SlurmUser and root are the agent")
{
    CHECK(is_agent(0, 64030));
    CHECK(is_agent(64030, 64030));
    CHECK_FALSE(is_agent(1001, 64030));
    CHECK_FALSE(is_agent(4294967295U, 64030));
}

TEST_CASE("users cannot submit external jobs and are told to apply a Pod")
{
    Desc desc = unset();
    CHECK_FALSE(submit_refusal_reason(desc));

    desc.bitflags = EXTERNAL_JOB | KILL_INV_DEP;
    auto reason = submit_refusal_reason(desc);

    REQUIRE(reason);
    CHECK(reason->find("Pod") != std::string::npos);
}

TEST_CASE("our mark is stripped from a user's job, and nothing like it")
{
    struct {
        const char *entry;
        bool kept;
    } table[] = {
        {"K8S_GANG=default/web", false},
        {"K8S_GANG=", false},
        {"K8S_GANG==", false},
        {"SPANK_K8S_GANG=default/web", false},
        {"K8S_GANGX=1", true},
        {"XK8S_GANG=1", true},
        {"k8s_gang=1", true},
        {"SPANK_K8S_GANGX=1", true},
        {"SPANK_SPANK_K8S_GANG=1", true},
        {"_SLURM_SPANK_OPTION_k8s_k8s_image=busybox", true},
        {"A=K8S_GANG=1", true},
        {"A=", true},
    };
    for (auto [entry, kept] : table) {
        CAPTURE(entry);
        std::string copy = entry;
        char *entries[] = {copy.data()};

        CHECK(kept_entries(entries) == std::vector<bool>{kept});
    }
}

TEST_CASE("entries that slurmctld would miscount are dropped from a user's job")
{
    std::string a = "A=1", again = "A=2", b = "B=1", no_value = "C", empty = "",
                mark = "K8S_GANG=1";
    std::string long_name = std::string(256, 'N') + "=1";
    std::string long_value = "V=" + std::string(256 * 1024, 'v');
    char *entries[] = {a.data(),    again.data(),     b.data(),
                       mark.data(), no_value.data(),  empty.data(),
                       nullptr,     long_name.data(), long_value.data()};

    CHECK(kept_entries(entries) == std::vector<bool>{true, false, true, false,
                                                     false, false, false, false,
                                                     false});
    CHECK(kept_entries({}).empty());
}

TEST_CASE("the owner of a placeholder may hold, release, lower and shorten it")
{
    const Change changes[] = {
        {"nothing", [](Desc &) {}},
        {"scontrol hold",
         [](Desc &d) {
             d.priority = 0;
             d.alloc_sid = 0;
         }},
        {"scontrol uhold",
         [](Desc &d) {
             d.priority = 0;
             d.alloc_sid = ALLOC_SID_USER_HOLD;
         }},
        {"scontrol release", [](Desc &d) { d.priority = INFINITE; }},
        {"Priority", [](Desc &d) { d.priority = 100; }},
        {"Nice", [](Desc &d) { d.nice = NICE_OFFSET + 100; }},
        {"TimeLimit", [](Desc &d) { d.time_limit = 5; }},
        {"EndTime", [](Desc &d) { d.end_time = 1700000000; }},
        {"StartTime", [](Desc &d) { d.begin_time = 1700000000; }},
        {"Comment", [](Desc &d) { d.comment = text; }},
        {"what slurmctld fills in",
         [](Desc &d) {
             d.alloc_node = text;
             d.bitflags = USE_DEFAULT_ACCT | USE_DEFAULT_PART |
                          USE_DEFAULT_QOS | USE_DEFAULT_WCKEY;
             d.job_id_str = text;
             d.user_id = 1001;
         }},
    };
    for (const Change &change : changes) {
        CAPTURE(change.name);
        Desc desc = unset();
        change.make(desc);

        CHECK_FALSE(modify_refusal_reason(desc, unset()));
    }
}

TEST_CASE("any other change of a placeholder is refused by its name")
{
    const Change changes[] = {
        {"Account", [](Desc &d) { d.account = text; }},
        {"AdminComment", [](Desc &d) { d.admin_comment = text; }},
        {"BurstBuffer", [](Desc &d) { d.burst_buffer = text; }},
        {"CPUsPerTask", [](Desc &d) { d.cpus_per_task = 2; }},
        {"Deadline", [](Desc &d) { d.deadline = 1700000000; }},
        {"Dependency", [](Desc &d) { d.dependency = text; }},
        {"ExcNodeList", [](Desc &d) { d.exc_nodes = text; }},
        {"Extra", [](Desc &d) { d.extra = text; }},
        {"Features", [](Desc &d) { d.features = text; }},
        {"Flags", [](Desc &d) { d.bitflags = RESET_ACCRUE_TIME; }},
        {"JobName", [](Desc &d) { d.name = text; }},
        {"Licenses", [](Desc &d) { d.licenses = text; }},
        {"MinMemory", [](Desc &d) { d.pn_min_memory = 1; }},
        {"NumCPUs", [](Desc &d) { d.min_cpus = 1; }},
        {"NumNodes", [](Desc &d) { d.min_nodes = 1; }},
        {"NumTasks", [](Desc &d) { d.num_tasks = 1; }},
        {"OverSubscribe", [](Desc &d) { d.shared = 1; }},
        {"Partition", [](Desc &d) { d.partition = text; }},
        {"QOS", [](Desc &d) { d.qos = text; }},
        {"ReqNodeList", [](Desc &d) { d.req_nodes = text; }},
        {"Requeue", [](Desc &d) { d.requeue = 1; }},
        {"ReservationName", [](Desc &d) { d.reservation = text; }},
        {"TimeMin", [](Desc &d) { d.time_min = 1; }},
        {"TresPerTask", [](Desc &d) { d.tres_per_task = text; }},
        {"WCKey", [](Desc &d) { d.wckey = text; }},
    };
    for (const Change &change : changes) {
        CAPTURE(change.name);
        Desc desc = unset();
        change.make(desc);
        auto reason = modify_refusal_reason(desc, unset());

        REQUIRE(reason);
        CHECK(reason->starts_with(std::string(change.name) + " of a job"));
    }
}

TEST_CASE("an allowed change carries no forbidden one with it")
{
    Desc desc = unset();
    desc.priority = 0;
    desc.partition = text;
    desc.num_tasks = 3;
    auto reason = modify_refusal_reason(desc, unset());

    REQUIRE(reason);
    CHECK(reason->starts_with("NumTasks, Partition of a job"));
}
