// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch's jobs that get no Pod, or whose Pod cannot start: which of them fail,
// and which wait.
#include "tests/unit/flows/batch_world.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <iterator>

using namespace bridge;
using std::chrono::seconds;

TEST_CASE(
    "a batch job whose script is gone, or another's, fails with the reason")
{
    for (bool others : {false, true}) {
        CAPTURE(others);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.submit(world.user + (others ? 1 : 0));
        if (!others)
            CHECK(world.scripts.remove(world.script).has_value());

        world.slurm.schedule();
        world.pass(seconds(others ? 5 : 160)); // it may be too new for a script

        const FakeSlurm::Record &record = world.record(job);
        CHECK(record.job.state == JobState::failed);
        CHECK(record.comment.contains("its script"));
        CHECK(world.kube.pods().empty());
        CHECK_FALSE(record.epilog_held);
    }
}

TEST_CASE("a batch job waits for its script, however old the job is")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.submit();
    std::string text = world.scripts.read(world.script).value();
    REQUIRE(world.scripts.remove(world.script));

    world.slurm.hold(job.id);
    world.pass(seconds(300));
    world.slurm.release(job.id);
    world.slurm.schedule();
    world.pass(seconds(90));
    CHECK(world.state(job) == JobState::configuring);
    CHECK(world.kube.pods().empty());

    REQUIRE(world.scripts.put(world.script, text));
    world.pass(seconds(60));
    world.check_runs(job);
}

TEST_CASE(
    "while no batch job gets its Pod all of them wait, and people are told")
{
    for (Code code : {Code::denied, Code::not_found, Code::rejected}) {
        CAPTURE(code_name(code));
        BatchWorld world;
        world.start_agent();
        JobRef job = world.submit();
        for (int i = 0; i < 20; i++) // for about eight minutes
            world.kube.fail_next("create_pod", code);

        world.slurm.schedule();
        world.pass(world.conf.bind_timeout - seconds(10));
        CHECK_FALSE(world.status().contains("none can be made"));
        world.pass(seconds(80));
        CHECK(world.state(job) == JobState::configuring);
        CHECK(world.status().contains("none can be made"));
        world.pass(seconds(300));

        world.check_runs(job);
        CHECK_FALSE(world.status().contains("none can be made"));
    }
}

TEST_CASE("a Pod that is refused alone ends its job, on a quiet cluster, too")
{
    for (bool all : {false, true}) {
        CAPTURE(all);
        BatchWorld world;
        world.start_agent();
        world.run();
        JobRef job = world.submit();
        for (int i = 0; i < 100; i++) {
            world.kube.fail_next("create_pod", Code::denied);
            if (all)
                world.kube.fail_next("try_pod", Code::denied);
        }

        world.slurm.schedule();
        world.pass(world.conf.bind_timeout - seconds(10));
        CHECK(world.state(job) == JobState::configuring);
        CHECK(world.kube.count("try_pod") == 0);
        world.pass(seconds(80));

        const FakeSlurm::Record &record = world.record(job);
        CHECK(world.kube.pods().size() == 1);
        CHECK(record.job.state ==
              (all ? JobState::configuring : JobState::failed));
        CHECK(record.comment.contains("no Pod could be made") != all);
        CHECK(world.status().contains("none can be made") == all);
        CHECK(world.kube.count("try_pod") >= 1);
    }
}

TEST_CASE("what another k8s.conf has made says nothing of this one's template")
{
    BatchWorld world;
    world.start_agent();
    world.run();
    JobRef job = world.submit();
    for (int i = 0; i < 100; i++)
        world.kube.fail_next("create_pod", Code::rejected);
    world.deliver(Reload{std::make_shared<const Conf>(world.conf)});

    world.slurm.schedule();
    world.pass(world.conf.bind_timeout + seconds(80));

    CHECK(world.state(job) == JobState::configuring);
    CHECK(world.kube.count("try_pod") == 0);
}

TEST_CASE("a job without a Pod that is cancelled leaves no problem behind")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.submit();
    for (int i = 0; i < 100; i++)
        world.kube.fail_next("create_pod", Code::denied);
    world.slurm.schedule();
    world.pass(world.conf.bind_timeout + seconds(60));
    REQUIRE(world.status().contains("none can be made"));

    world.slurm.scancel(job.id);
    world.settle();

    CHECK_FALSE(world.status().contains("none can be made"));
}

TEST_CASE("a directory of scripts that is away fails no job")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.submit();
    std::string away = world.directory.path + "-away";
    std::filesystem::rename(world.directory.path, away);

    world.slurm.schedule();
    world.pass(seconds(60));
    CHECK(world.state(job) == JobState::configuring);
    std::filesystem::rename(away, world.directory.path);
    world.pass(seconds(40));

    world.check_runs(job);
}

TEST_CASE("a job of a later job_submit/k8s waits until the agent is upgraded")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.submit();
    JobRef other = world.submit();
    const std::string file =
        world.directory.path + "/" + world.record(job).job.tag.script;
    std::ifstream in(file);
    const std::string sound(std::istreambuf_iterator<char>(in), {});
    std::string later = sound;
    later.insert(sound.find('\0') + 1, std::string("colour=red\0", 11));
    std::ofstream(file) << later;

    world.slurm.schedule();
    world.pass(seconds(900)); // longer than BindTimeout, while others run
    CHECK(world.state(job) == JobState::configuring);
    CHECK(world.status().contains("until slurmk8sd is upgraded"));
    CHECK(world.state(other) == JobState::running);

    std::ofstream(file) << sound; // as a later agent reads it
    world.pass(seconds(120));
    CHECK(world.state(job) == JobState::running);
    CHECK_FALSE(world.status().contains("until slurmk8sd is upgraded"));
}

TEST_CASE("an image that no kubelet can get ends the job after a while")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    auto say = [&](const std::string &reason) {
        REQUIRE(world.kube.change({"default", world.pod_name()}, [&](Pod &pod) {
            pod.start_failure_reason = reason;
        }));
        world.settle();
    };

    say("ErrImagePull: not found");
    world.pass(world.conf.bind_timeout - seconds(20));
    say("ImagePullBackOff: not found");
    CHECK(world.state(job) == JobState::running);
    world.pass(seconds(30));

    CHECK(world.state(job) == JobState::failed);
    CHECK(world.record(job).comment.contains("ImagePullBackOff"));
    CHECK(world.pod(world.pod_name())->deleting); // it has no logs to keep
}

TEST_CASE("an image that comes late is no error")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    ObjectKey key{"default", world.pod_name()};

    world.kube.change(
        key, [](Pod &pod) { pod.start_failure_reason = "ErrImagePull"; });
    world.pass(world.conf.bind_timeout - seconds(20));
    world.kube.change(key, [](Pod &pod) { pod.start_failure_reason.clear(); });
    world.run_containers(key.name);
    world.pass(seconds(60));

    CHECK(world.state(job) == JobState::running);
}
