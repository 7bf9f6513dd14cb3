// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/revisions.h"
#include "operator/decide/scale.h"
#include "operator/decide/update.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

constexpr Now now{std::chrono::seconds(1800000000)};

NodeSet set_with(int replicas, const std::string &most)
{
    return node_set(replicas, R"(, "updateStrategy": {"type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": )" +
                                  most + "}}");
}

Worker old(int ordinal)
{
    Worker made = worker(ordinal);
    made.meta.labels[names::revision_label] = "old";
    return made;
}

Worker asked(Worker made)
{
    made.request = WorkerRequest{1, true};
    return made;
}

Worker answered(Worker made)
{
    made = asked(made);
    made.answer = DrainAnswer{made.meta.uid, 1, 1, 1800000000};
    return made;
}

Worker busy(Worker made)
{
    made.meta.labels[names::protect_label] = "true";
    return made;
}

Worker not_ready(Worker made)
{
    made.ready = false;
    return made;
}

Worker going(Worker made)
{
    made.meta.deleting = true;
    return made;
}

// The steps but the status, with blanks between them.
std::string steps_of(const NodeSet &set, std::initializer_list<Worker> pods)
{
    Known known = known_with(set, pods);
    std::string text;
    for (const Step &step : decide_node_set(known, set, {}, now))
        if (!step.is_report)
            text += (text.empty() ? "" : "; ") + step.what;
    return text;
}

Revision revision(const std::string &hash, int number)
{
    Revision made;
    made.meta.key = {"ns", "w-" + hash};
    made.meta.controller = "w-uid";
    made.meta.labels[names::revision_label] = hash;
    made.number = number;
    return made;
}

} // namespace

TEST_CASE("maxUnavailable is a number or a part of all, rounded up, at least 1")
{
    CHECK(most_unavailable(set_with(10, "3"), 10) == 3);
    CHECK(most_unavailable(set_with(10, R"("25%")"), 10) == 3);
    CHECK(most_unavailable(set_with(10, R"("100%")"), 10) == 10);
    CHECK(most_unavailable(set_with(10, R"("1%")"), 10) == 1);
    CHECK(most_unavailable(set_with(10, R"("999%")"), 10) == 10);
    CHECK(most_unavailable(set_with(0, R"("25%")"), 0) == 1);
    CHECK(most_unavailable(node_set(8), 8) == 2);
    for (const char *wrong : {R"("x%")", R"("-5%")", R"("25")", "{}", "-3"})
        CHECK_MESSAGE(most_unavailable(set_with(8, wrong), 8) <= 2, wrong);
}

TEST_CASE("an update asks for as many as may be away, the cheapest first")
{
    NodeSet set = set_with(4, "2");
    CHECK(steps_of(set, {busy(old(0)), old(1), old(2), busy(old(3))}) ==
          "ask to drain Pod w-2; ask to drain Pod w-1");
    CHECK(steps_of(set, {busy(old(0)), asked(old(1)), asked(old(2)), old(3)}) ==
          "");
    CHECK(steps_of(set, {worker(0), worker(1), old(2), worker(3)}) ==
          "ask to drain Pod w-2");
}

TEST_CASE("a Pod is replaced only when it has answered, and under its name")
{
    NodeSet set = set_with(3, "1");
    CHECK(steps_of(set, {old(0), old(1), answered(old(2))}) ==
          "delete Pod w-2");
    CHECK(steps_of(set, {old(0), old(1), going(answered(old(2)))}) == "");
    CHECK(steps_of(set, {old(0), old(1)}) == "create Pod w-2");
    CHECK(steps_of(set, {old(0), old(1), not_ready(worker(2))}) == "");
    CHECK(steps_of(set, {old(0), old(1), worker(2)}) == "ask to drain Pod w-1");
}

TEST_CASE("one that is away anyway is replaced first, and costs nothing")
{
    NodeSet set = set_with(4, "1");
    CHECK(steps_of(set, {old(0), old(1), not_ready(old(2)), old(3)}) ==
          "ask to drain Pod w-2");
    // But not all of them together: they may have jobs.
    CHECK(steps_of(set, {not_ready(old(0)), not_ready(old(1)),
                         not_ready(old(2)), not_ready(old(3))}) ==
          "ask to drain Pod w-3");
}

