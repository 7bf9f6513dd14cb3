// SPDX-License-Identifier: GPL-2.0-or-later
// Devices of nodes with a slurmd, where an administrator maps devices to
// indexes.
#include "agent/nodes/devices.h"

#include "agent/nodes/gres.h"
#include "agent/objects/objects.h"
#include "common/base/ascii.h"
#include "common/base/text.h"

#include <algorithm>
#include <format>
#include <map>
#include <utility>

namespace bridge {

namespace {

constexpr char pci_attribute[] = "resource.kubernetes.io/pciBusID";
constexpr char uuid_attribute[] = "uuid";
constexpr std::size_t max_annotation = 16384;
constexpr std::size_t max_key = 128;

// Maps a GRES such as "gpu" to the keys of its indexes, in order.
using Keys = std::map<std::string, std::vector<std::string>>;

// Parses "gpu=KEY,KEY;nic=KEY". Returns nothing if the text is malformed.
std::optional<Keys> parse_keys(std::string_view text)
{
    Keys keys;
    if (text.size() > max_annotation)
        return std::nullopt;
    while (!text.empty()) {
        std::string_view part = next_part(text, ';');
        std::size_t equals = part.find('=');
        std::string gres(part.substr(0, equals));
        if (gres.empty() || equals == part.npos || keys.contains(gres))
            return std::nullopt;
        part.remove_prefix(equals + 1);
        std::vector<std::string> &list = keys[gres];
        while (!part.empty()) {
            std::string_view key = next_part(part, ',');
            if (key.empty() || key.size() > max_key)
                return std::nullopt;
            list.push_back(lower_case(key));
        }
        if (list.empty() || list.size() > DeviceIndex::max_slots)
            return std::nullopt;
    }
    return keys;
}

bool is_called(const Device &device, const std::string &key)
{
    for (const char *name : {uuid_attribute, pci_attribute}) {
        auto found = device.attributes.find(name);
        if (found == device.attributes.end() && name == uuid_attribute)
            found = device.attributes.find(device.driver + "/" + name);
        if (found == device.attributes.end())
            continue;
        const auto *value = std::get_if<std::string>(&found->second);
        if (value && lower_case(*value) == key)
            return true;
    }
    return false;
}

class Hybrid {
  public:
    Hybrid(const DeviceInventory &inventory, const Node &node,
           const SlurmNode &known)
        : inventory_(inventory), node_(node), known_(known)
    {
    }

    NodeDevices devices()
    {
        auto present = inventory_.present.find(node_.name);
        if (present == inventory_.present.end())
            return {};
        std::string text = node_.annotation(devices_annotation);
        if (text.empty())
            return refuse(std::format(
                "it has devices and a slurmd, but no annotation {} says which "
                "of them each index of Slurm's GRES stands for",
                devices_annotation));
        auto keys = parse_keys(text);
        if (!keys)
            return refuse(std::format(
                "annotation {} is not GRES=ID,ID;GRES=ID with the UUIDs or PCI "
                "addresses in the order of gres.conf",
                devices_annotation));
        std::string index = "k8sdev:1";
        for (const auto &[gres, list] : *keys) {
            index += "|" + gres;
            for (const std::string &key : list)
                index += slot(gres, key, present->second);
        }
        auto made = DeviceIndex::parse(index);
        if (!made)
            return refuse(made.error().message);
        if (std::string reason = mismatch_reason(*made, *keys); !reason.empty())
            return refuse(reason);
        NodeDevices devices;
        devices.index = std::move(*made);
        return devices;
    }

  private:
    NodeDevices refuse(const std::string &reason) const
    {
        NodeDevices none;
        none.warning = std::format("Node {}: {}: Pods get none of its devices",
                                   node_.name, reason);
        return none;
    }

    // Returns a slot as DeviceIndex::text() writes it, or the slot without a
    // device if no device has this key.
    std::string slot(const std::string &gres, const std::string &key,
                     const std::vector<GresDevice> &present) const
    {
        for (const GresDevice &one : present)
            if (one.gres == gres &&
                is_called(*inventory_.devices.at(one.id), key))
                return std::format("!{}@{}/{}:{}", one.type, one.id.driver,
                                   one.id.pool, one.id.device);
        return "!none@/:-";
    }

    std::string mismatch_reason(const DeviceIndex &index,
                                const Keys &keys) const
    {
        std::vector<GresCount> counts = gres_counts(known_.gres);
        for (const auto &[gres, list] : keys) {
            std::size_t slurms = 0;
            for (const GresCount &one : counts)
                slurms += one.gres == gres ? one.count : 0;
            if (slurms != list.size())
                return std::format("annotation {} names {} devices of {}, and "
                                   "Slurm has {} there",
                                   devices_annotation, list.size(), gres,
                                   slurms);
        }
        for (const GresCount &one : index.counts())
            if (one.type != "none" &&
                std::ranges::none_of(counts, [&](const GresCount &slurms) {
                    return slurms.gres == one.gres && slurms.type == one.type &&
                           slurms.count >= one.count;
                }))
                return std::format("DeviceGres maps {} of its devices to "
                                   "{}:{}, and Slurm has {} there: give them "
                                   "this Type in gres.conf and slurm.conf",
                                   one.count, one.gres, one.type,
                                   known_.gres.empty() ? "none" : known_.gres);
        return {};
    }

    const DeviceInventory &inventory_;
    const Node &node_;
    const SlurmNode &known_;
};

} // namespace

NodeDevices hybrid_devices(const DeviceFacts &facts, const Node &node,
                           const SlurmNode &known)
{
    if (!facts.inventory)
        return {};
    return Hybrid(*facts.inventory, node, known).devices();
}

} // namespace bridge
