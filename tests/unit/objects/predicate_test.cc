// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/objects/predicate.h"
#include "common/contract/names.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>
#include <set>

using namespace bridge;

namespace {

using enum NodeOperator;

NodeRequirement label(const std::string &key, NodeOperator op,
                      std::vector<std::string> values = {})
{
    return {key, false, op, std::move(values)};
}

NodeRequirement name_is(NodeOperator op, const std::string &name)
{
    return {"metadata.name", true, op, {name}};
}

PredicatePtr made(std::vector<NodeSelector> all_of,
                  std::vector<Toleration> tolerations = {})
{
    auto predicate = Predicate::make(std::move(all_of), std::move(tolerations));
    REQUIRE(predicate.has_value());
    return *predicate;
}

bool fits(const PredicatePtr &predicate, const Node &node)
{
    bool fits = matches(value_of(predicate), node);
    CHECK(mismatch(value_of(predicate), node).empty() == fits);
    return fits;
}

Node labelled(const TextMap &labels)
{
    Node node = make_node("kn1");
    for (const auto &[key, value] : labels)
        node.labels[key] = value;
    return node;
}

Node tainted(const std::string &key, const std::string &value = "",
             const std::string &effect = "NoSchedule")
{
    Node node = make_node("kn1");
    node.taints = {{key, value, effect}};
    return node;
}

} // namespace

TEST_CASE("each operator as Kubernetes defines it")
{
    const Node node = labelled({{"disk", "ssd"}, {"mem", "12"}, {"none", ""}});
    struct {
        NodeRequirement requirement;
        bool holds;
    } const table[] = {
        {label("disk", in, {"hdd", "ssd"}), true},
        {label("disk", in, {"hdd"}), false},
        {label("disk", in, {}), false},
        {label("none", in, {""}), true},
        {label("absent", in, {""}), false},
        {label("disk", not_in, {"hdd"}), true},
        {label("disk", not_in, {"hdd", "ssd"}), false},
        {label("absent", not_in, {"hdd"}), true},
        {label("disk", exists), true},
        {label("absent", exists), false},
        {label("disk", does_not_exist), false},
        {label("absent", does_not_exist), true},
        {label("mem", gt, {"11"}), true},
        {label("mem", gt, {"12"}), false},
        {label("mem", lt, {"13"}), true},
        {label("mem", lt, {"12"}), false},
        {label("mem", gt, {"-1"}), true},
        {label("mem", gt, {"eleven"}), false},
        {label("mem", gt, {}), false},
        {label("mem", gt, {"1", "2"}), false},
        {label("mem", lt, {"99999999999999999999"}), false},
        {label("disk", gt, {"1"}), false},
        {label("absent", gt, {"1"}), false},
        {name_is(in, "kn1"), true},
        {name_is(in, "kn2"), false},
        {name_is(not_in, "kn2"), true},
        {name_is(not_in, "kn1"), false},
        {{"spec.other", true, in, {"kn1"}}, false},
    };
    for (const auto &row : table) {
        PredicatePtr predicate = made({{{row.requirement}}});
        CAPTURE(predicate->text());
        CHECK(fits(predicate, node) == row.holds);
    }
}

TEST_CASE("terms are ored, what is in one is anded, selectors are anded")
{
    NodeRequirement ssd = label("disk", in, {"ssd"});
    NodeRequirement big = label("big", exists);
    NodeRequirement gpu = label("gpu", exists);
    struct {
        std::vector<NodeSelector> selectors;
        TextMap labels;
        bool fits;
    } const table[] = {
        {{{{ssd, big}}}, {{"disk", "ssd"}}, false},
        {{{{ssd, big}}}, {{"disk", "ssd"}, {"big", ""}}, true},
        {{{{ssd}, {big}}}, {{"big", ""}}, true},
        {{{{ssd}, {big}}}, {{"gpu", ""}}, false},
        {{{{ssd}, {big}}, {{gpu}}}, {{"big", ""}}, false},
        {{{{ssd}, {big}}, {{gpu}}}, {{"big", ""}, {"gpu", ""}}, true},
        {{{}}, {}, false},   // no term: no Node
        {{{{}}}, {}, false}, // an empty term: no Node
        {{{{}, {big}}}, {{"big", ""}}, true},
    };
    for (const auto &row : table) {
        PredicatePtr predicate = made(row.selectors);
        CAPTURE(predicate->text());
        CHECK(fits(predicate, labelled(row.labels)) == row.fits);
    }
}

