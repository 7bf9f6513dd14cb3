// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/pod_placement.h"
#include "tests/unit/fakes/test_data.h"

using namespace bridge;

namespace {

PodPlacement of_spec(const std::string &members)
{
    return pod_placement(json_of(R"({"spec": {)" + members + "}}"));
}

std::string required(const std::string &terms)
{
    return R"("affinity": {"nodeAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": )" +
           terms + "}}}";
}

std::string preferred(const std::string &terms)
{
    return R"("affinity": {"nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": )" +
           terms + "}}";
}

} // namespace

TEST_CASE("what a Pod requires of its Node")
{
    struct {
        std::string spec;
        const char *text;
    } const table[] = {
        {"", ""},
        {R"("nodeSelector": {})", ""},
        {R"("nodeSelector": {"b": "2", "a": "1"})", "a=1,b=2"},
        {required(R"([{"matchExpressions": [
            {"key": "z", "operator": "In", "values": ["y", "x"]},
            {"key": "n", "operator": "NotIn", "values": ["m"]},
            {"key": "e", "operator": "Exists"},
            {"key": "d", "operator": "DoesNotExist"},
            {"key": "g", "operator": "Gt", "values": ["1"]},
            {"key": "l", "operator": "Lt", "values": ["9"]}]}])"),
         "!d,e,g>1,l<9,n!=m,z in (x,y)"},
        {required(R"([{"matchFields": [{"key": "metadata.name",
            "operator": "In", "values": ["n1"]}]}, {"matchExpressions": [
            {"key": "e", "operator": "Exists"}]}])"),
         "e or field:metadata.name=n1"},
        {required("[]"), "()"},
        {required("[{}]"), "()"},
        {R"("nodeSelector": {"a": "1"}, )" + required(R"([{"matchExpressions": [
                {"key": "e", "operator": "Exists"}]}])"),
         "a=1 and e"},
        {R"("tolerations": [{"operator": "Exists"}])", "tolerating *"},
        {R"("tolerations": [{"key": "a", "value": "v"},
            {"key": "b", "operator": "Equal", "value": "w",
             "effect": "NoSchedule"},
            {"key": "c", "operator": "Exists", "value": "ignored",
             "effect": "NoExecute", "tolerationSeconds": 5}])",
         "tolerating a=v, b=w:NoSchedule, c:NoExecute"},
        {R"("tolerations": [{"key": "node.kubernetes.io/not-ready",
            "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": 300}])",
         ""},
    };
    for (const auto &row : table) {
        CAPTURE(row.spec);
        PodPlacement placement = of_spec(row.spec);
        // Exists with a key of its own sorts before, so compare as sets of
        // words would be too weak: the text is canonical.
        CHECK(value_of(placement.required).text() == row.text);
        CHECK(placement.preferred == nullptr);
        CHECK(placement.unfit_reasons.empty());
    }
}

TEST_CASE("of preferences the heaviest counts, on top of what is required")
{
    std::string terms = R"([
        {"weight": 1, "preference": {"matchExpressions": [
            {"key": "a", "operator": "Exists"}]}},
        {"weight": 9, "preference": {"matchExpressions": [
            {"key": "b", "operator": "Exists"}]}},
        {"weight": 9, "preference": {"matchExpressions": [
            {"key": "c", "operator": "Exists"}]}},
        {"weight": 100, "preference": {}}])";

    PodPlacement placement =
        of_spec(R"("nodeSelector": {"a": "1"}, )" + preferred(terms));

    REQUIRE(placement.preferred);
    CHECK(placement.preferred->text() == "a=1 and b");
    CHECK(placement.required->text() == "a=1");
    CHECK(of_spec(preferred("[]")).preferred == nullptr);
    CHECK(
        of_spec(preferred(R"([{"weight": 0, "preference": {}}])")).preferred ==
        nullptr);
}

TEST_CASE("what cannot be read as Kubernetes means it is an objection")
{
    std::string many;
    for (int i = 0; i < 1000; i++)
        many += (i ? ",\"a-rather-long-value-" : "\"a-rather-long-value-") +
                std::to_string(i) + "\"";
    for (const std::string &spec :
         {required(R"([{"matchExpressions": [
            {"key": "a", "operator": "Near", "values": ["b"]}]}])"),
          required(R"([{"matchFields": [{"key": "metadata.name"}]}])"),
          required(R"([{"matchExpressions": [{"key": "a", "operator": "In",
            "values": [)" +
                   many + "]}]}]"),
          std::string(R"("tolerations": [{"key": "a", "operator": "Gt",
            "value": "1"}])")}) {
        CAPTURE(spec.substr(0, 200));
        CHECK(of_spec(spec).unfit_reasons.size() == 1);
    }
    // A wish that cannot be said is not one.
    CHECK(of_spec(preferred(R"([{"weight": 1, "preference": {
        "matchExpressions": [{"key": "a", "operator": "Near"}]}}])"))
              .unfit_reasons.empty());
}

TEST_CASE("a volume's node affinity is read the same way")
{
    auto selector = node_selector(json_of(R"({"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "kubernetes.io/hostname",
            "operator": "In", "values": ["kn1"]}]}]})"));
    REQUIRE(selector.has_value());
    CHECK(selector->size() == 1);
    CHECK_FALSE(node_selector(json_of(R"({"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "a", "operator": "?"}]}]})")));
    CHECK(node_selector(json_of("{}"))->empty());
}
