// SPDX-License-Identifier: GPL-2.0-or-later
// What passes between prep/k8s in slurmctld and the agent, one JSON object a
// packet over an AF_UNIX SOCK_SEQPACKET socket on which the agent listens.
//
//  to the agent
//   {"type":"hello","version":1,"cluster":C,"host":H}   first, once a connect
//   {"type":"allocated","job":J,"sluid":S,"nodes":N,"cpus":C,"ours":B,
//    "batch":B,"dirty":N}            a prolog hook ran and is held; C only for
//                                    a job of one node; batch: one of sbatch's,
//                                    which may have no Pod yet
//   {"type":"ended","job":J,"sluid":S,"nodes":N}
//                                    the epilog hook of a job of ours is held
//   {"type":"resync"}                hints were dropped: list again
//  to the plugin
//   {"type":"bridge","nodes":N,"more":B}   the nodes on which Pods may live
//   {"type":"synced","dirty":N,"more":B}   our lists are complete; these nodes
//                                    hold Pods that no live job covers
//   {"type":"start","job":J,"sluid":S}            that prolog ends well, at once
//   {"type":"fail","job":J,"sluid":S,"rc":R}      that prolog ends with R
//   {"type":"clean","job":J,"sluid":S}            that epilog may end
//   {"type":"kick"}                  run the scheduler now
//  both ways
//   {"type":"ping"} {"type":"pong"}  every 5 s; 15 s of silence: reconnect
//
// `start` opens a prolog of an ordinary job too, and whatever nodes are dirty:
// the agent says it when it has seen that what still lives on the job's nodes
// and what Slurm has given away there fit together (gate.h). `more` means that
// the list goes on in the next packet of that type.
//
// N is a Slurm hostlist, S a SLUID as Slurm prints it. A message about a job is
// about that JobId with that SLUID; with any other it is dropped. Unknown
// types and fields are ignored, so either side may be upgraded first.
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
        unknown, // decoded from a newer peer: ignore
        hello,
        allocated,
        ended,
        resync,
        bridge,
        synced,
        start,
        fail,
        clean,
        kick,
        ping,
        pong,
    };

    Type type = Type::unknown;
    JobRef job{};           // allocated, ended, start, fail, clean
    std::string nodes{};    // allocated, ended, bridge
    std::string dirty{};    // allocated, synced
    std::uint32_t cpus = 0; // allocated: on its only node; 0: not said
    bool ours = false;      // allocated
    bool batch = false;     // allocated: likewise
    bool more = false;      // bridge, synced: the list goes on
    int rc = 0;             // fail: a wait(2) status, not 0
    int version = 0;        // hello
    std::string cluster{};  // hello
    std::string host{};     // hello

    bool operator==(const HookMessage &) const = default;
};

inline constexpr int hook_protocol_version = 1;
inline constexpr std::size_t max_packet = 128 * 1024; // bytes
inline constexpr std::chrono::seconds ping_interval{5};
inline constexpr std::chrono::seconds silence_limit{15};

// One packet, without a trailing newline.
std::string encode(const HookMessage &message);

// Code::rejected for what is no JSON object, has no type, or lacks what its
// type needs. A type we do not know decodes as Type::unknown.
Result<HookMessage> decode_hook_message(std::string_view packet);

} // namespace bridge
