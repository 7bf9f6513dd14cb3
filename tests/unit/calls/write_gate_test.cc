// SPDX-License-Identifier: GPL-2.0-or-later
// Every write goes through the gate, under its own name, and nothing else does.
#include "agent/calls/guarded_slurm.h"
#include "agent/calls/kube_api.h"
#include "agent/calls/write_gate.h"
#include "agent/workers/worker_api.h"
#include "tests/unit/fakes/fake_slurm.h"
#include "tests/unit/fakes/tls_server.h"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>
#include <map>

using namespace bridge;
using Moment = WriteGate::Moment;

namespace {

struct Fixture {
    bool open = true;
    std::map<Write, int> before;
    std::map<Write, int> after;
    WriteGate gate{[this]() -> Result<> {
                       if (open)
                           return {};
                       return fail(Code::busy, "somebody else serves");
                   },
                   [this](Write write, Moment moment) {
                       (moment == Moment::before ? before : after)[write]++;
                   }};
    FakeSlurm fake_slurm;
    std::atomic<int> conflicts = 0; // answers that the server still gives
    TlsServer server{[this](const TlsServer::Request &, TlsServer::Peer &peer) {
        bool conflict = conflicts > 0 && conflicts-- > 0;
        peer.send(reply_text(conflict ? 409 : 200, "{}"));
    }};
    Pod pod;
    CallCounts counts;
    GuardedSlurm slurm{fake_slurm, gate, counts};
    KubeApi kube{server.endpoint(), gate, "slurm", "slurm-test"};

    Fixture()
    {
        pod.key = {"default", "p"};
        pod.uid = "1";
    }

    // Requests that are no reads and store something.
    int requests_that_write() const
    {
        auto requests = server.requests();
        return static_cast<int>(
            std::ranges::count_if(requests, [](const auto &request) {
                return request.method != "GET" &&
                       !request.target.contains("dryRun=All");
            }));
    }
    int passes() const
    {
        int sum = 0;
        for (const auto &[write, count] : before)
            sum += write >= Write::bind ? count : 0;
        return sum;
    }

    // Each write once; what came of them is of no interest here.
    std::map<Write, Code> write_all()
    {
        std::map<Write, Code> codes;
        auto note = [&](Write write, const auto &result) {
            if (!result)
                codes[write] = result.error().code;
        };
        const JobRef job{1, Sluid{1}};
        note(Write::submit, slurm.submit({}));
        note(Write::set_priority, slurm.set_priority(job, 1));
        note(Write::set_partitions, slurm.set_partitions(job, "a,b", 1));
        note(Write::set_comment, slurm.set_comment(job, "words"));
        note(Write::set_tag, slurm.set_tag(job, {}));
        note(Write::complete, slurm.complete(job, 0));
        note(Write::cancel, slurm.cancel(job));
        note(Write::resume_job, slurm.resume_job(job));
        note(Write::create_node,
             slurm.create_node({"n1", {}, 0, 1, {}, {}, {}}));
        note(Write::set_features, slurm.set_features("n1", "k8s", "k8s"));
        note(Write::set_topology, slurm.set_topology("n1", "s1"));
        note(Write::set_extra, slurm.set_extra("n1", "words"));
        note(Write::rebuild_partitions, slurm.rebuild_partitions());
        note(Write::submit_het, slurm.submit_het({JobDescription{}}));
        note(Write::submit_shadow,
             slurm.submit_shadow("n1", {}, ShadowTier::highest));
        note(Write::drain, slurm.drain("n1", "why"));
        note(Write::resume, slurm.resume("n1"));
        note(Write::set_down, slurm.set_down("n1", "why"));
        note(Write::delete_node, slurm.delete_node("n1"));
        note(Write::reconfigure, slurm.reconfigure());
        note(Write::stamp, kube.stamp(pod, {}, {{"a/b", "c"}}));
        note(Write::set_unscheduled, kube.set_unscheduled(pod, {"r", "m"}));
        note(Write::bind, kube.bind(pod, {"n1", {}, {}}));
        note(Write::fail_pod, kube.fail_pod(pod, "r", "m"));
        note(Write::set_disrupted, kube.set_disrupted(pod, "r", "m"));
        note(Write::expire_pod, kube.expire_pod(pod));
        note(Write::evict_pod, kube.evict_pod(pod, std::chrono::seconds(1)));
        note(Write::post_event, kube.post_event(pod, {}));
        note(Write::patch_node, kube.patch_node({}));
        GroupPatch group;
        group.api = GroupApi::plugins;
        note(Write::patch_group, kube.patch_group(group));
        note(Write::patch_worker,
             WorkerApi(server.endpoint(), gate).patch({}, {}));
        note(Write::delete_pod, kube.delete_pod(pod));
        note(Write::create_pod, kube.create_pod("default", "{}"));
        note(Write::put_secret, kube.put_secret(pod.key, "{}"));
        note(Write::delete_secret, kube.delete_secret(pod.key));
        note(Write::create_service, kube.create_service(pod.key, "{}"));
        note(Write::create_config_map, kube.create_config_map(pod.key, "{}"));
        note(Write::select_node, kube.select_node({}, "n1"));
        note(Write::give_volume, kube.give_volume({}, {}));
        note(Write::write_claim, kube.write_claim({}, {}));
        note(Write::write_claim_status, kube.write_claim_status({}, {}));
        note(Write::create_claim, kube.create_claim({}, {}));
        note(Write::delete_claim, kube.delete_claim({}, {}));
        note(Write::set_extended_claim, kube.set_extended_claim(pod, {}));
        return codes;
    }
};

// Of Slurm and Kube: the others are HookServer's.
bool of_a_seam(Write write)
{
    return write < Write::send_start;
}

} // namespace

