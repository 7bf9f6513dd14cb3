// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch's jobs, which are there before their Pods: the whole life, and what is
// left when it is cut off at any point.
#include "tests/unit/world.h"

#include "agent/batch_job.h"
#include "common/batch_script.h"
#include "common/script_dir.h"
#include "tests/unit/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr std::uint32_t user = 1; // daemon, which every system has

struct BatchWorld : World {
    TemporaryDirectory directory;
    ScriptDir scripts{directory.path};
    std::string script; // the name of the last file

    BatchWorld()
    {
        conf.batch_namespace = "default";
        scripts_dir = directory.path;
        slurm.says_cpus = true;
    }

    // As sbatch and job_submit/k8s leave it.
    JobRef submit(std::uint32_t script_user = user)
    {
        BatchScript batch;
        batch.user_id = script_user;
        batch.group_id = user;
        batch.image = "busybox";
        batch.script = "#!/bin/sh\nhostname\n";
        script = scripts.put(encode(batch)).value();
        JobDescription job;
        job.name = "job.sh";
        job.user_id = job.group_id = user;
        job.features = "k8s";
        job.time_limit = 2880;
        job.memory_per_node = MebiBytes{100};
        job.tag.script = script;
        return slurm.plant(job);
    }
    // And once it has a node.
    JobRef run()
    {
        JobRef job = submit();
        slurm.schedule();
        settle();
        return job;
    }
    std::string pod_name() const
    {
        REQUIRE(kube.pods().size() == 1);
        return kube.pods().front().key.name;
    }
    bool has_script() const { return scripts.read(script).has_value(); }
    std::string secret() const { return kube.secret({"default", pod_name()}); }
    void check_runs(JobRef job) const
    {
        CHECK(slurm.job(job.id).job.state == JobState::running);
        CHECK(slurm.living().size() == 1);
        Pod pod = kube.pods().front();
        CHECK(kube.pods().size() == 1);
        CHECK(pod.node_name == slurm.job(job.id).job.nodes.front());
        CHECK(binder_of(pod) == job);
        CHECK(slurm.job(job.id).job.tag.uid == pod.uid);
        CHECK(secret().contains(pod.uid));
        CHECK(has_script());
    }
};

} // namespace

TEST_CASE("a batch job gets its Pod when it has a node, and not before")
{
    BatchWorld world;
    world.start_agent();

    JobRef job = world.submit();
    world.settle();
    CHECK(world.kube.pods().empty());
    world.slurm.schedule();
    world.settle();

    world.check_runs(job);
    CHECK(world.kube.count("create_pod") == 1);
    CHECK(world.kube.count("bind") == 1);
    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.slurm.starts == 1);
}

TEST_CASE("the end of the Pod is the job's, and what was kept for it goes")
{
    for (auto [code, state] : {std::pair{0, JobState::completed},
                               {7, JobState::failed}}) {
        BatchWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.run_containers(world.pod_name());

        world.end_containers(world.pod_name(), code);

        CHECK(world.slurm.job(job.id).job.state == state);
        CHECK(world.slurm.job(job.id).status == code << 8);
        CHECK(world.secret().empty());
        CHECK_FALSE(world.has_script());
        CHECK(world.kube.pods().size() == 1); // for its logs
        CHECK(world.slurm.jobs().size() == 1);
    }
}

TEST_CASE("an agent that is killed at any point makes one Pod, and binds it once")
{
    for (int steps = 0; steps < 60; steps++) {
        CAPTURE(steps);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.submit();
        world.slurm.schedule();
        world.step(steps);

        world.start_agent();
        world.pass(seconds(10));

        world.check_runs(job);
    }
}

TEST_CASE("an answer that is lost, or a call that fails, costs time only")
{
    for (const char *what : {"create_pod", "put_secret", "bind"}) {
        for (bool lose : {false, true}) {
            CAPTURE(what);
            BatchWorld world;
            world.start_agent();
            if (lose)
                world.kube.lose_reply(what);
            else
                world.kube.fail_next(what, Code::busy);

            JobRef job = world.run();
            world.pass(seconds(10));

            world.check_runs(job);
        }
    }
    for (const char *what : {"load_batch", "set_tag"}) {
        CAPTURE(what);
        BatchWorld world;
        world.start_agent();
        world.slurm.fail_next(what, Code::uncertain);

        JobRef job = world.run();
        world.pass(seconds(10));

        world.check_runs(job);
    }
}

