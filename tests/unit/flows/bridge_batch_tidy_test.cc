// SPDX-License-Identifier: GPL-2.0-or-later
// sbatch's jobs that are over: what was kept for them goes, once, and nothing
// else.
#include "tests/unit/flows/batch_world.h"

#include "agent/batch/make.h"

#include <doctest/doctest.h>
#include <filesystem>

using namespace bridge;
using std::chrono::seconds;

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
    CHECK(world.state(job) == JobState::completed);
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

TEST_CASE("a mark that a user has forged costs nobody his script")
{
    BatchWorld world;
    world.conf.batch_namespace = "elsewhere"; // users write in "default"
    world.start_agent();
    JobRef job = world.submit();
    Pod forged = make_pod("forged");
    forged.annotations["slurmk8s/sbatch"] =
        encode(BatchMark{job, world.script});
    world.create(forged);

    world.pass(world.conf.orphan_grace + seconds(20));
    world.end_containers("forged", 0);

    CHECK(world.has_script());
    CHECK(world.kube.count("delete_secret") == 0);
    CHECK(world.slurm.count("submit") == 1); // a Pod like any other
    CHECK(world.state(job) == JobState::running);
}

TEST_CASE("a file that no job names goes, once it is old, and no other")
{
    BatchWorld world;
    JobRef job = world.submit();
    std::string of_job = world.script;
    std::string fresh =
        store_script(world.scripts, "refused after all").value();
    // By another machine's clock it is old.
    for (const std::string &name : {of_job, fresh})
        std::filesystem::last_write_time(
            world.directory.path + "/" + name,
            std::filesystem::file_time_type::clock::now() -
                std::chrono::hours(1));

    world.start_agent();
    world.pass(script_patience - seconds(10));
    CHECK(world.scripts.read(fresh).has_value());
    std::string later = store_script(world.scripts, "refused just now").value();
    world.pass(world.conf.resync_interval + seconds(20));

    CHECK(world.scripts.read(of_job).has_value());
    CHECK(world.scripts.read(later).has_value());
    CHECK_FALSE(world.scripts.read(fresh).has_value());
    world.script = of_job;
    world.check_runs(job); // it has got a node meanwhile
}
