// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/outside_pods.h"
#include "tests/unit/fakes/make.h"
#include "tests/unit/owner/owner_bed.h"

#include <doctest/doctest.h>
#include <string>

using namespace bridge;

namespace {

struct Bed : OwnerBed {
    KnownNodes nodes;
    SyncTimes sync{context};
    OutsidePods outside{context, sync, nodes};

    Bed()
    {
        nodes.put(make_node("kn1"));
        nodes.set_slurm_nodes({{"sn1", "kn1"}}, {});
        await_change();
    }

    // Takes what has changed so far into a sync that is over.
    void await_change()
    {
        sync.begin();
        sync.succeeded();
    }
    bool is_due() const { return sync.next() <= context.now; }

    static ForeignPod foreign(const std::string &node)
    {
        return {"uid-f", node, {MilliCpu{500}, Bytes{}}, true};
    }
};

} // namespace

TEST_CASE("what Pods outside use is unknown before the first list, which is "
          "news even if it is empty")
{
    Bed bed;
    CHECK_FALSE(bed.outside.taken());
    CHECK_FALSE(bed.is_due());

    bed.outside.replace({});
    CHECK(bed.outside.taken().value().empty());
    CHECK(bed.is_due());

    bed.await_change();
    bed.outside.replace({});
    CHECK_FALSE(bed.is_due());
}

TEST_CASE("a Pod of another scheduler matters on Slurm's nodes only")
{
    Bed bed;
    bed.outside.replace({});
    bed.await_change();

    bed.outside.put(Bed::foreign("kn2"), false);
    CHECK_FALSE(bed.is_due());
    CHECK(bed.outside.count() == 0);

    bed.outside.put(Bed::foreign("kn1"), false);
    CHECK(bed.is_due());
    CHECK(bed.outside.count() == 1);
    CHECK(bed.outside.taken().value().at("kn1").cpu == MilliCpu{500});

    bed.await_change();
    bed.outside.put(Bed::foreign("kn1"), true);
    CHECK(bed.is_due());
    CHECK(bed.outside.taken().value().empty());
}

TEST_CASE("a worker of WorkerNamespace is in no queue, and says what it takes")
{
    Bed bed;
    auto conf = std::make_shared<Conf>();
    conf->worker_namespaces = {"slurm"};
    bed.context.conf = conf;
    ForeignPod worker = Bed::foreign("kn1"); // without memory
    worker.worker_namespace = "theirs";
    bed.outside.replace({worker});
    CHECK(bed.outside.count() == 1);
    CHECK(bed.outside.taken().value().at("kn1").unsized_workers == 0);

    worker.worker_namespace = "slurm";
    bed.outside.put(worker, false);
    CHECK(bed.outside.count() == 0);
    CHECK(bed.outside.taken().value().at("kn1").unsized_workers == 1);

    worker.asks.memory = Bytes{1 << 20};
    bed.outside.put(worker, false);
    CHECK(bed.outside.taken().value().at("kn1").unsized_workers == 0);
    bed.outside.put(worker, true);
    CHECK(bed.outside.taken().value().empty());
}

TEST_CASE("a Pod of ours counts while it lives where others have bound it")
{
    Bed bed;
    bed.outside.replace({});
    Pod pod = make_pod("web", MilliCpu{2000});
    bed.outside.note(pod, false);
    CHECK(bed.outside.taken().value().empty());

    pod.node_name = "kn1";
    bed.outside.note(pod, false);
    CHECK(bed.outside.taken().value().at("kn1").cpu == MilliCpu{2000});

    bed.outside.note(pod, true);
    CHECK(bed.outside.taken().value().empty());
}
