// SPDX-License-Identifier: GPL-2.0-or-later
// A cluster with GPUs, of which Slurm knows, for whole flows of Pods with
// claims.
#pragma once

#include "tests/unit/fakes/world.h"
#include "tests/unit/flows/claims.h"

#include <string>

namespace bridge {

// Nodes kn1 … of four GPUs each.
struct ClaimWorld : World {
    explicit ClaimWorld(int node_count = 2)
    {
        conf.device_gres = {{"gpu.example.com", "gpu", "g"}};
        conf.resize_delay = std::chrono::seconds(1);
        conf.node_interval = std::chrono::seconds(1);
        slurm.gres_types = {"gpu"};
        DeviceClass offers = make_class();
        offers.extended_resource_name = "example.com/gpu";
        device_classes = {offers};
        nodes.clear();
        for (int i = 1; i <= node_count; i++) {
            std::string name = "kn" + std::to_string(i);
            nodes.push_back(make_node(name));
            resource_slices.push_back(make_slice(name));
        }
        start_agent();
        pass(std::chrono::seconds(5)); // until the nodes have their GRES
    }

    ResourceClaim claim(const std::string &name = "c") const
    {
        for (const ResourceClaim &one : kube.claims())
            if (one.key.name == name)
                return one;
        return {};
    }
    void add_claim(const std::string &name = "c", int count = 1)
    {
        kube.put_claim(claim_text(name, request_gpus(count)));
        settle();
    }
    // "kn1/gpu-0 kn1/gpu-1"; "": none.
    std::string devices_of(const std::string &name = "c") const
    {
        return bridge::devices_of(claim(name));
    }
};

} // namespace bridge
