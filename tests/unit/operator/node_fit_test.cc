// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/node_fit.h"
#include "tests/unit/operator/make.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

// Members of the spec of the Pods in the template.
NodeSet with(const std::string &spec, bool daemon_set = false)
{
    return node_set(1,
                    R"(, "scalingMode": ")" +
                        std::string(daemon_set ? "DaemonSet" : "StatefulSet") +
                        R"(", "template": {"spec": {)" + spec + "}}");
}

NodeSet requiring(const std::string &terms)
{
    return with(R"("affinity": {"nodeAffinity":
        {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [)" +
                terms + "]}}}");
}

bool comes(const NodeSet &set)
{
    NodeFit fit = fit_of(set, kube_node("n1"));
    CHECK(fit.comes == fit.stays);
    return fit.comes;
}

bool matches(const std::string &expression)
{
    return comes(requiring(R"({"matchExpressions": [{)" + expression + "}]}"));
}

KubeNode tainted(const std::string &key, const std::string &effect)
{
    return kube_node("n1", R"(, "spec": {"taints": [{"key": ")" + key +
                               R"(", "value": "v", "effect": ")" + effect +
                               R"("}]})");
}

} // namespace

TEST_CASE("a Node fits by its labels")
{
    CHECK(comes(with("")));
    CHECK(comes(with(R"("nodeSelector": {"zone": "a"})")));
    CHECK_FALSE(comes(with(R"("nodeSelector": {"zone": "b"})")));
    CHECK_FALSE(comes(with(R"("nodeSelector": {"zone": "a", "x": ""})")));
}

TEST_CASE("a Node fits by the required affinity")
{
    struct {
        const char *expression;
        bool fits;
    } table[] = {
        {R"("key": "zone", "operator": "In", "values": ["b", "a"])", true},
        {R"("key": "zone", "operator": "In", "values": ["b"])", false},
        {R"("key": "zone", "operator": "NotIn", "values": ["b"])", true},
        {R"("key": "zone", "operator": "NotIn", "values": ["a"])", false},
        {R"("key": "none", "operator": "NotIn", "values": ["a"])", true},
        {R"("key": "zone", "operator": "Exists")", true},
        {R"("key": "none", "operator": "Exists")", false},
        {R"("key": "none", "operator": "DoesNotExist")", true},
        {R"("key": "size", "operator": "Gt", "values": ["7"])", true},
        {R"("key": "size", "operator": "Gt", "values": ["8"])", false},
        {R"("key": "size", "operator": "Lt", "values": ["9"])", true},
        {R"("key": "zone", "operator": "Lt", "values": ["9"])", false},
        {R"("key": "none", "operator": "Lt", "values": ["9"])", false},
        {R"("key": "size", "operator": "Like", "values": ["8"])", false},
    };
    for (const auto &[expression, fits] : table) {
        CAPTURE(expression);
        CHECK(matches(expression) == fits);
    }
}

TEST_CASE("one of the terms suffices, and one without requirements matches "
          "nothing")
{
    const std::string good =
        R"({"matchFields": [{"key": "metadata.name", "operator": "In",
            "values": ["n1"]}]})";
    const std::string bad =
        R"({"matchFields": [{"key": "metadata.name", "operator": "In",
            "values": ["n2"]}]})";
    CHECK(comes(requiring(good)));
    CHECK(comes(requiring(bad + "," + good)));
    CHECK_FALSE(comes(requiring(bad)));
    CHECK_FALSE(comes(requiring("{}")));
    CHECK_FALSE(comes(requiring("")));
}

TEST_CASE("a taint keeps Pods away unless they tolerate it")
{
    auto fit = [](const std::string &tolerations, const std::string &effect,
                  const std::string &key = "team", bool daemon_set = false) {
        NodeFit found =
            fit_of(with(R"("tolerations": [)" + tolerations + "]", daemon_set),
                   tainted(key, effect));
        return std::string(found.comes ? "comes" : "") +
               (found.stays ? " stays" : "");
    };
    CHECK(fit("", "NoSchedule") == " stays");
    CHECK(fit("", "NoExecute") == "");
    CHECK(fit("", "PreferNoSchedule") == "comes stays");
    CHECK(fit(R"({"operator": "Exists"})", "NoExecute") == "comes stays");
    CHECK(fit(R"({"key": "team", "operator": "Exists"})", "NoExecute") ==
          "comes stays");
    CHECK(fit(R"({"key": "other", "operator": "Exists"})", "NoExecute") == "");
    CHECK(fit(R"({"key": "team", "value": "v"})", "NoExecute") ==
          "comes stays");
    CHECK(fit(R"({"key": "team", "value": "w"})", "NoExecute") == "");
    CHECK(fit(R"({"key": "team", "value": "v", "effect": "NoSchedule"})",
              "NoExecute") == "");
    const std::string cordon = "node.kubernetes.io/unschedulable";
    CHECK(fit("", "NoSchedule", cordon) == " stays");
    CHECK(fit("", "NoSchedule", cordon, true) == "comes stays");
}
