// SPDX-License-Identifier: GPL-2.0-or-later
// A cluster with GPUs and two namespaces, whose users write selectors.
#pragma once

#include "tests/unit/flows/claim_world.h"

#include <doctest/doctest.h>
#include <string>

namespace bridge {

// Within what one evaluation may cost: some hundred thousand steps.
inline constexpr char dear_cel[] =
    "[1,2,3,4,5,6,7,8,9,10,11,12].all(a,[1,2,3,4,5,6,7,8,9,10,11,12]"
    ".all(b,[1,2,3,4,5,6,7,8,9,10,11,12].all(c,"
    "[1,2,3,4,5,6,7,8,9,10,11,12].all(d,a+b+c+d>0))))";

// Over it.
inline constexpr char endless_cel[] =
    "[1,2,3,4,5,6,7,8].all(a,[1,2,3,4,5,6,7,8].all(b,[1,2,3,4,5,6,7,8]"
    ".all(c,[1,2,3,4,5,6,7,8].all(d,[1,2,3,4,5,6,7,8].all(e,"
    "[1,2,3,4,5,6,7,8].all(f,[1,2,3,4,5,6,7,8].all(g,a+b+c+d+e+f+g>0)))))))";

inline constexpr char compares_words[] =
    "The agent is still comparing the Pod's claims with the devices of the "
    "cluster.";

// Until Slurm has given a job its nodes, and the agent has asked nobody yet
// what to do with them.
inline void step_to_allocation(World &world)
{
    for (int i = 0; i < 5000 && world.allocation_count() == 0; i++)
        world.step(1);
    REQUIRE(world.allocation_count() != 0);
}

// A claim of another Pod, by this agent, has the first device of the Node,
// although Slurm has given that to a job.
inline void take_first_device(World &world, const std::string &node)
{
    std::string text = claim_text(
        "other-" + node, request_gpus(1), "",
        R"({"allocation":{"devices":{"results":[{"request":"gpu","driver":)"
        R"("gpu.example.com","pool":")" +
            node + R"(","device":"gpu-0"}]}}})");
    const std::string metadata = R"("metadata":{)";
    text.replace(text.find(metadata), metadata.size(),
                 metadata + R"("managedFields":[{"manager":")" +
                     names::manager +
                     R"(","fieldsV1":{"f:status":{"f:allocation":{}}}}],)");
    world.kube.put_claim(text);
}

struct AnswerWorld : ClaimWorld {
    AnswerWorld()
    {
        Namespace other;
        other.name = "other";
        namespaces.push_back(other);
        deliver(Listed<Namespace>{"", namespaces});
    }

    void add_claim_that(const std::string &name, const std::string &cel,
                        const std::string &ns = "default")
    {
        std::string text = claim_text(
            name, R"("requests":[)" +
                      exactly("gpu", 1,
                              R"(,"selectors":[{"cel":{"expression":")" + cel +
                                  R"("}}])") +
                      "]");
        text.replace(text.find("default"), 7, ns);
        kube.put_claim(text);
        settle();
    }
    Pod pod_with(const std::string &claim, const std::string &name,
                 const std::string &ns = "default")
    {
        Pod pod = make_pod(name);
        pod.key.ns = ns;
        pod.resource_claims = {{"gpu", claim, "", false, false}};
        return pod;
    }
    void create_with(const std::string &claim, const std::string &name,
                     const std::string &ns = "default")
    {
        (void)create(pod_with(claim, name, ns));
    }
};

} // namespace bridge
