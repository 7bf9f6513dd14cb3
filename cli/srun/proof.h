// SPDX-License-Identifier: GPL-2.0-or-later
// How srun and a worker prove to each other that they belong to one job: both
// know its key, and neither sends it. What follows on the connection is neither
// encrypted nor signed, as between Slurm's own srun and slurmd without TLS.
//
//   worker → srun   hello: step_magic, hash of the program, nonce W
//   srun → worker   hash of the program, nonce S,
//                   HMAC(key, "srun" hash A W S)
//   worker → srun   HMAC(key, "worker" hash A S W)
//
// A is the worker's address. Both sides take it from their own end of the
// connection, so that nobody can relay these messages to another worker.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bridge {

using Digest = std::array<unsigned char, 32>;

// An IPv6 address; IPv4 is written as ::ffff:1.2.3.4.
using StepAddress = std::array<unsigned char, 16>;

inline constexpr std::string_view step_magic = "slurmk8s step 1\n";
inline constexpr std::size_t hello_size = 16 + 32 + 32;
inline constexpr std::size_t answer_size = 32 + 32 + 32;
inline constexpr std::size_t proof_size = 32;
static_assert(step_magic.size() == 16);

// What both sides know before they exchange messages.
struct StepIdentity {
    Digest key{};         // of the job
    Digest program{};     // SHA-256 of this program's file
    StepAddress worker{}; // at this connection's end
};

Digest sha256(std::string_view text);
Digest hmac_sha256(const Digest &key, std::string_view text);

// Parses 64 hexadecimal digits, with at most a newline behind them. Returns
// nothing for any other text.
std::optional<Digest> parse_step_key(std::string_view text);

std::string_view bytes_of(const Digest &digest);

// Takes the same time wherever the texts differ.
bool same_bytes(std::string_view a, std::string_view b);

// The messages drawn above. The nonces must be fresh for each connection.
std::string make_hello(const StepIdentity &us, const Digest &worker_nonce);
std::string make_answer(const StepIdentity &us, std::string_view hello,
                        const Digest &srun_nonce);
std::string make_proof(const StepIdentity &us, const Digest &worker_nonce,
                       std::string_view answer);

enum class HelloFault { none, not_ours, other_program };

HelloFault check_hello(const StepIdentity &us, std::string_view hello);
bool check_answer(const StepIdentity &us, const Digest &worker_nonce,
                  std::string_view answer);
bool check_proof(const StepIdentity &us, std::string_view hello,
                 const Digest &srun_nonce, std::string_view proof);

} // namespace bridge