TEST_CASE("a batch job that was pending when it was cancelled leaves nothing")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.submit();

    world.slurm.scancel(job.id);
    world.pass(world.conf.resync_interval + seconds(2));

    CHECK(world.kube.pods().empty());
    CHECK_FALSE(world.has_script());
}

TEST_CASE("scancel ends the Pod of a batch job, and no other job is asked for")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    world.run_containers(world.pod_name());

    world.slurm.scancel(job.id);
    world.settle();
    CHECK(world.pod(world.pod_name())->active_deadline == 1);
    world.end_containers(world.pod_name(), 143);

    CHECK(world.slurm.living().empty());
    CHECK(world.slurm.jobs().size() == 1);
    CHECK_FALSE(world.has_script());
    CHECK(world.secret().empty());
}

TEST_CASE("a job that is cancelled while its Pod is made never binds it")
{
    for (int steps = 0; steps < 30; steps++) {
        CAPTURE(steps);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.submit();
        world.slurm.schedule();
        world.step(steps);

        world.slurm.scancel(job.id);
        world.pass(seconds(90));

        for (const Pod &pod : world.kube.pods())
            CHECK((pod.bound() || pod.phase == "Failed"));
        CHECK(world.slurm.jobs().size() == 1);
        bool living = std::ranges::any_of(
            world.kube.pods(), [](const Pod &pod) { return pod.living(); });
        CHECK(world.slurm.job(job.id).epilog_held == living);
    }
}

TEST_CASE("a batch job whose script is gone, or another's, fails with the reason")
{
    for (bool others : {false, true}) {
        CAPTURE(others);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.submit(others ? user + 1 : user);
        if (!others)
            CHECK(world.scripts.remove(world.script).has_value());

        world.slurm.schedule();
        world.pass(seconds(5));

        const FakeSlurm::Record &record = world.slurm.job(job.id);
        CHECK(record.job.state == JobState::failed);
        CHECK(record.comment.contains("its script"));
        CHECK(world.kube.pods().empty());
        CHECK_FALSE(record.epilog_held);
    }
}

TEST_CASE("while no batch job gets its Pod all of them wait, and people are told")
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
        CHECK(world.slurm.job(job.id).job.state == JobState::configuring);
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
        CHECK(world.slurm.job(job.id).job.state == JobState::configuring);
        CHECK(world.kube.count("try_pod") == 0);
        world.pass(seconds(80));

        const FakeSlurm::Record &record = world.slurm.job(job.id);
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

    CHECK(world.slurm.job(job.id).job.state == JobState::configuring);
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
    CHECK(world.slurm.job(job.id).job.state == JobState::configuring);
    std::filesystem::rename(away, world.directory.path);
    world.pass(seconds(40));

    world.check_runs(job);
}

TEST_CASE("an image that no kubelet can get ends the job after a while")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    auto say = [&](const std::string &why) {
        REQUIRE(world.kube.change({"default", world.pod_name()},
                                  [&](Pod &pod) { pod.cannot_start = why; }));
        world.settle();
    };

    say("ErrImagePull: not found");
    world.pass(world.conf.bind_timeout - seconds(20));
    say("ImagePullBackOff: not found");
    CHECK(world.slurm.job(job.id).job.state == JobState::running);
    world.pass(seconds(30));

    CHECK(world.slurm.job(job.id).job.state == JobState::failed);
    CHECK(world.slurm.job(job.id).comment.contains("ImagePullBackOff"));
    CHECK(world.pod(world.pod_name())->deleting); // it has no logs to keep
}

TEST_CASE("an image that comes late is no error")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    ObjectKey key{"default", world.pod_name()};

    world.kube.change(key, [](Pod &pod) { pod.cannot_start = "ErrImagePull"; });
    world.pass(world.conf.bind_timeout - seconds(20));
    world.kube.change(key, [](Pod &pod) { pod.cannot_start.clear(); });
    world.run_containers(key.name);
    world.pass(seconds(60));

    CHECK(world.slurm.job(job.id).job.state == JobState::running);
}

