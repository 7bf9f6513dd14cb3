// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/feature_labels.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

using Labels = std::map<std::string, std::string>;
using Words = std::vector<std::string>;

std::string error_of(const std::string &text)
{
    auto parsed = parse_feature_labels(text);
    return parsed ? "" : parsed.error().message;
}

} // namespace

TEST_CASE("labels become features under their short name, or the one given")
{
    auto wanted =
        parse_feature_labels("topology.kubernetes.io/zone, tier:class,"
                             "example.com/gpu.model:gpu_model");

    REQUIRE(wanted);
    CHECK(
        features_of_labels(*wanted, {{"topology.kubernetes.io/zone", "eu-1.a"},
                                     {"tier", ""},
                                     {"example.com/gpu.model", "H100"},
                                     {"other", "x"}}) ==
        Words{"k8s.zone.eu-1.a", "k8s.class", "k8s.gpu_model.H100"});
    CHECK(features_of_labels(*wanted, {}).empty());
    CHECK(features_of_labels({}, {{"tier", "x"}}).empty());
}

TEST_CASE("what is no label key, or has no name of its own, is named")
{
    struct {
        std::string text, words;
    } table[] = {
        {"", "not a label key"},
        {"a,", "not a label key"},
        {"a b", "not a label key"},
        {"/zone", "not a label key"},
        {"x/", "not a label key"},
        {"a/b/c", "not a label key"},
        {"x\n/y", "not a label key"},
        {std::string(64, 'a'), "not a label key"},
        {"zone.of", "needs a name"}, // a dot would be ambiguous
        {"zone:", "needs a name"},
        {"zone:a|b", "needs a name"},
        {"kubelet", "needs a name"},
        {"example.com/cpus:static-cpus", "needs a name"},
        {"a/zone,b/zone", "the same name"},
        {"zone,zone:other", "the same name"},
    };
    for (const auto &[text, words] : table) {
        CAPTURE(text);
        CHECK(error_of(text).contains(words));
    }
}

TEST_CASE("a hostile value gives no feature")
{
    auto wanted = parse_feature_labels("zone");
    REQUIRE(wanted);
    for (const std::string &value :
         {std::string("a,k8s"), std::string("a b"), std::string("a|b"),
          std::string("a&b"), std::string("(a"), std::string("[a]"),
          std::string("a=b"), std::string("a\nb"), std::string("a\0b", 3),
          std::string("\xc3\xa4"), std::string(64, 'a')}) {
        CAPTURE(value);
        CHECK(features_of_labels(*wanted, {{"zone", value}}).empty());
    }
}

TEST_CASE("which features labels can give is told by the name")
{
    auto wanted = parse_feature_labels("example.com/zone,tier:class");
    REQUIRE(wanted);
    for (const char *feature : {"k8s.zone.a", "k8s.zone", "k8s.class.a.b"})
        CHECK(is_feature_of(*wanted, feature));
    for (const char *feature : {"k8s.kubelet", "k8s.zonex", "k8s.tier.a",
                                "zone", "k8s", "k8s.", "k8s-zone.a", ""})
        CHECK_FALSE(is_feature_of(*wanted, feature));
}
