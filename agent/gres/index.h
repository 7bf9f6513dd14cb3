// SPDX-License-Identifier: GPL-2.0-or-later
// Which device each GRES index of a node stands for. Slurm chooses indexes, and
// jobs keep them while they run. A device therefore keeps its index as long as
// anyone could refer to it, whatever drivers publish, withdraw and publish
// again. The mapping is stored in the Slurm node's `extra`. Pure.
//
//     k8sdev:1|gpu!a100@gpu.example.com/n1:gpu-0:-gpu-1
//       !h100@gpu.example.com/n1:gpu-2
//
// (one line) is version 1, GRES gpu: index 0 is device gpu-0 of type a100 in
// pool n1 of driver gpu.example.com; index 1 is gpu-1, which was absent at the
// last check; index 2 of type h100 is gpu-2. A "-" alone is an index without a
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

// A device with the GRES and type by which Slurm counts it.
struct GresDevice {
    std::string gres; // "gpu"
    std::string type; // "a100"
    DeviceId id;
};

struct DevicesNow {
    std::vector<GresDevice> present; // on this node, in the order of the pools
    // Driver and name of the usable pools. A device of these that is not
    // present is gone; of other pools nothing is known.
    std::set<std::pair<std::string, std::string>> known_pools;
};

struct GresIndex {
    std::string gres;
    std::uint32_t index = 0;

    auto operator<=>(const GresIndex &) const = default;
};

struct DeviceSlot {
    std::string type;
    DeviceId id;         // all names are empty if there is no device
    bool absent = false; // absent at the last check

    bool operator==(const DeviceSlot &) const = default;
};

struct GresCount {
    std::string gres;
    std::string type;
    std::uint32_t count = 0; // including indexes whose device is absent

    bool operator==(const GresCount &) const = default;
};

class DeviceIndex {
  public:
    static constexpr std::size_t max_text = 65536;
    static constexpr std::size_t max_slots = 1024; // per GRES

    // Reads what text() wrote. Returns Code::rejected for anything that text()
    // never writes, such as another version or one device at two indexes. The
    // text "" is an empty index.
    static Result<DeviceIndex> parse(std::string_view text);
    std::string text() const;

    // Takes in the current devices. No index moves, and an index in use changes
    // only in whether its device is absent. A new device takes the index of a
    // device of its type that is known to be gone and is not in use, or else a
    // new index at the end. Devices beyond max_slots or max_text, or with names
    // that text() cannot represent, get no index. Returns true if something
    // changed.
    bool update(const DevicesNow &now, const std::set<GresIndex> &used);

    // Removes the indexes whose devices are known to be gone, which moves the
    // others. Only for a node that is being recreated, with nothing on it.
    void compact(const DevicesNow &now);

    // Returns null if there is no such index.
    const DeviceSlot *at(const GresIndex &where) const;
    std::optional<GresIndex> find(const DeviceId &id) const;

    // Returns the counts for the node's Gres=: each type once, in the order of
    // the indexes.
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