TEST_CASE("scale-in and update do not drain for the same Pod twice")
{
    // w-1 was asked for the update: it is also the one that is too many.
    CHECK(steps_of(set_with(2, "1"), {old(0), asked(old(1)), worker(2)}) ==
          "ask to drain Pod w-0");
    // The one too many does not use up what may be away.
    CHECK(steps_of(set_with(3, "1"), {old(0), old(1), old(2), old(3)}) ==
          "ask to drain Pod w-3; ask to drain Pod w-2");
    // Of equals the outdated goes.
    CHECK(steps_of(set_with(2, "1"), {old(0), worker(1), worker(2)}) ==
          "ask to drain Pod w-0");
}

TEST_CASE("OnDelete, a template taken back and a smaller budget release")
{
    NodeSet on_delete =
        node_set(2, R"(, "updateStrategy": {"type": "OnDelete"})");
    CHECK(steps_of(on_delete, {old(0), asked(old(1))}) ==
          "take back the request to Pod w-1");
    CHECK(steps_of(set_with(2, "1"), {worker(0), asked(worker(1))}) ==
          "take back the request to Pod w-1");
    CHECK(steps_of(set_with(3, "1"), {old(0), asked(old(1)), asked(old(2))}) ==
          "take back the request to Pod w-1");
}

TEST_CASE("minReadySeconds delays the next one")
{
    NodeSet set = node_set(2);
    set.spec = json(R"({"minReadySeconds": 30})");
    Worker young = worker(0);
    young.ready_since = "2027-01-15T07:59:40Z"; // 20 s ago
    CHECK_FALSE(is_available(set, young, now));
    CHECK(is_available(set, young, now + std::chrono::seconds(10)));
    young.ready_since = "soon";
    CHECK_FALSE(is_available(set, young, now));
    set.spec = json("{}");
    CHECK(is_available(set, young, now));
}

TEST_CASE("each template is kept once, and the present one is the newest")
{
    NodeSet set = node_set(1);
    std::string hash = revision_of(set);
    Known known = known_with(set, {});
    CHECK(keep_revision(known, set, hash).empty());
    known.revisions[{"ns", "w-b"}] = revision("b", 2);
    auto steps = keep_revision(known, set, hash); // it was taken back
    REQUIRE(steps.size() == 1);
    CHECK(steps[0].body == R"({"revision":3})");
    known.revisions.begin()->second.meta.controller = "an-earlier-w";
    known.revisions.rbegin()->second.meta.controller = "an-earlier-w";
    CHECK(keep_revision(known, set, hash).empty());
    known.revisions.clear();
    steps = keep_revision(known, set, hash);
    REQUIRE(steps.size() == 1);
    Json body = json(steps[0].body);
    CHECK(body.integer("revision") == 1);
    CHECK(body.text("metadata/name") == "w-" + hash);
    CHECK(body.text("metadata/ownerReferences/0/uid") == "w-uid");
    CHECK(body.text("data/spec/slurmd/image") == "slurmd");
    CHECK_FALSE(body.at("data/spec/replicas").present());
}

TEST_CASE("of the earlier templates the newest stay, and those in use")
{
    NodeSet set = node_set(1, R"(, "revisionHistoryLimit": 1)");
    std::string hash = revision_of(set);
    Known known = known_with(set, {});
    for (int i = 2; i < 6; i++) {
        std::string name(1, char('a' + i));
        known.revisions[{"ns", "w-" + name}] = revision(name, i);
    }
    Worker user = worker(0);
    user.meta.labels[names::revision_label] = "c"; // number 2
    known.revisions.at({"ns", "w-d"}).meta.controller = "another-uid";
    std::string text;
    for (const Step &step : drop_revisions(known, set, hash, {&user}))
        text += step.what + ";";
    CHECK(text == "delete ControllerRevision w-e;");
}