TEST_CASE("a taint keeps off whoever does not tolerate it")
{
    struct {
        Toleration toleration;
        Node node;
        bool fits;
    } const table[] = {
        {{"k", false, "v", "NoSchedule"}, tainted("k", "v"), true},
        {{"k", false, "v", ""}, tainted("k", "v", "NoExecute"), true},
        {{"k", false, "v", "NoExecute"}, tainted("k", "v"), false},
        {{"k", false, "w", ""}, tainted("k", "v"), false},
        {{"k", true, "", ""}, tainted("k", "v"), true},
        {{"j", true, "", ""}, tainted("k", "v"), false},
        {{"", true, "", ""}, tainted("k", "v"), true},
        {{"", true, "", "NoExecute"}, tainted("k", "v"), false},
        {{"j", true, "", ""}, tainted("k", "v", "PreferNoSchedule"), true},
        {{"j", true, "", ""}, tainted("node.kubernetes.io/not-ready"), true},
        {{"j", true, "", ""}, tainted("node.kubernetes.io/unreachable"), true},
        {{"j", true, "", ""},
         tainted("node.kubernetes.io/unschedulable"),
         true},
        {{"j", true, "", ""},
         tainted("node.kubernetes.io/disk-pressure"),
         false},
        {{"j", true, "", ""},
         tainted("node.kubernetes.io/pid-pressure"),
         false},
        {{"j", true, "", ""},
         tainted("node.kubernetes.io/network-unavailable"),
         false},
        {{"j", true, "", ""},
         tainted("node.kubernetes.io/out-of-service"),
         false},
        {{"node.kubernetes.io/memory-pressure", true, "", "NoSchedule"},
         tainted("node.kubernetes.io/memory-pressure"),
         true},
        {{"j", true, "", ""}, tainted(names::managed_node_taint), true},
    };
    for (const auto &row : table) {
        PredicatePtr predicate = made({}, {row.toleration});
        CAPTURE(predicate->text());
        CAPTURE(row.node.taints[0].key);
        CHECK(fits(predicate, row.node) == row.fits);
    }
    Node twice = tainted("k", "v");
    twice.taints.push_back({"l", "", "NoExecute"});
    CHECK_FALSE(fits(made({}, {{"k", true, "", ""}}), twice));
    CHECK(fits(made({}, {{"k", true, "", ""}, {"l", true, "", ""}}), twice));
}

TEST_CASE("a Pod without a wish runs where no taint is")
{
    const Predicate plain;

    CHECK(plain.text().empty());
    CHECK(plain.feature() == names::untainted_feature);
    CHECK(matches(plain, make_node("kn1")));
    CHECK_FALSE(matches(plain, tainted("dedicated", "gpu")));
    CHECK(mismatch(plain, tainted("dedicated")) ==
          "its taint dedicated is not tolerated");
    CHECK(&value_of({}) == &value_of(nullptr));
}

TEST_CASE("tolerations that make no difference leave it a Pod without a wish")
{
    CHECK(made({}, {}) == nullptr);
    CHECK(made({}, {{"node.kubernetes.io/not-ready", true, "", "NoExecute"},
                    {"node.kubernetes.io/unreachable", true, "", "NoExecute"},
                    {names::managed_node_taint, true, "", ""},
                    {"x", true, "", "PreferNoSchedule"}}) == nullptr);
}

TEST_CASE("equal predicates have one text, whatever their order")
{
    NodeRequirement ab = label("z", in, {"a", "b"});
    NodeRequirement ba = label("z", in, {"b", "a", "b"});
    NodeRequirement gpu = label("gpu", exists);
    Toleration t = {"t", true, "", ""};
    Toleration u = {"u", false, "v", "NoExecute"};

    PredicatePtr one = made({{{gpu, ab}, {gpu}}, {{ab}}}, {t, u});
    PredicatePtr two =
        made({{{ba}}, {{gpu}, {ba, gpu, gpu}, {gpu}}}, {u, t, u});

    CHECK(one->text() == two->text());
    CHECK(one->feature() == two->feature());
    CHECK(*one == *two);
    CHECK(one->text() == "(gpu or gpu,z in (a,b)) and z in (a,b); tolerating "
                         "t, u=v:NoExecute");
}

