// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/lost_nodes.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/fakes/make_nodes.h"
#include "tests/unit/owner/owner_bed.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;
using std::chrono::seconds;

namespace {

struct Bed : OwnerBed {
    KnownNodes nodes;
    GangStore gangs;
    Agenda agenda{context};
    LostNodes lost_nodes{context, nodes, gangs, agenda};

    void set_ready(const std::string &name, bool ready)
    {
        Node node = make_node(name);
        node.ready = ready;
        lost_nodes.note(node);
        nodes.put(node);
    }

    // A gang of one Pod that runs there.
    GangEntry &run_on(const std::string &node)
    {
        Pod pod = make_pod("on-" + node);
        pod.node_name = node;
        return *gangs.find(gangs.put(pod));
    }

    std::string reason(GangEntry &entry)
    {
        return lost_nodes.lost_node_reason(entry);
    }
};

} // namespace

TEST_CASE("a Node that is not ready counts as lost after NodeLostTimeout")
{
    Bed bed;
    bed.set_ready("kn1", false);
    GangEntry &entry = bed.run_on("kn1");
    CHECK(bed.reason(entry).empty());
    CHECK(bed.agenda.next() ==
          bed.context.now + bed.context.conf->node_lost_timeout);

    bed.pass(bed.context.conf->node_lost_timeout);
    CHECK(bed.reason(entry) == "the Node kn1 is not ready");

    bed.set_ready("kn1", true);
    CHECK(bed.reason(entry).empty());
}

TEST_CASE("a Node that is gone counts from when that was first seen")
{
    Bed bed;
    GangEntry &entry = bed.run_on("kn1");
    bed.pass(seconds(1000));
    CHECK(bed.reason(entry).empty());

    bed.pass(bed.context.conf->node_lost_timeout);
    CHECK(bed.reason(entry) == "the Node kn1 is gone");
}

TEST_CASE("many Nodes that fell ill together do not count as lost")
{
    Bed bed;
    for (int i = 1; i <= 6; i++)
        bed.set_ready("kn" + std::to_string(i), false);
    GangEntry &entry = bed.run_on("kn1");
    bed.pass(bed.context.conf->node_lost_timeout);

    CHECK(bed.reason(entry).empty());
    CHECK(bed.context.health.problems().contains("lost nodes"));

    bed.set_ready("kn6", true);
    CHECK_FALSE(bed.context.health.problems().contains("lost nodes"));
    CHECK(bed.reason(entry) == "the Node kn1 is not ready");
}

TEST_CASE("who lives on a Node is decided again when its health changes")
{
    Bed bed;
    bed.set_ready("kn1", true);
    bed.run_on("kn1");
    bed.agenda.take();

    bed.set_ready("kn1", true);
    CHECK_FALSE(bed.agenda.any_woken());
    bed.set_ready("kn1", false);
    CHECK(bed.agenda.take() == std::set<std::string>{"uid-on-kn1"});
    bed.lost_nodes.note_gone("kn1");
    CHECK(bed.agenda.any_woken());
}
