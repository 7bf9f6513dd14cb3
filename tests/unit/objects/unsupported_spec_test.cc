// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/unsupported_spec.h"
#include "tests/unit/fakes/test_data.h"

using namespace bridge;

namespace {

std::vector<std::string> of_spec(const std::string &members)
{
    return unsupported_spec_reasons(json_of(R"({"spec": {)" + members + "}}"));
}

const std::string term = R"([{"topologyKey": "k"}])";

std::string affinity(const std::string &kind, const std::string &rule)
{
    return R"("affinity": {")" + kind + R"(": {")" + rule + "\": " + term +
           "}}";
}

constexpr char required[] = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr char preferred[] = "preferredDuringSchedulingIgnoredDuringExecution";

} // namespace

TEST_CASE("what Slurm cannot honour yet is named")
{
    struct {
        std::string spec;
        const char *named;
    } const table[] = {
        {affinity("podAffinity", required), "required inter-Pod affinity"},
        {affinity("podAntiAffinity", required),
         "required inter-Pod anti-affinity"},
        {R"("topologySpreadConstraints": [{"whenUnsatisfiable":
            "ScheduleAnyway"}, {"whenUnsatisfiable": "DoNotSchedule"}])",
         "spec.topologySpreadConstraints"},
        {R"("containers": [{"ports": [{"containerPort": 1},
            {"containerPort": 2, "hostPort": 2}]}])",
         "hostPort"},
        {R"("initContainers": [{"ports": [{"hostPort": 2}]}])", "hostPort"},
        {R"("hostNetwork": true, "containers": [{"ports":
            [{"containerPort": 2}]}])",
         "hostPort"},
        {R"("containers": [{"resources": {"requests":
            {"example.kubernetes.io/x": "1"}}}])",
         "the resource example.kubernetes.io/x"},
        {R"("containers": [{"resources": {"requests":
            {"hugepages-2Mi": "2Mi"}}}])",
         "the resource hugepages-2Mi"},
        {R"("terminationGracePeriodSeconds": 0)",
         "a terminationGracePeriodSeconds of 0"},
    };
    for (const auto &row : table) {
        CAPTURE(row.spec);
        auto found = of_spec(row.spec);
        REQUIRE(found.size() == 1);
        CHECK(found[0].starts_with(row.named));
        CHECK(found[0].ends_with(" is not supported by slurm-k8s-bridge yet"));
    }
}

TEST_CASE("what does no harm is let through")
{
    for (const std::string &spec : {
             std::string(),
             std::string(R"("nodeSelector": {"gpu": "yes"})"),
             affinity("nodeAffinity", required),
             affinity("podAffinity", preferred),
             affinity("podAntiAffinity", preferred),
             affinity("nodeAffinity", preferred),
             std::string(R"("topologySpreadConstraints": [
                {"whenUnsatisfiable": "ScheduleAnyway"}])"),
             std::string(R"("containers": [{"ports": [{"containerPort": 1,
                "hostPort": 0}]}], "hostNetwork": false)"),
             std::string(R"("hostNetwork": true, "containers": [{}])"),
             std::string(R"("containers": [{"resources": {"requests": {
                "cpu": "1", "memory": "1", "ephemeral-storage": "1",
                "nvidia.com/gpu": "0"}}}])"),
             std::string(R"("volumes": [{"emptyDir": {}}])"),
             std::string(R"("volumes": [{"persistentVolumeClaim":
                {"claimName": "c"}}, {"ephemeral": {}}])"),
             std::string(R"("tolerations": [{"operator": "Exists"}])"),
             std::string(R"("terminationGracePeriodSeconds": 1)"),
         }) {
        CAPTURE(spec);
        CHECK(of_spec(spec).empty());
    }
}

TEST_CASE("objects of a real API server are judged alike")
{
    CHECK(unsupported_spec_reasons(json_file("pod-running.json")).empty());
    CHECK(unsupported_spec_reasons(json_file("pod-claims.json")).empty());
    // DeviceClasses, which may offer it, are not of its spec.
    CHECK(unsupported_spec_reasons(json_file("pod-extended.json")).empty());
}

TEST_CASE("a resource is named once, in order")
{
    auto found = of_spec(R"("containers": [
        {"resources": {"requests": {"hugepages-2Mi": "1", "huge": "1"}}},
        {"resources": {"requests": {"hugepages-2Mi": "2"}}}])");

    REQUIRE(found.size() == 2);
    CHECK(found[0].contains("huge "));
    CHECK(found[1].contains("hugepages-2Mi"));
}
