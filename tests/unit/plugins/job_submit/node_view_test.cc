// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/node_view.h"

#include <doctest/doctest.h>
#include <ranges>
#include <string_view>

using namespace bridge;

namespace {

// Hostlists of tests are plain lists: "n1,n2".
std::vector<std::string> split(const char *hostlist)
{
    std::vector<std::string> nodes;
    for (auto part :
         std::views::split(std::string_view(hostlist ? hostlist : ""), ','))
        if (!part.empty())
            nodes.emplace_back(part.begin(), part.end());
    return nodes;
}

// Partitions: pods (default) has external nodes only, native has none, both has
// two of them and a hybrid node, empty has no node.
struct Cluster {
    std::vector<node_info_t> nodes;
    std::vector<partition_info_t> partitions;

    Cluster()
    {
        node("kn1", NODE_STATE_EXTERNAL, "k8s,k8s-1234");
        node("kn2", NODE_STATE_EXTERNAL, "k8s");
        nodes.emplace_back(); // a hole
        node("native1", NODE_STATE_IDLE, "big");
        node("hybrid1", NODE_STATE_IDLE, "big,k8s,k8s-abcd");
        partition("pods", "kn1,kn2", PART_FLAG_DEFAULT);
        partition("more", "kn2", 0);
        partition("native", "native1", 0);
        partition("both", "kn1,kn2,hybrid1", 0);
        partition("empty", nullptr, 0);
    }
    void node(const char *name, std::uint32_t state, const char *features)
    {
        node_info_t &made = nodes.emplace_back();
        made.name = const_cast<char *>(name);
        made.node_state = state;
        made.features = const_cast<char *>(features);
    }
    void partition(const char *name, const char *members, std::uint32_t flags)
    {
        partition_info_t &made = partitions.emplace_back();
        made.name = const_cast<char *>(name);
        made.nodes = const_cast<char *>(members);
        made.flags = static_cast<decltype(made.flags)>(flags);
    }
    NodeView view()
    {
        node_info_msg_t all_nodes{};
        all_nodes.record_count = static_cast<std::uint32_t>(nodes.size());
        all_nodes.node_array = nodes.data();
        partition_info_msg_t all_partitions{};
        all_partitions.record_count =
            static_cast<std::uint32_t>(partitions.size());
        all_partitions.partition_array = partitions.data();
        return view_of(all_partitions, all_nodes, split);
    }
};

struct Ask {
    const char *partition = nullptr;
    const char *nodes = nullptr;
    std::uint32_t count = NO_VAL;
    const char *features = nullptr;
};

job_desc_msg_t desc_of(const Ask &ask)
{
    job_desc_msg_t desc{};
    desc.partition = const_cast<char *>(ask.partition);
    desc.req_nodes = const_cast<char *>(ask.nodes);
    desc.min_nodes = ask.count;
    desc.features = const_cast<char *>(ask.features);
    return desc;
}

// "" is yes.
std::string judge(const PlaceWish &wish, const NodeView &view)
{
    auto reason = place_refusal_reason(wish, view);
    return reason ? *reason : features_refusal_reason(wish, view).value_or("");
}

std::string submit(const Ask &ask)
{
    NodeView view = Cluster().view();
    return judge(submit_wish(desc_of(ask), view, split), view);
}

std::string modify(const Ask &ask)
{
    return judge(modify_wish(desc_of(ask), split), Cluster().view());
}

} // namespace

TEST_CASE("a partition of external nodes takes no ordinary job")
{
    CHECK(submit({.partition = "pods"}).contains("partition pods"));
    CHECK(submit({.partition = "pods"}).contains("kubectl apply"));
    CHECK(submit({}).contains("partition pods")); // the default
    CHECK(submit({.partition = "pods,more"}).contains("partitions pods, more"));
    CHECK(modify({.partition = "more"}).contains("partition more"));
    CHECK(modify({}) == ""); // stays where it is
}

TEST_CASE("a list of nodes that takes long to expand is left to slurmctld")
{
    std::string list = "kn1";
    CHECK(submit({.partition = "both", .nodes = list.c_str()}) != "");
    while (list.size() + 4 <= 16384)
        list += ",kn1";
    CHECK(submit({.partition = "both", .nodes = list.c_str()}) != "");
    list += ",kn1";
    CHECK(submit({.partition = "both", .nodes = list.c_str()}) == "");
}

TEST_CASE("wherever a slurmd might be, slurmctld decides")
{
    for (const char *partition :
         {"native", "both", "pods,native", "empty", "unknown", "pods,unknown",
          ",", "pods,empty"}) {
        CAPTURE(partition);
        CHECK(submit({.partition = partition}) == "");
        CHECK(modify({.partition = partition}) == "");
    }
    CHECK(place_refusal_reason(submit_wish(desc_of({}), {}, split), {}) ==
          std::nullopt);
}

TEST_CASE("a list of nodes needs as many with a slurmd as the job takes")
{
    struct {
        const char *nodes;
        std::uint32_t count;
        bool refused;
    } table[] = {
        {"kn1", NO_VAL, true},
        {"kn1", 1, true},
        {"kn1,hybrid1", NO_VAL, true},
        {"kn1,hybrid1", 2, true},
        {"kn1,hybrid1", 1, false},
        {"hybrid1", 1, false},
        {"hybrid1", 7, false},
        {"nowhere", NO_VAL, false},
        {"kn1,hybrid1,native1", 2, false},
    };
    for (const auto &[nodes, count, refused] : table) {
        CAPTURE(nodes);
        CAPTURE(count);
        Ask ask{.partition = "both", .nodes = nodes, .count = count};

        CHECK(submit(ask).contains("kn1") == refused);
        CHECK(modify(ask).contains("kn1") == refused);
    }
}

TEST_CASE("a feature of external nodes alone is refused, others are Slurm's")
{
    struct {
        const char *features;
        bool refused;
    } table[] = {
        {"k8s", false},
        {"k8s&big", false},
        {"k8s-abcd", false},
        {"k8s-1234", true},
        {"big&k8s-1234", true},
        {"k8s,k8s-1234", true},
        {"k8s-1234|big", false},
        {"!k8s-1234", false},
        {"[k8s-1234]", false},
        {"unknown", false},
        {"", false},
    };
    for (const auto &[features, refused] : table) {
        CAPTURE(features);

        CHECK(submit({.partition = "both", .features = features}).empty() !=
              refused);
    }
    CHECK(submit({.partition = "native", .features = "k8s"})
              .contains("feature k8s:"));
    CHECK(modify({.features = "k8s"}) == "");
    CHECK(modify({.features = "k8s-1234"}).contains("k8s-1234"));
}

TEST_CASE("a refusal of thousands of nodes is one line")
{
    NodeView view;
    PlaceWish wish;
    for (int i = 0; i < 5000; i++)
        wish.nodes.push_back("n" + std::to_string(i));
    view.external.insert(wish.nodes.begin(), wish.nodes.end());

    auto reason = place_refusal_reason(wish, view);

    REQUIRE(reason);
    CHECK(reason->size() < 300);
    CHECK(reason->contains("n7, ..."));
}