TEST_CASE("a Pod that is over is tidied up once, and until that is done")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    world.kube.fail_next("delete_secret", Code::busy);
    world.end_containers(world.pod_name(), 0);
    CHECK_FALSE(world.secret().empty());
    world.pass(seconds(40));
    CHECK(world.secret().empty());
    CHECK_FALSE(world.has_script());
    std::size_t calls = world.kube.count("delete_secret");

    world.send_lists(); // as a watch does that has lost its place
    world.start_agent();
    world.pass(world.conf.resync_interval + seconds(2));

    CHECK(world.kube.count("delete_secret") == calls);
    CHECK(world.slurm.job(job.id).job.state == JobState::completed);
}

TEST_CASE("the Secret of a job goes also when its job has long ended")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    world.run_containers(world.pod_name());
    world.slurm.scancel(job.id); // its Pod takes its time to end
    world.pass(world.conf.resync_interval + seconds(2));
    CHECK_FALSE(world.secret().empty());
    world.kill_agent();
    world.kube.change({"default", world.pod_name()},
                      [](Pod &pod) { pod.phase = "Failed"; });

    world.start_agent();
    world.pass(seconds(2));

    CHECK(world.secret().empty());
    CHECK_FALSE(world.has_script());
}

TEST_CASE("a Pod whose job a crash lost fails, and gets no other job")
{
    BatchWorld world;
    world.start_agent();
    world.slurm.fail_always("set_tag", Code::busy); // it stays without its job
    JobRef job = world.run();
    REQUIRE(world.kube.pods().size() == 1);

    world.slurm.purge(job.id);
    world.pass(world.conf.orphan_grace - seconds(5));
    CHECK(world.pod(world.pod_name())->phase == "Pending");
    world.pass(seconds(20));

    CHECK(world.pod(world.pod_name())->phase == "Failed");
    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.secret().empty());
    CHECK_FALSE(world.has_script());
}

TEST_CASE("a living Pod whose job is lost is adopted for its own user")
{
    BatchWorld world;
    world.conf.default_user = "bin"; // somebody else
    world.start_agent();
    JobRef job = world.run();
    world.run_containers(world.pod_name());

    world.slurm.purge(job.id);
    world.start_agent();
    world.pass(seconds(10));

    REQUIRE(world.slurm.living().size() == 1);
    CHECK(world.slurm.living().front().asked.user_id == user);
    // Not the partition's default, which would end a healthy Pod.
    CHECK(world.slurm.living().front().asked.time_limit == 2880);
    CHECK(world.kube.pods().size() == 1);
    CHECK(world.kube.pods().front().living());
}

// slurmctld crashes within the seconds after an allocation, before it has saved
// that and the job's tag. again: and so does the agent.
static void crash_slurmctld(BatchWorld &world, JobRef job, bool again)
{
    world.cut_socket();
    world.slurm.forget_allocation(job.id);
    if (again)
        world.start_agent();
    world.connect_socket();
    world.settle();
}

TEST_CASE("a crash that takes allocation and tag leaves a Pod that runs its job's")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.run_containers(world.pod_name());
        world.slurm.hold(job.id);
        std::string node = world.node_of(world.pod_name());
        auto before = static_cast<std::ptrdiff_t>(
            world.slurm.synced_said.size());

        crash_slurmctld(world, job, again);
        world.pass(seconds(10)); // it is adopted

        // Until then nobody else may start there.
        CHECK(std::ranges::any_of(
            world.slurm.synced_said.begin() + before,
            world.slurm.synced_said.end(),
            [&](const HookMessage &said) { return said.dirty == node; }));

        REQUIRE(world.slurm.living().size() == 1);
        JobRef adopting = world.slurm.living().front().job.ref;
        CHECK(world.slurm.living().front().asked.user_id == user);
        CHECK(world.kube.count("create_pod") == 1);
        CHECK(world.kube.count("bind") == 1);
        world.end_containers(world.pod_name(), 7);
        CHECK(world.slurm.job(adopting.id).status == 7 << 8);
        CHECK(world.slurm.living().empty());
        CHECK_FALSE(world.has_script());
    }
}

