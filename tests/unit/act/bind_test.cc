// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/act/bind.h"
#include "common/contract/names.h"
#include "tests/unit/fakes/fake_kube.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

struct Bed {
    Bed() { kube.put(make_pod("web")); }

    Result<> bind()
    {
        return bind_pod(*kube.get_pod({"default", "web"}),
                        {"n1", {}, {{names::sluid_annotation, "s1"}}}, kube);
    }
    bool kept()
    {
        return kube.get_pod({"default", "web"})
                   ->annotation(names::do_not_disrupt) == "true";
    }

    FakeKube kube;
};

} // namespace

TEST_CASE("a binding keeps autoscalers from removing the Node")
{
    Bed bed;
    REQUIRE(bed.bind());
    CHECK(bed.kept());
    CHECK(bed.kube.count("bind") == 1);
}

TEST_CASE("where policies of an earlier release refuse that, the Pod is bound "
          "without it")
{
    Bed bed;
    bed.kube.fail_next("bind", Code::denied);
    REQUIRE(bed.bind());
    CHECK_FALSE(bed.kept());
    CHECK(bed.kube.count("bind") == 2);
}

TEST_CASE("what fails for another reason, or without them, too, has failed")
{
    Bed bed;
    bed.kube.fail_next("bind", Code::busy);
    CHECK(bed.bind().error().code == Code::busy);
    CHECK(bed.kube.count("bind") == 1);

    bed.kube.fail_always("bind", Code::denied);
    CHECK(bed.bind().error().code == Code::denied);
    CHECK(bed.kube.count("bind") == 3);
}
