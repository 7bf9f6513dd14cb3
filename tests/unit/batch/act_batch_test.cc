// SPDX-License-Identifier: GPL-2.0-or-later
// What make_batch_pod() finds of a job's Pods and its Secret, and makes anew.
#include "tests/unit/flows/batch_srun_world.h"

#include "agent/batch/make.h"
#include "agent/batch/srun.h"
#include "common/base/hexadecimal.h"
#include "common/contract/names.h"

#include <doctest/doctest.h>
#include <fstream>

using namespace bridge;

namespace {

// make_batch_pod() alone, of two nodes or so many.
struct Maker : SrunWorld {
    TakenPod taken;
    SrunMaps maps;
    JobRef job;

    explicit Maker(bool keyed = true, std::uint32_t count = 2)
    {
        has_key = keyed;
        for (const char *name : {"kn1", "kn2", "kn3"})
            slurm.add_node(name);
        job = submit(count);
        slurm.schedule();
    }
    Result<Job> make(bool settled = false)
    {
        std::map<std::string, std::string> known;
        for (const Node &node : nodes)
            known[node.name] = node.label(names::arch_label);
        return make_batch_pod(
            job, kube,
            {slurm,
             std::make_shared<const Conf>(conf),
             scripts,
             "cluster",
             taken,
             maps,
             {srun, true,
              std::make_shared<const std::map<std::string, std::string>>(
                  known)},
             std::chrono::seconds(max_grace_period),
             settled});
    }
    // As a crash of slurmctld does.
    void lose_tag()
    {
        GangTag tag = record(job).job.tag;
        tag.uid.clear();
        tag.first.clear();
        REQUIRE(slurm.set_tag(job, tag).has_value());
    }
};

} // namespace

TEST_CASE("the key of a job is the same, however often its Secret is made")
{
    Maker maker;
    REQUIRE(maker.make().has_value());
    std::string key = maker.key_of(maker.job);
    maker.lose_tag();

    REQUIRE(maker.make().has_value());

    CHECK(maker.kube.count("put_secret") == 2);
    CHECK(maker.key_of(maker.job) == key);
}

// Of a job that was submitted to an earlier version.
TEST_CASE("a worker that is bound keeps the key that its kubelet has read")
{
    for (bool bound : {false, true}) {
        CAPTURE(bound);
        Maker maker(false);
        REQUIRE(maker.make().has_value());
        std::string key = maker.key_of(maker.job);
        maker.lose_tag();
        maker.kube.change(maker.pods_of(maker.job)[1].key, [&](Pod &pod) {
            pod.node_name = bound ? "kn2" : "";
        });

        auto again = maker.make();

        REQUIRE(again.has_value());
        CHECK_FALSE(again->tag.uid.empty());
        CHECK((maker.key_of(maker.job) == key) == bound);
        CHECK(maker.kube.count("put_secret") == (bound ? 1 : 2));
    }
}

// Somebody binds it: it was that, or was not, before its workers are looked at.
TEST_CASE("workers stay where the Pod of the script does")
{
    Maker maker;
    maker.slurm.fail_always("set_tag", Code::busy);
    CHECK_FALSE(maker.make().has_value());
    REQUIRE(maker.kube.pods().size() == 2);
    maker.srun.clear(); // both would be made anew
    maker.kube.fail_next("delete_unbound", Code::conflict);

    CHECK_FALSE(maker.make().has_value());

    CHECK(maker.kube.pods().size() == 2);
}

