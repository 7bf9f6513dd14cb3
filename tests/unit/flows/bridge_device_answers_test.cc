// SPDX-License-Identifier: GPL-2.0-or-later
// Which devices fit what Pods ask for is found out by a worker: the owner
// thread evaluates no selector, and one namespace cannot hold up others.
#include "tests/unit/flows/answer_world.h"

#include <doctest/doctest.h>
#include <format>
#include <functional>
#include <string>
#include <utility>

using namespace bridge;
using std::chrono::seconds;

namespace {

// So many requests of eight choices each; cel returns the selector of a choice
// of a request.
std::string claim_of_choices(const std::string &name, int count,
                             const std::function<std::string(int, int)> &cel)
{
    std::string requests;
    for (int r = 0; r < count; r++) {
        std::string choices;
        for (int c = 0; c < 8; c++)
            choices += std::format(
                R"({}{{"name":"c{}","deviceClassName":"gpu.example.com",)"
                R"("selectors":[{{"cel":{{"expression":"{}"}}}}]}})",
                c ? "," : "", c, cel(r, c));
        requests += std::format(R"({}{{"name":"r{}","firstAvailable":[{}]}})",
                                r ? "," : "", r, choices);
    }
    return claim_text(name, R"("requests":[)" + requests + "]");
}

} // namespace

TEST_CASE("the owner thread evaluates no selector of a claim")
{
    AnswerWorld world;
    // This would be said at once by whoever evaluates it.
    world.add_claim_that("c", "device.attributes['d'].none == 1");
    world.calls_hang = true;

    world.create_with("c", "web");
    CHECK(world.said_on("web") == "");
    world.now += seconds(1);
    world.settle();
    CHECK(world.said_on("web") == "");
    world.now += seconds(1);
    world.settle();
    CHECK(world.said_on("web") == compares_words);

    world.calls_hang = false;
    world.settle();
    CHECK(world.said_on("web").starts_with(
        "The ResourceClaim c gets no devices: request gpu: selector "));
    CHECK(world.slurm.jobs().empty());
}

TEST_CASE("a job in the queue stays as it is while its claims are compared")
{
    AnswerWorld world;
    for (const char *name : {"d", "e"}) { // who have all devices
        world.add_claim(name, 4);
        world.create_with(name, name);
    }
    world.add_claim_that("c",
                         "device.attributes['gpu.example.com'].model == 'A'");
    world.create_with("c", "web");
    world.pass(seconds(3));
    auto the_job = [&] { return world.slurm.jobs().rbegin()->second.job; };
    REQUIRE(the_job().state == JobState::pending);
    const Job job = the_job();
    const std::string said = world.said_on("web");

    world.calls_hang = true;
    ResourceSlice more = make_slice("kn1", 5);
    world.deliver(Changed<ResourceSlice>{more, false});
    for (int i = 0; i < 5; i++) {
        world.now += seconds(1);
        world.settle();
    }
    CHECK(world.said_on("web") == said);
    world.calls_hang = false;
    world.pass(seconds(5));

    CHECK(the_job().ref == job.ref);
    CHECK(the_job().features == job.features);
    CHECK(world.slurm.jobs().size() == 3);
    CHECK(world.said_on("web") == said);
}

TEST_CASE("who has expensive selectors waits for himself, and is told so")
{
    AnswerWorld world;
    for (int i = 0; i < 5; i++) {
        std::string name = "c" + std::to_string(i);
        world.add_claim_that(name, std::string(endless_cel) + " && true || " +
                                       std::to_string(i) + " == 1");
        world.create_with(name, name);
    }
    world.pass(seconds(3));

    CHECK(world.said_on("c0").contains("too expensive"));
    CHECK(world.said_on("c4") ==
          "The selectors in ResourceClaims of namespace default are expensive "
          "to evaluate for so many devices: the Pod waits until the namespace "
          "may have more of them evaluated.");
    world.add_claim_that("mine", "device.driver == 'gpu.example.com'", "other");
    world.create_with("mine", "quick", "other");
    world.pass(seconds(3));
    CHECK(world.kube.find({"other", "quick"})->node_name != "");

    world.pass(seconds(10));
    CHECK(world.said_on("c4").contains("too expensive"));
}

