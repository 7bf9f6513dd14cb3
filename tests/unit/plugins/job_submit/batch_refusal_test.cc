// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_refusal.h"
#include "plugins/job_submit/batch_request.h"
#include "plugins/job_submit/job_desc.h"
#include "plugins/shared/pod_array.h"
#include "tests/unit/flows/batch_desc.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

char gres[] = "gres/gpu:1";

} // namespace

TEST_CASE("a job chooses from what the site lists, and from nothing else")
{
    Conf site = conf();
    site.batch_pod.choosable = {"data"};
    site.batch_namespaces = {"elsewhere"};
    site.batch_accounts = {"spark"};
    auto reason = [&](const BatchWish &wish, const Conf &where) {
        return batch_refusal_reason(batch_job(), wish, where, 64030)
            .value_or("");
    };

    CHECK(reason({"a", {}, {"data"}, "spark", "elsewhere"}, site).empty());
    CHECK(reason({.image = "a", .name_space = "slurm-jobs"}, site).empty());
    CHECK(reason({.image = "a", .volumes = {"home"}}, site)
              .contains("available: data"));
    CHECK(reason({.image = "a", .service_account = "admin"}, site)
              .contains("available: spark"));
    CHECK(reason({.image = "a", .name_space = "kube-system"}, site)
              .contains("available: elsewhere"));
    CHECK(reason({.image = "a", .volumes = {"data"}}, conf()).contains("none"));
    CHECK(reason({.image = "a", .service_account = "spark"}, conf())
              .contains("none"));
    CHECK(reason({.image = "", .volumes = {"data"}}, site)
              .contains("--k8s-image"));
}

TEST_CASE("a constraint and a preference are joined with ours, or refused")
{
    CHECK(batch_features("a|b", conf()) == "(a|b)&k8s&k8s-untainted");
    CHECK(batch_features("(a|b)&c", conf()) == "(a|b)&c&k8s&k8s-untainted");
    Desc desc = batch_job();
    std::string good = "rack1|rack2";
    desc.features = desc.prefer = good.data();
    CHECK_FALSE(batch_refusal_reason(desc, {"a"}, conf(), 64030));
    for (std::string bad : {"[a|b]", "a*2", "k8s-node-kn1", "(a", "a b"}) {
        CAPTURE(bad);
        for (auto [field, word] : {std::pair{&Desc::features, "--constraint"},
                                   {&Desc::prefer, "--prefer"}}) {
            desc = batch_job();
            desc.*field = bad.data();
            auto reason = batch_refusal_reason(desc, {"a"}, conf(), 64030);
            REQUIRE(reason);
            CHECK(reason->starts_with(word));
        }
    }
}

TEST_CASE("GRES are refused but for devices that Slurm counts for Pods")
{
    Conf site = conf();
    site.device_gres = {{"gpu.example.com", "gpu", "a100"},
                        {"cpu.example.com", "cpu", ""},
                        {"vendor.com/fpga", "fpga", "x"}};
    auto reason = [&](std::string tres, char *Desc::*field) {
        Desc desc = batch_job();
        desc.*field = tres.data();
        return batch_refusal_reason(desc, {"a"}, site, 64030).value_or("");
    };

    for (auto field : {&Desc::tres_per_job, &Desc::tres_per_node,
                       &Desc::tres_per_socket, &Desc::tres_per_task}) {
        CHECK(reason("gres/gpu:2", field).empty());
        CHECK(reason("cpu=2,gres/gpu:a100=2", field).empty());
        CHECK(reason("none", field).empty());
        CHECK(reason("gres/gpu:1,gres/shard:2", field).contains("\"shard\""));
        CHECK(reason("gres/fpga", field).contains("available: gpu)"));
        CHECK(reason("gres/gpu:gres", field).empty()); // a type
        // Slurm looks for "gres" anywhere: the second is an xgpu to it.
        for (std::string odd : {"mygres/gpu:1", "gresxgpu", "gres", "gres/:1",
                                "license/congress:1"})
            CHECK(reason("gres/gpu:1," + odd, field)
                      .contains("\"" + odd + "\" is not gres/NAME"));
    }
    site.device_gres.clear();
    CHECK(reason("gres:gpu", &Desc::tres_per_node).contains("available: none"));
}

