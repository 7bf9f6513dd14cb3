// SPDX-License-Identifier: GPL-2.0-or-later
// Which requests volume claims of Pods cost.
#include "agent/calls/kube_api.h"
#include "agent/calls/volume_list.h"
#include "tests/unit/fakes/test_data.h"
#include "tests/unit/fakes/tls_server.h"

#include <algorithm>
#include <atomic>
#include <doctest/doctest.h>

using namespace bridge;

namespace {

std::string volume_json(const std::string &name, const std::string &claim = {})
{
    return R"({"metadata":{"name":")" + name + R"(","uid":"uid-)" + name +
           R"("},"spec":{"storageClassName":"local")" +
           (claim.empty() ? ""
                          : R"(,"claimRef":{"namespace":"ns","name":")" +
                                claim + R"(","uid":"uid-)" + claim + R"("})") +
           R"(},"status":{"phase":"Available"}})";
}

std::string list_json(const std::string &items, const std::string &next)
{
    return R"({"kind":"PersistentVolumeList","metadata":{"continue":")" + next +
           R"("},"items":[)" + items + "]}";
}

// An API server with the volumes v1 and v2, on two pages, and any claim.
struct Stage {
    // The claim "data" has v1: seen when that alone is read; the list is older.
    std::atomic<bool> v1_is_given = false;
    TlsServer server{[this](const TlsServer::Request &r, TlsServer::Peer &p) {
        bool absent = r.target.contains("persistentvolumeclaims/absent");
        p.send(absent ? reply_text(404, "{}")
                      : reply_text(200, answer(r.target)));
    }};
    WriteGate gate{[] { return Result<>(); }, {}};
    std::shared_ptr<VolumeList> volumes = std::make_shared<VolumeList>();
    KubeApi one{server.endpoint(), gate, "slurm", "host1", volumes};
    KubeApi other{server.endpoint(), gate, "slurm", "host1", volumes};

    std::string answer(const std::string &target) const
    {
        if (auto at = target.find("persistentvolumeclaims/"); at != target.npos)
            return R"({"metadata":{"namespace":"ns","name":")" +
                   target.substr(at + 23) + R"(","uid":"uid-)" +
                   target.substr(at + 23) +
                   R"("},"spec":{"storageClassName":"local"},
                   "status":{"phase":"Pending"}})";
        if (target.contains("storageclasses"))
            return R"({"metadata":{"name":"local"},
                "provisioner":"kubernetes.io/no-provisioner",
                "volumeBindingMode":"WaitForFirstConsumer"})";
        if (target.contains("persistentvolumes/"))
            return volume_json("v1", v1_is_given ? "data" : "");
        return target.contains("continue=more")
                   ? list_json(volume_json("v2"), "")
                   : list_json(volume_json("v1"), "more");
    }

    VolumeFacts read(KubeApi &kube, const std::string &claim)
    {
        Pod pod;
        pod.key = {"ns", "web"};
        pod.claims = {{claim, false}};
        auto facts = kube.read_volumes(pod);
        REQUIRE(facts.has_value());
        return *facts;
    }

    std::ptrdiff_t lists()
    {
        return std::ranges::count_if(server.requests(), [](const auto &r) {
            return r.target.contains("/persistentvolumes?");
        });
    }
};

} // namespace

TEST_CASE("the volumes are listed once for many Pods, a page at a time")
{
    Stage stage;
    for (int i = 0; i < 20; i++)
        for (KubeApi *kube : {&stage.one, &stage.other}) {
            VolumeFacts facts = stage.read(*kube, "data" + std::to_string(i));
            CHECK(facts.volumes.contains("v1"));
            CHECK(facts.volumes.contains("v2"));
        }

    CHECK(stage.lists() == 2); // its pages
    for (const auto &request : stage.server.requests())
        if (request.target.contains("/persistentvolumes?"))
            CHECK(request.target.contains("limit=500"));
}

TEST_CASE("no other claim gets a volume that was given away, and its claim no "
          "second one")
{
    Stage stage;
    VolumeFacts facts = stage.read(stage.one, "data");
    REQUIRE(
        stage.one.give_volume(facts.volumes.at("v1"), facts.claims.at("data"))
            .has_value());
    stage.v1_is_given = true;

    CHECK_FALSE(stage.read(stage.other, "late").volumes.contains("v1"));
    const VolumeFacts own = stage.read(stage.other, "data");
    CHECK(own.volumes.at("v1").claimed_uid == "uid-data");
    CHECK(stage.lists() == 2);
}

TEST_CASE("of claims of which one does not exist, no others are read")
{
    Stage stage;
    Pod pod;
    pod.key = {"ns", "web"};
    pod.claims = {{"data", false}};
    for (int i = 0; i < 100; i++)
        pod.claims.push_back({"absent" + std::to_string(i), false});

    auto facts = stage.one.read_volumes(pod);

    REQUIRE(facts);
    CHECK(facts->claims.size() == 1);
    CHECK(volume_needs(pod.claims, "", *facts).reason.contains("absent0"));
    CHECK(std::ranges::count_if(stage.server.requests(), [](const auto &r) {
              return r.target.contains("absent");
          }) == 1);
}
