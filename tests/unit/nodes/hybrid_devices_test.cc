// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/nodes/devices.h"
#include "tests/unit/fakes/make_devices.h"
#include "tests/unit/fakes/make_nodes.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

struct Bed {
    Bed() { known.gres = "gpu:a100:2(S:0),gpu:other:1(S:1)"; }

    NodeDevices devices(const std::string &annotation)
    {
        node.annotations[devices_annotation] = annotation;
        inventory = make_inventory(
            make_pools({make_slice("n1", {"a0", "a1", "h2"})}),
            {{"a100",
              make_class("a100", "device.attributes['d'].model == 'A'")},
             {"gpu", make_class("gpu", "device.driver == 'd'")}},
            {{"a100", "gpu", "a100"}, {"gpu", "gpu", "other"}});
        return hybrid_devices({&inventory, nullptr, {"gpu"}}, node, known);
    }
    std::string shown(const std::string &annotation)
    {
        std::string text;
        NodeDevices made = devices(annotation);
        for (const auto &[gres, slots] : made.index.slots())
            for (const DeviceSlot &slot : slots)
                text += (text.empty() ? "" : " ") +
                        (slot.absent ? "-" : slot.id.device);
        CHECK(made.warning.empty() != text.empty());
        return made.warning.empty() ? text : made.warning;
    }

    Node node = make_node("n1");
    SlurmNode known = make_hybrid_node("n1");
    DeviceInventory inventory;
};

} // namespace

TEST_CASE("an annotation says by UUID which device each index of gres.conf is")
{
    Bed bed;

    CHECK(bed.shown("gpu=GPU-n1-a1,gpu-N1-a0,GPU-n1-h2") == "a1 a0 h2");
    CHECK(bed.shown("gpu=GPU-n1-a1,broken,GPU-n1-h2") == "a1 - h2");
}

TEST_CASE("a PCI address does as well")
{
    Bed bed;
    bed.known.gres = "gpu:other:1";
    bed.node.annotations[devices_annotation] = "gpu=0000:3b:00.0";
    Device device;
    device.driver = "d";
    device.pool = "n1";
    device.name = "h2";
    device.attributes["resource.kubernetes.io/pciBusID"] =
        std::string("0000:3B:00.0");
    DeviceInventory inventory;
    inventory.present["n1"] = {{"gpu", "other", device.id()}};
    inventory.devices[device.id()] = std::make_shared<const Device>(device);

    NodeDevices made =
        hybrid_devices({&inventory, nullptr, {"gpu"}}, bed.node, bed.known);

    CHECK(made.warning == "");
    CHECK(made.index.find(device.id()) == GresIndex{"gpu", 0});
}

TEST_CASE("without a mapping that agrees with Slurm no device is given away")
{
    Bed bed;
    struct {
        std::string annotation, words;
    } table[] = {
        {"", "no annotation slurmk8s/devices says"},
        {"gpu", "is not GRES=ID"},
        {"gpu=", "is not GRES=ID"},
        {"gpu=a,,b", "is not GRES=ID"},
        {"gpu=a;gpu=b", "is not GRES=ID"},
        {"=a", "is not GRES=ID"},
        {std::string(20000, 'x'), "is not GRES=ID"},
        {"gpu=GPU-n1-a1", "names 1 devices of gpu, and Slurm has 3"},
        {"nic=x", "names 1 devices of nic, and Slurm has 0"},
        {"gpu=GPU-n1-a1,GPU-n1-a1,GPU-n1-h2", "at two indexes"},
        {"g pu=a,b,c", "GRES without name"},
    };
    for (const auto &[annotation, words] : table) {
        CAPTURE(annotation);
        NodeDevices made = bed.devices(annotation);
        CHECK(made.index.slots().empty());
        CHECK(made.warning.contains(words));
        CHECK(made.warning.contains("Pods get none of its devices"));
    }
    bed.known.gres = "gpu:3";
    CHECK(bed.shown("gpu=GPU-n1-a1,GPU-n1-a0,GPU-n1-h2")
              .contains("and Slurm has gpu:3 there"));
}

TEST_CASE("a node with a slurmd and no device of ours is nobody's business")
{
    Bed bed;
    bed.node.name = "n9";
    CHECK(bed.devices("").warning == "");
    CHECK(hybrid_devices({}, bed.node, bed.known).warning == "");
}
