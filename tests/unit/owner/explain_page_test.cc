// SPDX-License-Identifier: GPL-2.0-or-later
// The page over a whole agent: gangs found by name and by job, reasons said.
#include "agent/owner/explain_page.h"
#include "tests/unit/fakes/world.h"

#include <doctest/doctest.h>

using namespace bridge;
using std::chrono::seconds;

namespace {

struct Page {
    World world;
    ExplainPage page{[this](const StoryKey &key) { return world.story(key); },
                     world.slurm};

    WebReply by_pod(const std::string &pod) { return page.answer(pod, ""); }
    WebReply by_job(const std::string &job) { return page.answer("", job); }
};

std::string error_of(const WebReply &reply)
{
    return Json::parse(reply.body)->text("error");
}

Pod in_namespace(Pod pod, const std::string &ns)
{
    pod.key.ns = ns;
    pod.uid += "-" + ns;
    return pod;
}

} // namespace

TEST_CASE(
    "a gang is found by its Pod's name, with and without namespace, and by "
    "its job")
{
    Page p;
    p.world.start_agent();
    p.world.create("web");

    for (const WebReply &reply :
         {p.by_pod("web"), p.by_pod("default/web"), p.by_job("1")}) {
        CHECK(reply.status == 200);
        auto json = Json::parse(reply.body);
        CHECK(json->text("gang") == "default/web");
        CHECK(json->integer("job/jobId") == 1);
        CHECK(json->text("job/asked") == "cpu=1");
        CHECK(json->text("agent/now") == "It waits for the Pod to end.");
    }
}

TEST_CASE("what is not known is a sentence and 404")
{
    Page p;
    p.world.start_agent();
    p.world.create("web");

    CHECK(p.by_pod("nope").status == 404);
    CHECK(error_of(p.by_pod("nope")).contains("schedulerName is not slurm"));
    CHECK(p.by_pod("other/web").status == 404);
    CHECK(p.by_job("4711").status == 404);
    CHECK(error_of(p.by_job("4711")).contains("neither Slurm nor the agent"));
}

TEST_CASE("a question that names nothing, or both, is refused")
{
    Page p;
    p.world.start_agent();

    CHECK(p.page.answer("", "").status == 400);
    CHECK(p.page.answer("web", "1").status == 400);
    for (const char *job : {"0", "-1", "1x", "99999999999", " 1", "0x1"}) {
        CAPTURE(job);
        CHECK(p.by_job(job).status == 400);
    }
    CHECK(p.by_pod(std::string(400, 'a')).status == 400);
}

TEST_CASE("a name in two namespaces must be told with one")
{
    Page p;
    Namespace other;
    other.name = "other";
    p.world.namespaces.push_back(other);
    p.world.start_agent();
    p.world.create("web");
    p.world.create(in_namespace(make_pod("web"), "other"));

    CHECK(p.by_pod("web").status == 409);
    CHECK(error_of(p.by_pod("web")).contains("other/web"));
    CHECK(p.by_pod("other/web").status == 200);
}

TEST_CASE(
    "a job of ours that is over is told from Slurm's record, a stranger's "
    "is not")
{
    Page p;
    p.world.start_agent();
    p.world.create("web");
    p.world.end_containers("web", 0);
    p.world.delete_as_user("web");
    p.world.finish_deletion("web");
    JobDescription stranger;
    stranger.name = "native";
    p.world.slurm.plant(stranger);

    WebReply past = p.by_job("1");
    CHECK(past.status == 200);
    CHECK(Json::parse(past.body)->text("summary").contains("COMPLETED"));
    CHECK(p.by_job("2").status == 404);
    CHECK(error_of(p.by_job("2")).contains("scontrol show job 2"));
}

TEST_CASE("while slurmctld is away the story is told without its details")
{
    Page p;
    p.world.start_agent();
    p.world.create("web");
    p.world.slurm.answers = false;

    WebReply reply = p.by_pod("web");

    CHECK(reply.status == 200);
    CHECK(Json::parse(reply.body)->text("slurmError").contains("contact"));
    CHECK(p.by_job("4711").status == 503);
}

TEST_CASE("containers that keep a node are named")
{
    Page p;
    p.world.nodes = {make_node("kn1")};
    p.world.start_agent();
    p.world.create(make_pod("old", MilliCpu{16000}));
    p.world.slurm.scancel(1);
    p.world.settle();
    p.world.create(make_pod("web", MilliCpu{16000}));

    auto json = Json::parse(p.by_pod("web").body);

    CHECK(json->text("agent/now") == "It waits for the containers of job 1 "
                                     "(default/old) on node kn1 to stop.");
}

TEST_CASE("a failure is told until the action works")
{
    Page p;
    p.world.start_agent();
    p.world.kube.fail_next("bind", Code::busy);
    p.world.create("web");
    auto failing = Json::parse(p.by_pod("web").body);
    CHECK(failing->text("agent/now").contains("then tries again to bind"));
    CHECK(failing->text("agent/lastFailure").contains("as the test wants"));

    p.world.pass(seconds(5));

    CHECK(Json::parse(p.by_pod("web").body)->text("agent/lastFailure") == "");
}

TEST_CASE("a reason that goes to and fro while the queue moves is said once")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.conf.reason_interval = seconds(10);
    world.start_agent();
    world.create("first");
    world.create("web");
    world.slurm.hold(2); // its reasons are the test's
    for (const char *reason : {"Resources", "Priority", "None", "Priority"}) {
        world.slurm.set_reason(2, reason);
        world.slurm.set_expected_start(2, world.slurm.expected_start(2) + 60);
        world.pass(seconds(12));
    }
    CHECK(world.kube.count("set_unscheduled") == 1);
    CHECK(world.said_on("web").contains("Slurm job 2 is waiting: "));

    world.slurm.set_reason(2, "JobHeldUser");
    world.pass(seconds(12));
    CHECK(world.said_on("web") == "Slurm job 2 is waiting: JobHeldUser. "
                                  "Expected to start at 1970-01-01T00:04:00Z.");
    CHECK(world.kube.count("set_unscheduled") == 2);

    world.start_agent(); // another life does not say it again
    world.pass(seconds(30));
    CHECK(world.kube.count("set_unscheduled") == 2);
}

TEST_CASE("a thousand Pods that wait cost one bulk load each ReasonInterval")
{
    World world;
    world.nodes = {make_node("kn1", 1)};
    world.start_agent();
    world.create("first");
    for (int i = 0; i < 1000; i++)
        world.kube.put(make_pod("web-" + std::to_string(i)));
    world.pass(seconds(35));
    const std::size_t said = world.kube.count("set_unscheduled");
    world.slurm.forget_calls();

    world.pass(seconds(120));

    CHECK(said == 1000);
    CHECK(world.kube.count("set_unscheduled") == said);
    CHECK(world.slurm.count("load_all") <= 5);
    CHECK(world.slurm.count("load") == 0);
    CHECK(world.slurm.count("submit") == 0);
}
