// SPDX-License-Identifier: GPL-2.0-or-later
// srun in batch jobs of several nodes: what is left of what the agent makes for
// it when that is cut off at any point or refused.
#include "tests/unit/flows/batch_flows.h"
#include "tests/unit/flows/batch_srun_world.h"

#include "agent/batch/srun.h"
#include "common/base/hexadecimal.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

constexpr int many = 100; // refusals

// Its Pods are there, and another Service has the name of its own.
struct TakenNameWorld : SrunWorld {
    JobRef job;
    ObjectKey key;

    TakenNameWorld()
    {
        start_agent();
        kube.fail_next("create_service", Code::busy);
        job = run();
        key = pods_of(job).front().key;
        REQUIRE(kube.services.empty());
    }
    void take_name(const std::string &body) { kube.services[key] = body; }
    // Of a worker of that name that has gone since.
    void take_name_by_earlier()
    {
        Pod earlier = pod_of(1);
        earlier.uid = "earlier";
        take_name(batch_service_body(pod_of(0), earlier));
    }
    bool has_names() const
    {
        return is_service_of(*Json::parse(kube.services.at(key)), pod_of(1));
    }
};

} // namespace

TEST_CASE("an agent that is killed at any point makes what srun needs once")
{
    check_kills_while_made<SrunWorld>(100, [](SrunWorld &world, JobRef job) {
        CHECK(world.kube.count("create_config_map") == 1);
        REQUIRE(world.kube.services.size() == 1);
        CHECK(is_service_of(*Json::parse(world.kube.services.begin()->second),
                            world.pod_of(1)));
        CHECK(is_hexadecimal(world.key_of(job), 64));
        for (const Pod &pod : world.pods_of(job)) {
            CHECK(world.has_program(pod));
            world.run_containers(pod.key.name);
        }
        world.give_addresses(job);
        world.pass(seconds(5));
        CHECK(world.all_say(job, three_hosts));
    });
}

TEST_CASE("an answer that is lost costs what srun needs time only")
{
    check_lost_answers<SrunWorld>({"create_config_map", "create_service"}, 1,
                                  [](const SrunWorld &world, JobRef) {
                                      CHECK(world.kube.config_maps.size() == 1);
                                      CHECK(world.kube.services.size() == 1);
                                      CHECK(world.has_program(world.pod_of(1)));
                                  });
}

TEST_CASE("without the program jobs run, and srun says what is missing")
{
    SrunWorld world;
    world.srun += ".not-there";
    world.start_agent();

    JobRef job = world.run();

    world.check_without(job, "static libraries");
    CHECK(world.kube.config_maps.empty());
    CHECK(world.kube.services.size() == 1); // their names resolve all the same
}

TEST_CASE("without the rights jobs run, and nothing is tried")
{
    SrunWorld world;
    world.deny("services");
    world.start_agent();

    JobRef job = world.run();

    world.check_without(job, "lacks rights");
    for (const char *what : {"get_config_map", "create_config_map",
                             "get_service", "create_service"})
        CHECK(world.kube.count(what) == 0);
}

TEST_CASE("a refusal that stays keeps srun from a job, and no job from running")
{
    for (const char *what : {"get_config_map", "create_config_map"}) {
        for (Code code : {Code::denied, Code::rejected}) {
            CAPTURE(what);
            SrunWorld world;
            world.start_agent();
            for (int i = 0; i < many; i++)
                world.kube.fail_next(what, code);

            JobRef job = world.run();
            CHECK(world.record(job).job.state == JobState::configuring);
            world.pass(seconds(20));

            world.check_without(job, "srun: error: this job has no srun");
        }
    }
}

TEST_CASE("a Service that is refused for good keeps no job from running")
{
    for (Code code : {Code::denied, Code::rejected}) {
        SrunWorld world;
        world.start_agent();
        for (int i = 0; i < many; i++)
            world.kube.fail_next("create_service", code);

        JobRef job = world.run();
        world.pass(seconds(20));

        world.check_runs(job);
        CHECK(world.kube.services.empty());
        CHECK(world.has_program(world.pod_of(0)));
    }
}