TEST_CASE("a job that such a crash gives back to its node goes on with its Pod")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.run_containers(world.pod_name());
        std::string node = world.node_of(world.pod_name());

        world.cut_socket();
        world.slurm.forget_allocation(job.id);
        world.slurm.reallocate(job.id, node);
        if (again)
            world.start_agent();
        world.connect_socket();
        world.pass(seconds(10));

        world.check_runs(job);
        CHECK(world.kube.count("put_secret") == 1);
        world.end_containers(world.pod_name(), 0);
        CHECK(world.slurm.job(job.id).job.state == JobState::completed);
        CHECK(world.slurm.jobs().size() == 1);
    }
}

TEST_CASE("a job whose Pod ended before such a crash ends as that, and runs once")
{
    for (bool again : {false, true}) {
        CAPTURE(again);
        BatchWorld world;
        world.start_agent();
        JobRef job = world.run();
        world.slurm.hold(job.id);
        world.slurm.answers = false; // nobody hears how the Pod ends
        world.end_containers(world.pod_name(), 0);
        world.slurm.answers = true;

        crash_slurmctld(world, job, again);
        world.pass(seconds(60));
        CHECK(world.slurm.job(job.id).job.state == JobState::pending);
        world.slurm.release(job.id);
        world.slurm.schedule();
        world.pass(seconds(5));

        CHECK(world.slurm.job(job.id).job.state == JobState::completed);
        CHECK(world.slurm.job(job.id).status == 0);
        CHECK(world.kube.pods().size() == 1);
        CHECK(world.slurm.jobs().size() == 1);
    }
}

TEST_CASE("a job that comes back after all of it was over ends as its Pod did")
{
    BatchWorld world;
    world.start_agent();
    JobRef job = world.run();
    world.end_containers(world.pod_name(), 3);
    REQUIRE_FALSE(world.has_script());

    crash_slurmctld(world, job, false);
    world.slurm.schedule();
    world.pass(world.conf.orphan_grace + seconds(10));

    CHECK(world.slurm.job(job.id).job.state == JobState::failed);
    CHECK(world.slurm.job(job.id).status == 3 << 8);
    CHECK(world.slurm.job(job.id).comment.empty());
    CHECK(world.kube.count("bind") == 1);
}

TEST_CASE("a mark that a user has forged costs nobody his script")
{
    BatchWorld world;
    world.conf.batch_namespace = "elsewhere"; // users write in "default"
    world.start_agent();
    JobRef job = world.submit();
    Pod forged = make_pod("forged");
    forged.annotations["slurmk8s/sbatch"] = encode(BatchMark{job, world.script});
    world.create(forged);

    world.pass(world.conf.orphan_grace + seconds(20));
    world.end_containers("forged", 0);

    CHECK(world.has_script());
    CHECK(world.kube.count("delete_secret") == 0);
    CHECK(world.slurm.count("submit") == 1); // a Pod like any other
    CHECK(world.slurm.job(job.id).job.state == JobState::running);
}

TEST_CASE("a file that no job names goes, once it is old, and no other")
{
    BatchWorld world;
    JobRef job = world.submit();
    std::string of_job = world.script;
    std::string fresh = world.scripts.put("refused after all").value();
    // By another machine's clock it is old.
    for (const std::string &name : {of_job, fresh})
        std::filesystem::last_write_time(
            world.directory.path + "/" + name,
            std::filesystem::file_time_type::clock::now() -
                std::chrono::hours(1));

    world.start_agent();
    world.pass(script_patience - seconds(10));
    CHECK(world.scripts.read(fresh).has_value());
    std::string later = world.scripts.put("refused just now").value();
    world.pass(world.conf.resync_interval + seconds(20));

    CHECK(world.scripts.read(of_job).has_value());
    CHECK(world.scripts.read(later).has_value());
    CHECK_FALSE(world.scripts.read(fresh).has_value());
    world.script = of_job;
    world.check_runs(job); // it has got a node meanwhile
}