TEST_CASE("what all claims of a Pod cost together is no reason to refuse it")
{
    AnswerWorld world;
    world.kube.put_claim(claim_of_choices("c", 3, [](int r, int c) {
        return std::format("{} && {} == {}", c == 7 ? "true" : dear_cel,
                           c == 7 ? 8 * r + c : 1000, 8 * r + c);
    }));
    world.settle();
    world.create_with("c", "web");

    world.pass(seconds(60)); // its share allows that much in this time

    CHECK(world.said_on("web") == "");
    CHECK(world.devices_of("c") == "kn1/gpu-0 kn1/gpu-1 kn1/gpu-2");
}

TEST_CASE("what many devices of a job cost is no reason to give it up")
{
    AnswerWorld world;
    std::string text = claim_text(
        "four", R"("requests":[)" +
                    exactly("gpu", 4,
                            R"(,"selectors":[{"cel":{"expression":")" +
                                std::string(dear_cel) + R"("}}])") +
                    "]");
    world.kube.put_claim(text);
    world.settle();
    world.create_with("four", "four");
    world.pass(seconds(5));

    CHECK(world.node_of("four") == "kn1");
    CHECK(world.slurm.jobs().size() == 1);
}

namespace {

// A claim of many requests, for the last of which no choice fits.
std::string many_requests(const std::string &name)
{
    return claim_of_choices(name, 32, [](int r, int c) {
        return std::format("device.driver {} 'x{}'",
                           c == 7 && r < 31 ? "!=" : "==", r * 8 + c);
    });
}

// Many Pods, each with such a claim, and one claim that all of them name.
struct ManyWorld : AnswerWorld {
    static constexpr int pods = 80;

    ManyWorld()
    {
        add_claim("all");
        for (int i = 0; i < pods; i++) {
            std::string name = "p" + std::to_string(i);
            kube.put_claim(many_requests(name));
            Pod pod = pod_with("all", name);
            pod.resource_claims.push_back({"own", name, "", false, false});
            (void)create(std::move(pod));
        }
        for (int i = 0; i < 30; i++) // by as much as it may ask at once
            pass(seconds(1));
        check_told();
    }

    void check_told()
    {
        for (int i = 0; i < pods; i++) {
            std::string name = "p" + std::to_string(i);
            CHECK(said_on(name).starts_with("The ResourceClaim " + name +
                                            " gets no devices: no node in "));
        }
    }
    // Wakes all of them in one turn. Returns whether that was enough.
    bool wake_all()
    {
        kube.put_claim(claim_text("all", request_gpus(1)));
        step(1);
        return next_deadline() > now;
    }
    // And what they came to does not hold any more.
    void change_all()
    {
        change_node("kn1", [this](Node &node) {
            node.labels["round"] = std::to_string(rounds++);
        });
        kube.put_claim(claim_text("all", request_gpus(1)));
        step(3);
    }

    int rounds = 0;
};

} // namespace

TEST_CASE("what a claim came to is kept while nothing of that changes")
{
    ManyWorld world;

    CHECK(world.wake_all());
    world.settle();
    world.check_told();
}

TEST_CASE("gangs that change again and again starve none")
{
    ManyWorld world;
    Pod last = world.pod_with("mine", "last");
    last.uid = "z";     // after all others
    world.create(last); // which has no claim yet
    world.change_all();
    world.kube.put_claim(claim_text("mine", request_gpus(1)));

    for (int i = 0; i < 300 && world.slurm.jobs().empty(); i++)
        world.change_all();

    CHECK(world.slurm.jobs().size() == 1);
    CHECK(world.rounds > 3);
}