TEST_CASE("Pods that were made with another srun, or none, are made anew")
{
    enum Change { loses, gets, another };
    for (Change change : {loses, gets, another}) {
        CAPTURE(int(change));
        Maker maker;
        std::string there = maker.srun;
        if (change == gets)
            maker.srun.clear();
        maker.slurm.fail_always("set_tag", Code::busy);
        CHECK_FALSE(maker.make().has_value());
        std::string uid = maker.pods_of(maker.job)[0].uid;
        maker.slurm.heal("set_tag");
        maker.srun = change == loses ? "" : there;
        if (change == another)
            std::ofstream(there) << "a newer program";

        CHECK(maker.make().error().code == Code::busy); // both go
        CHECK(maker.kube.pods().empty());
        maker.kube.services.clear(); // with its owner
        REQUIRE(maker.make().has_value());

        std::vector<Pod> pods = maker.pods_of(maker.job);
        REQUIRE(pods.size() == 2);
        CHECK(pods[0].uid != uid);
        CHECK(batch_place(pods[1])->first == pods[0].uid);
        for (const Pod &pod : pods) {
            CHECK(maker.has_program(pod) == (change != loses));
            CHECK(pod.annotation("slurmk8s/sbatch-srun") ==
                  (change == loses  ? ""
                   : change == gets ? srun_map_name(srun_program)
                                    : srun_map_name("a newer program")));
        }
        CHECK(is_hexadecimal(maker.key_of(maker.job), 64));
        CHECK(maker.no_srun_of(maker.job).contains(
            change == loses ? "static libraries"
                            : "before srun was available"));
    }
}

TEST_CASE(
    "the Pod of a job of one node is made anew, too, where srun is another")
{
    enum Change { loses, gets, another };
    for (Change change : {loses, gets, another}) {
        CAPTURE(int(change));
        Maker maker(true, 1);
        std::string there = maker.srun;
        if (change == gets)
            maker.srun.clear();
        maker.slurm.fail_always("set_tag", Code::busy);
        CHECK_FALSE(maker.make().has_value());
        maker.slurm.heal("set_tag");
        maker.srun = change == loses ? "" : there;
        if (change == another)
            std::ofstream(there) << "a newer program";

        CHECK(maker.make().error().code == Code::busy); // it goes
        CHECK(maker.kube.pods().empty());
        REQUIRE(maker.make().has_value());

        REQUIRE(maker.pods_of(maker.job).size() == 1);
        Pod pod = maker.pods_of(maker.job).front();
        CHECK(maker.has_program(pod) == (change != loses));
        CHECK(pod.annotation("slurmk8s/sbatch-srun") ==
              (change == loses  ? ""
               : change == gets ? srun_map_name(srun_program)
                                : srun_map_name("a newer program")));
    }
}

TEST_CASE(
    "the Pod of a job of one node is made anew, too, where the node is another")
{
    for (bool says_node : {true, false}) { // else an earlier agent made it
        CAPTURE(says_node);
        Maker maker(true, 1);
        REQUIRE(maker.make().has_value());
        Pod before = maker.pods_of(maker.job).front();
        CHECK(batch_place(before) == BatchPlace{0, 1, "kn1"});
        if (!says_node)
            maker.kube.change(before.key, [](Pod &pod) {
                pod.annotations.erase(names::batch_place_annotation);
            });
        maker.lose_tag();
        maker.slurm.reallocate(maker.job.id, "kn2");

        if (says_node) {
            CHECK(maker.make().error().code == Code::busy); // it goes
            CHECK(maker.kube.pods().empty());
        }
        REQUIRE(maker.make().has_value());

        REQUIRE(maker.pods_of(maker.job).size() == 1);
        CHECK((maker.pods_of(maker.job).front().uid == before.uid) !=
              says_node);
        CHECK(maker.file_in_secret(maker.job, "run")
                  .contains("SLURM_JOB_NODELIST=kn2'"));
    }
}

TEST_CASE(
    "a job of one node waits for a Node that nobody knows, and for no label")
{
    Maker unknown(true, 1);
    unknown.nodes.clear(); // not listed yet
    CHECK(unknown.make().error().code == Code::busy);
    CHECK(unknown.kube.pods().empty());
    REQUIRE(unknown.make(true).has_value());
    CHECK(unknown.no_srun_of(unknown.job).contains("is not known"));

    Maker unlabelled(true, 1);
    for (Node &node : unlabelled.nodes)
        node.labels.clear();
    REQUIRE(unlabelled.make().has_value());
    CHECK(unlabelled.no_srun_of(unlabelled.job).contains("is not known"));
}
