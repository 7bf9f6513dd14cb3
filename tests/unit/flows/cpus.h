// SPDX-License-Identifier: GPL-2.0-or-later
// CPU devices as dra-driver-cpu publishes them one by one, and claims for them.
#pragma once

#include "tests/unit/flows/claims.h"

#include <format>
#include <string>

namespace bridge {

// cpudev000 and so on, the first half on NUMA node 0, the other on 1.
inline ResourceSlice make_cpu_slice(const std::string &node, int cpus = 16)
{
    std::string list;
    for (int i = 0; i < cpus; i++)
        list += std::format(
            R"({}{{"name":"cpudev{:03}","attributes":{{)"
            R"("dra.cpu/cpuID":{{"int":{}}},"dra.cpu/numaNodeID":{{"int":{}}}}}}})",
            i ? "," : "", i, i, i < cpus / 2 ? 0 : 1);
    return resource_slice_from(json_of(std::format(
        R"({{"metadata":{{"name":"{0}-cpu","uid":"s"}},"spec":{{)"
        R"("driver":"dra.cpu","nodeName":"{0}","pool":{{"name":"{0}",)"
        R"("generation":1,"resourceSliceCount":1}},"devices":[{1}]}}}})",
        node, list)));
}

// cpudevnuma000 and cpudevnuma001 of 8 CPUs each, which are given in shares.
inline ResourceSlice make_group_slice(const std::string &node)
{
    std::string list;
    for (int i = 0; i < 2; i++)
        list += std::format(
            R"({}{{"name":"cpudevnuma{:03}","allowMultipleAllocations":true,)"
            R"("attributes":{{"dra.cpu/numaNodeID":{{"int":{}}}}},)"
            R"("capacity":{{"dra.cpu/cpu":{{"value":"8"}}}}}})",
            i ? "," : "", i, i);
    return resource_slice_from(json_of(std::format(
        R"({{"metadata":{{"name":"{0}-cpu","uid":"s"}},"spec":{{)"
        R"("driver":"dra.cpu","nodeName":"{0}","pool":{{"name":"{0}",)"
        R"("generation":1,"resourceSliceCount":1}},"devices":[{1}]}}}})",
        node, list)));
}

inline DeviceClass make_cpu_class()
{
    std::string text =
        R"({"metadata":{"name":"dra.cpu"},"spec":{"selectors":[{"cel":{)"
        R"("expression":"device.driver == 'dra.cpu'"}}]}})";
    return device_class_from(json_of(text), text);
}

// more: of the request, such as R"(,"selectors":[…])".
inline std::string cpus(const std::string &name, int count,
                        const std::string &more = "")
{
    return std::format(R"({{"name":"{}","exactly":{{"deviceClassName":)"
                       R"("dra.cpu","count":{}{}}}}})",
                       name, count, more);
}

inline std::string request_cpus(int count)
{
    return R"("requests":[)" + cpus("cpu", count) + "]";
}

inline std::string on_numa(int node)
{
    return std::format(
        R"(,"selectors":[{{"cel":{{"expression":)"
        R"("device.attributes['dra.cpu'].numaNodeID == {}"}}}}])",
        node);
}

// All of the claim on one NUMA node.
inline std::string same_numa()
{
    return R"(,"constraints":[{"matchAttribute":"dra.cpu/numaNodeID"}])";
}

} // namespace bridge