TEST_CASE("each write passes the gate once, before and after")
{
    Fixture fixture;
    fixture.write_all();

    for (std::size_t i = 0; i < write_names.size(); i++) {
        auto write = static_cast<Write>(i);
        CAPTURE(write_name(write));
        CHECK(fixture.before[write] == (of_a_seam(write) ? 1 : 0));
        CHECK(fixture.after[write] == (of_a_seam(write) ? 1 : 0));
    }
    CHECK(fixture.fake_slurm.count("submit") == 1);
    CHECK(fixture.requests_that_write() == fixture.passes());
}

TEST_CASE("calls that are the same write pass the gate under its name")
{
    Fixture fixture;
    CHECK(fixture.kube.delete_within(fixture.pod, std::chrono::seconds(1)));
    CHECK(fixture.kube.delete_unbound(fixture.pod));
    CHECK(fixture.kube.post_node_event({}, {}));

    CHECK(fixture.before ==
          std::map<Write, int>{{Write::delete_pod, 2}, {Write::post_event, 1}});
    CHECK(fixture.requests_that_write() == 3);
}

TEST_CASE("each request of a call passes the gate")
{
    Fixture fixture;
    fixture.conflicts = 1; // there is such a Secret
    CHECK(fixture.kube.put_secret(fixture.pod.key, "{}"));

    CHECK(fixture.before == std::map<Write, int>{{Write::put_secret, 2},
                                                 {Write::delete_secret, 1}});
    CHECK(fixture.before == fixture.after);
    CHECK(fixture.requests_that_write() == 3);
}

TEST_CASE("what changes nothing is not a write")
{
    Fixture fixture;
    fixture.pod.scheduled = {"False", "r", "m"};
    CHECK(fixture.kube.set_unscheduled(fixture.pod, {"r", "m"}));
    fixture.pod.disruption = "r";
    CHECK(fixture.kube.set_disrupted(fixture.pod, "r", "m"));

    CHECK(fixture.before.empty());
    CHECK(fixture.server.requests().empty());
}

TEST_CASE("a shut gate lets no write through, and says why under its name")
{
    Fixture fixture;
    fixture.open = false;
    auto codes = fixture.write_all();

    for (std::size_t i = 0; i < write_names.size(); i++)
        if (auto write = static_cast<Write>(i); of_a_seam(write)) {
            CAPTURE(write_name(write));
            CHECK(codes.at(write) == Code::busy);
        }
    CHECK(fixture.after.empty());
    CHECK(fixture.fake_slurm.calls() == 0);
    CHECK(fixture.server.requests().empty());
    CHECK(fixture.slurm.cancel({1, Sluid{1}}).error().message ==
          "cancel: somebody else serves");
}

TEST_CASE("reading needs no gate")
{
    Fixture fixture;
    fixture.open = false;

    CHECK(fixture.slurm.load_all());
    CHECK(fixture.slurm.load_states());
    CHECK(fixture.slurm.load_nodes());
    CHECK(fixture.slurm.load_cluster());
    CHECK(fixture.slurm.load_grace_times());
    CHECK_FALSE(fixture.slurm.load({1, Sluid{1}}));
    CHECK(fixture.kube.get_pod(fixture.pod.key));
    CHECK(fixture.kube.get_config_map_uid(fixture.pod.key));
    CHECK(fixture.kube.try_pod("default", "{}")); // a dry run

    CHECK(fixture.before.empty());
    CHECK(fixture.server.requests().size() == 3);
}