TEST_CASE("an ordinary script may run as a Pod")
{
    CHECK_FALSE(batch_refusal_reason(batch_job(), {"a"}, conf(), 64030));
}

TEST_CASE("what a Pod cannot be is refused in the words of sbatch's options")
{
    struct {
        const char *word;
        void (*change)(Desc &desc);
    } rows[] = {
        {"sbatch", [](Desc &d) { d.script = nullptr; }},
        {"heterogeneous",
         [](Desc &d) {
             d.het_job_offset = 0;
             d.array_inx = text;
         }},
        {"--no-kill",
         [](Desc &d) {
             d.max_nodes = 2;
             d.kill_on_node_fail = 0;
         }},
        {"MaxGangSize", [](Desc &d) { d.min_nodes = 5000; }},
        {"--gres", [](Desc &d) { d.tres_per_node = gres; }},
        {"--gres", [](Desc &d) { d.tres_per_task = gres; }},
        {"--requeue", [](Desc &d) { d.requeue = 1; }},
        {"--signal",
         [](Desc &d) {
             d.warn_signal = 10;
             d.warn_flags = KILL_JOB_RESV | KILL_JOB_BATCH;
         }},
        {"--signal", [](Desc &d) { d.warn_signal = 65; }},
        {"--container", [](Desc &d) { d.container = text; }},
        {"scrontab", [](Desc &d) { d.bitflags = CRON_JOB; }},
        {"root", [](Desc &d) { d.user_id = 0; }},
        {"root", [](Desc &d) { d.group_id = 0; }},
        {"SlurmUser", [](Desc &d) { d.user_id = 64030; }},
    };
    for (auto [word, change] : rows) {
        CAPTURE(word);
        Desc desc = batch_job();
        change(desc);

        auto reason = batch_refusal_reason(desc, {"a"}, conf(), 64030);

        REQUIRE(reason);
        CHECK(reason->contains(word));
    }
}

TEST_CASE("a job that asks for several nodes may have them")
{
    Desc desc = batch_job();
    CHECK_FALSE(has_several_nodes(desc));
    desc.min_nodes = 1; // --nodes=1-4
    desc.max_nodes = 4;

    CHECK(has_several_nodes(desc));
    CHECK_FALSE(batch_refusal_reason(desc, {"a"}, conf(), 64030));
    desc.array_inx = text; // each task of an array, too
    CHECK_FALSE(batch_refusal_reason(desc, {"a"}, conf(), 64030));
    desc.max_nodes = 1;
    desc.kill_on_node_fail = 0; // which means nothing then
    CHECK_FALSE(has_several_nodes(desc));
    CHECK_FALSE(batch_refusal_reason(desc, {"a"}, conf(), 64030));
}

TEST_CASE("without SbatchNamespace, as by default, no batch job runs as a Pod")
{
    auto reason =
        batch_refusal_reason(batch_job(), {"a"}, parse_conf("").value(), 64030);

    REQUIRE(reason);
    CHECK(reason->contains("SbatchNamespace"));
}

TEST_CASE("a script that is too large is refused with both sizes")
{
    Conf small = conf();
    small.max_script_size = 1024;

    CHECK_FALSE(size_refusal_reason(1024, small));
    auto reason = size_refusal_reason(1025, small);

    REQUIRE(reason);
    CHECK(reason->contains("1025"));
    CHECK(reason->contains("1024"));
    CHECK(reason->contains("MaxScriptSize"));
}

TEST_CASE("arrays are taken where burst_buffer/k8s is loaded")
{
    CHECK(makes_pod_arrays("burst_buffer/k8s"));
    CHECK(makes_pod_arrays("k8s"));
    Desc desc = batch_job();
    CHECK_FALSE(array_refusal_reason(desc, "")); // it is none
    desc.array_inx = text;
    CHECK_FALSE(array_refusal_reason(desc, "burst_buffer/k8s"));
    for (const char *type : {"", "burst_buffer/lua", "lua", "k8s2"}) {
        CHECK_FALSE(makes_pod_arrays(type));
        CHECK(array_refusal_reason(desc, type)->contains("BurstBufferType"));
    }
}