TEST_CASE("the text is in kubectl's notation")
{
    struct {
        NodeRequirement requirement;
        const char *text;
    } const table[] = {
        {label("disk", in, {"ssd"}), "disk=ssd"},
        {label("disk", not_in, {"ssd"}), "disk!=ssd"},
        {label("disk", not_in, {"a", "b"}), "disk notin (a,b)"},
        {label("a.io/b", exists), "a.io/b"},
        {label("a", does_not_exist), "!a"},
        {label("a", gt, {"5"}), "a>5"},
        {label("a", lt, {"5"}), "a<5"},
        {name_is(in, "kn1"), "field:metadata.name=kn1"},
    };
    for (const auto &row : table)
        CHECK(made({{{row.requirement}}})->text() == row.text);
}

TEST_CASE("different predicates have different texts")
{
    const std::vector<PredicatePtr> all = {
        made({{{label("a", in, {"b,c"})}}}),
        made({{{label("a", in, {"b", "c"})}}}),
        made({{{label("a", in, {"b"}), label("c", exists)}}}),
        made({{{label("a", in, {"b"})}, {label("c", exists)}}}),
        made({{{label("a", in, {"b"})}}, {{label("c", exists)}}}),
        made({{{label("a", in, {"b or c"})}}}),
        made({{{label("a", in, {})}}}),
        made({{{label("a", in, {""})}}}),
        made({{{label("a", exists)}}}),
        made({{{label("", exists)}}}),
        made({{{label("", does_not_exist)}}}),
        made({{{label("metadata.name", in, {"n"})}}}),
        made({{{name_is(in, "n")}}}),
        made({{{label("field:metadata.name", in, {"n"})}}}),
        made({{}}),
        made({}, {{"a", false, "", ""}}),
        made({}, {{"a", true, "", ""}}),
        made({}, {{"", true, "", ""}}),
        made({}, {{"*", true, "", ""}}),
        made({}, {{"a", true, "", "NoExecute"}}),
        made({}, {{"a:NoExecute", true, "", ""}}),
        nullptr,
    };
    std::set<std::string> texts;
    std::set<std::string> features;
    for (const PredicatePtr &predicate : all) {
        CAPTURE(value_of(predicate).text());
        CHECK(texts.insert(value_of(predicate).text()).second);
        CHECK(features.insert(value_of(predicate).feature()).second);
    }
}

TEST_CASE("a feature is one short word that is no pin")
{
    PredicatePtr predicate = made({{{label("gpu", exists)}}});

    CHECK(predicate->feature().size() == 16);
    CHECK(predicate->feature().starts_with("k8s-"));
    CHECK_FALSE(predicate->feature().starts_with(names::pin_prefix));
    CHECK(predicate->feature().find_first_not_of(
              "abcdefghijklmnopqrstuvwxyz0123456789", 4) == std::string::npos);
    // Jobs that wait over an update of the agent ask for the old one.
    CHECK(predicate->feature() == "k8s-df4t5i4sjs58");
}

TEST_CASE("what is absurdly long is refused with a sentence")
{
    std::vector<std::string> values;
    for (int i = 0; i < 1000; i++)
        values.push_back("value-" + std::to_string(i) + "-is-long");

    auto refused = Predicate::make({{{label("a", in, values)}}}, {});

    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == Code::rejected);
    CHECK(refused.error().message.contains("16384"));
    values.resize(300);
    auto long_one = Predicate::make({{{label("a", in, values)}}}, {});
    REQUIRE(long_one.has_value());
    CHECK(short_text(**long_one).size() < 210);
}

TEST_CASE("what is asked of devices is part of its identity, and no word of it")
{
    auto make = [](const std::string &devices) {
        return *Predicate::make({{{label("a", in, {"b"})}}}, {},
                                {devices, nullptr});
    };
    PredicatePtr plain = make("");
    PredicatePtr asks = make("secret words");

    CHECK(plain->text() == "a=b");
    CHECK(asks->text().starts_with("a=b; devices "));
    CHECK(!asks->text().contains("secret"));
    CHECK(*make("secret words") == *asks);
    CHECK(make("other")->feature() != asks->feature());
    CHECK(asks->feature() != plain->feature());
    CHECK(asks->devices().text == "secret words");
}
