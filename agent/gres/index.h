// SPDX-License-Identifier: GPL-2.0-or-later
// Which device each GRES index of a node stands for. Slurm chooses indexes, and
// jobs keep them while they run: so a device keeps its index as long as anybody
// could mean it, whatever drivers publish, withdraw and publish anew. Kept in
// the Slurm node's `extra`. Pure.
//
//     k8sdev:1|gpu!a100@gpu.example.com/n1:gpu-0:-gpu-1!h100@gpu.example.com/n1:gpu-2
//
// is version 1, GRES gpu: index 0 is device gpu-0 of type a100 in pool n1 of
// driver gpu.example.com, index 1 is gpu-1, which was not there when last
// looked for, index 2 of type h100 is gpu-2. A "-" alone is an index without a
// device.
#pragma once

#include "agent/objects/device.h"
#include "common/base/result.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bridge {

// A device as Slurm is to count it.
struct GresDevice {
    std::string gres; // "gpu"
    std::string type; // "a100"
    DeviceId id;
};

struct DevicesNow {
    std::vector<GresDevice> present; // on this node, in the order of the pools
    // Driver and name of the pools that are usable: what is not present of
    // these is gone. Of other pools nobody knows.
    std::set<std::pair<std::string, std::string>> known_pools;
};

struct GresIndex {
    std::string gres;
    std::uint32_t index = 0;

    auto operator<=>(const GresIndex &) const = default;
};

struct DeviceSlot {
    std::string type;
    DeviceId id;         // of no device: "" throughout
    bool absent = false; // was not there when last looked for

    bool operator==(const DeviceSlot &) const = default;
};

struct GresCount {
    std::string gres;
    std::string type;
    std::uint32_t count = 0; // with indexes whose device is absent

    bool operator==(const GresCount &) const = default;
};

class DeviceIndex {
  public:
    static constexpr std::size_t max_text = 65536;
    static constexpr std::size_t max_slots = 1024; // of one GRES

    // Code::rejected for what text() never says, such as another version or one
    // device at two indexes. The text "" is an index of nothing.
    static Result<DeviceIndex> parse(std::string_view text);
    std::string text() const;

    // Takes in what is there now. No index moves, and a used one changes
    // nothing but whether its device is absent. A device takes the place of one
    // of its type that is known to be gone and not used, else a new index at
    // the end. Devices beyond max_slots or max_text, or with names that text()
    // could not say, get none. True when something changed.
    bool update(const DevicesNow &now, const std::set<GresIndex> &used);

    // Drops the indexes whose devices are known to be gone: the others move.
    // Only for a node that is created anew, with nothing on it.
    void compact(const DevicesNow &now);

    // Null when there is no such index.
    const DeviceSlot *at(const GresIndex &where) const;
    std::optional<GresIndex> find(const DeviceId &id) const;

    // What the node's Gres= says: each type once, in the order of the indexes.
    std::vector<GresCount> counts() const;

    const std::map<std::string, std::vector<DeviceSlot>> &slots() const
    {
        return slots_;
    }

    bool operator==(const DeviceIndex &) const = default;

  private:
    std::map<std::string, std::vector<DeviceSlot>> slots_; // by GRES
};

} // namespace bridge