TEST_CASE("a refusal that passes costs a job neither srun nor names")
{
    for (const char *what :
         {"get_config_map", "create_config_map", "create_service"}) {
        for (Code code : {Code::denied, Code::rejected}) {
            CAPTURE(what);
            SrunWorld world;
            world.start_agent();
            world.kube.fail_next(what, code);

            JobRef job = world.run();
            world.pass(seconds(20));

            world.check_runs(job);
            CHECK(world.kube.services.size() == 1);
            for (const Pod &pod : world.pods_of(job))
                CHECK(world.has_program(pod));
        }
    }
}

TEST_CASE("somebody else's ConfigMap is never run")
{
    SrunWorld world;
    ObjectKey key{"default", srun_map_name(srun_program)};
    world.kube.config_maps[key] = srun_map_body(key, "evil");
    world.start_agent();

    JobRef job = world.run();
    world.pass(seconds(20)); // it may go

    world.check_without(job, "does not contain this srun");
}

TEST_CASE("the Service of an earlier Pod of that name is waited for, but not "
          "for long")
{
    for (bool goes : {false, true}) {
        CAPTURE(goes);
        SrunWorld world;
        world.start_agent();
        JobRef job = world.submit();
        ObjectKey key{"default",
                      batch_pod_name({job, world.script, std::nullopt})};
        Pod earlier = make_pod(key.name);
        world.kube.services[key] = batch_service_body(earlier, earlier);
        world.slurm.schedule();
        world.settle();
        CHECK(world.record(job).job.state == JobState::configuring);

        if (goes)
            world.kube.services.erase(key);
        world.pass(seconds(20));

        world.check_runs(job);
        CHECK(is_service_of(*Json::parse(world.kube.services.at(key)),
                            world.pod_of(1)) == goes);
    }
}

TEST_CASE(
    "the Service of a worker that is gone is waited for until it goes, too")
{
    TakenNameWorld world;
    world.take_name_by_earlier();
    world.pass(seconds(20)); // Kubernetes takes its time
    CHECK(world.record(world.job).job.state == JobState::configuring);

    world.kube.services.erase(world.key);
    world.pass(seconds(60));

    world.check_runs(world.job);
    CHECK(world.has_names());
}

TEST_CASE("a Service of a worker that stays for ever fails no job")
{
    TakenNameWorld world;
    world.take_name_by_earlier();

    SUBCASE("long before BindTimeout") {}
    SUBCASE("also before a short one")
    {
        world.conf.bind_timeout = seconds(20);
        world.deliver(Reload{std::make_shared<const Conf>(world.conf)});
    }
    world.pass(seconds(70));

    world.check_runs(world.job);
    CHECK_FALSE(world.has_names());
}

TEST_CASE("a Service that the script's Pod owns is the job's")
{
    TakenNameWorld world;
    Pod first = world.pod_of(0);
    world.take_name(batch_service_body(first, first));

    world.pass(seconds(1));

    world.check_runs(world.job);
}

TEST_CASE(
    "somebody's Service is none of the job's, whomever it says to belong to")
{
    for (bool worker : {true, false}) {
        CAPTURE(worker);
        TakenNameWorld world;
        std::string body =
            batch_service_body(world.pod_of(0), world.pod_of(worker ? 1 : 0));
        const std::string none = R"("clusterIP":"None")";
        REQUIRE(body.contains(none));
        world.take_name(body.replace(body.find(none), none.size(),
                                     R"("type":"ExternalName")"));

        world.pass(seconds(1));
        CHECK(world.record(world.job).job.state == JobState::configuring);
        world.pass(seconds(20)); // it may go

        world.check_runs(world.job);
        CHECK_FALSE(world.has_names());
    }
}
