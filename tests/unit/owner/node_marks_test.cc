// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/node_marks.h"
#include "agent/owner/pauses.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/owner/owner_bed.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

struct Bed : OwnerBed {
    KnownNodes nodes;
    SyncTimes sync{context};
    NodeMarks marks{context, errands, sync, nodes};

    Bed() { nodes.put(make_node("kn1")); }
};

} // namespace

TEST_CASE("a Node is told once each time the reason changes why Slurm does not "
          "serve it")
{
    Bed bed;
    auto told = [&](const char *reason) {
        bed.marks.report_refused({{"kn1", reason}, {"gone", "no Node"}});
        std::size_t reports = bed.reporters.size();
        bed.settle();
        return reports;
    };
    CHECK(told("too small") == 1);
    CHECK(told("too small") == 0);
    CHECK(told("no address") == 1);
}

TEST_CASE("a patch is sent once for each state of the Node, and again after it "
          "failed")
{
    Bed bed;
    bed.kube.fail_next("patch_node", Code::conflict);
    auto sent = [&](const std::string &version) {
        bed.marks.patch({{.node = "kn1",
                          .uid = "uid-kn1",
                          .resource_version = version,
                          .unschedulable = true,
                          .taints = {},
                          .annotations = {}}});
        return bed.reporters.size();
    };
    bed.sync.begin();
    bed.sync.succeeded();

    CHECK(sent("1") == 1);
    CHECK(sent("1") == 1); // its outcome is not known yet
    bed.settle();
    CHECK(bed.sync.next() == bed.context.now + node_doubt_pause);

    CHECK(sent("1") == 1);
    bed.settle();
    CHECK(bed.kube.count("patch_node") == 2);
    CHECK(sent("1") == 0); // the watch will show it
    CHECK(sent("2") == 1);
}

TEST_CASE("what was sent for a Node is forgotten with the Node")
{
    Bed bed;
    auto sent = [&] {
        bed.marks.patch({{.node = "kn1",
                          .uid = "uid-kn1",
                          .resource_version = "1",
                          .unschedulable = true,
                          .taints = {},
                          .annotations = {}}});
        bed.settle();
        return bed.kube.count("patch_node");
    };
    CHECK(sent() == 1);
    CHECK(sent() == 1);

    bed.nodes.erase("kn1");
    bed.marks.patch({}); // the next sync
    bed.nodes.put(make_node("kn1"));

    CHECK(sent() == 2);
}
