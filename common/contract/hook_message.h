// SPDX-License-Identifier: GPL-2.0-or-later
// The messages between prep/k8s in slurmctld and the agent: one JSON object in
// each packet of an AF_UNIX SOCK_SEQPACKET socket on which the agent listens.
//
//   to the agent
//    {"type":"hello","version":1,"cluster":C,"host":H}
//                                once, first after each connect
//    {"type":"allocated","job":J,"sluid":S,"nodes":N,"cpus":C,"ours":B,
//     "batch":B,"dirty":N,"unprotected":B}
//                                a prolog hook ran and is held; cpus: only for
//                                a job of one node; batch: a job of sbatch,
//                                which may not have a Pod yet
//    {"type":"ended","job":J,"sluid":S,"nodes":N}
//                                the epilog hook of a job of ours is held
//    {"type":"resync"}           hints were dropped: list again
//   to the plugin
//    {"type":"bridge","nodes":N,"more":B}
//                                the nodes on which Pods may run
//    {"type":"synced","dirty":N,"more":B}
//                                the agent's lists are complete; these nodes
//                                have Pods that no live job covers
//    {"type":"unprotected","nodes":N,"more":B}
//                                the nodes of slurmd Pods that may be evicted:
//                                a job waits there for two seconds at most
//    {"type":"start","job":J,"sluid":S}
//                                release that prolog at once, successfully
//    {"type":"fail","job":J,"sluid":S,"rc":R}
//                                release that prolog with status R
//    {"type":"clean","job":J,"sluid":S}
//                                release that epilog
//    {"type":"kick"}             run the scheduler now
//   in both directions
//    {"type":"ping"} {"type":"pong"}
//                                every 5 s; after 15 s of silence: reconnect
//
// `start` also releases the prolog of an ordinary job, even if nodes are dirty:
// the agent sends it when it has seen that what still runs on the job's nodes
// and what Slurm has allocated there fit together (gate.h). `more` means that
// the list continues in the next packet of that type.
//
// Lists of nodes in `allocated` and `ended` are cut where a packet would be too
// long; the agent reads the job itself before it relies on them.
//
// N is a Slurm hostlist, S a SLUID as Slurm prints it. A message about a job
// refers to the job with this JobId and this SLUID; it is dropped if no such
// job is held. Unknown types and fields are ignored, so either side may be
// upgraded first.
#pragma once

#include "common/base/result.h"
#include "common/contract/job_ref.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

namespace bridge {

struct HookMessage {
    enum class Type {
        unknown, // from a newer peer: ignore it
        hello,
        allocated,
        ended,
        resync,
        bridge,
        synced,
        unprotected,
        start,
        fail,
        clean,
        kick,
        ping,
        pong,
    };

    Type type = Type::unknown;
    JobRef job{};           // allocated, ended, start, fail, clean
    std::string nodes{};    // allocated, ended, bridge, unprotected
    std::string dirty{};    // allocated, synced
    std::uint32_t cpus = 0; // allocated: CPUs on its only node; 0: not given
    bool ours = false;      // allocated
    bool batch = false;     // allocated: a job of sbatch
    // allocated: the job waits until a slurmd Pod is protected
    bool unprotected = false;
    bool more = false;     // bridge, synced, unprotected: the list continues
    int rc = 0;            // fail: a wait(2) status, not 0
    int version = 0;       // hello
    std::string cluster{}; // hello
    std::string host{};    // hello

    bool operator==(const HookMessage &) const = default;
};

inline constexpr int hook_protocol_version = 1;
inline constexpr std::size_t max_packet = 128 * 1024; // bytes
// The longest list of nodes in a packet, in bytes: two of them and all else
// that a message has fit into one.
inline constexpr std::size_t max_packet_list = max_packet / 2 - 1024;
inline constexpr std::chrono::seconds ping_interval{5};
inline constexpr std::chrono::seconds silence_limit{15};

// Returns a hostlist of at most `longest` bytes that names nodes of this one,
// the first ones.
std::string cut_hostlist(const std::string &hostlist, std::size_t longest);

// Returns one packet, without a newline at the end.
std::string encode(const HookMessage &message);

// Code::rejected if the packet is not a JSON object, has no type, or lacks a
// field that its type needs. An unknown type is decoded as Type::unknown.
Result<HookMessage> decode_hook_message(std::string_view packet);

} // namespace bridge
