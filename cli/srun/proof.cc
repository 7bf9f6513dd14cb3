// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/proof.h"

// EVP, which OpenSSL 3 prefers, would link all of libcrypto into the program.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

namespace bridge {

namespace {

// Offsets in a hello and in an answer.
constexpr std::size_t hello_program = 16, hello_nonce = 48;
constexpr std::size_t answer_nonce = 32, answer_proof = 64;

Digest proof_of(const StepIdentity &us, const char *role,
                std::string_view first, std::string_view second)
{
    std::string text = role;
    text += bytes_of(us.program);
    text.append(us.worker.begin(), us.worker.end());
    text += first;
    text += second;
    return hmac_sha256(us.key, text);
}

} // namespace

Digest sha256(std::string_view text)
{
    Digest digest;
    SHA256_CTX context;
    SHA256_Init(&context);
    SHA256_Update(&context, text.data(), text.size());
    SHA256_Final(digest.data(), &context);
    return digest;
}

Digest hmac_sha256(const Digest &key, std::string_view text)
{
    std::string inner(64, '\x36'), outer(64, '\x5c');
    for (std::size_t i = 0; i < key.size(); i++) {
        inner[i] = static_cast<char>(inner[i] ^ key[i]);
        outer[i] = static_cast<char>(outer[i] ^ key[i]);
    }
    inner += text;
    Digest first = sha256(inner);
    outer += bytes_of(first);
    return sha256(outer);
}

std::optional<Digest> parse_step_key(std::string_view text)
{
    if (text.ends_with('\n'))
        text.remove_suffix(1);
    Digest key{};
    if (text.size() != 2 * key.size())
        return std::nullopt;
    for (std::size_t i = 0; i < text.size(); i++) {
        constexpr std::string_view digits = "0123456789abcdef";
        std::size_t value = digits.find(text[i]);
        if (value == digits.npos)
            return std::nullopt;
        key[i / 2] = static_cast<unsigned char>(key[i / 2] << 4 | value);
    }
    return key;
}

std::string_view bytes_of(const Digest &digest)
{
    return {reinterpret_cast<const char *>(digest.data()), digest.size()};
}

bool same_bytes(std::string_view a, std::string_view b)
{
    if (a.size() != b.size())
        return false;
    unsigned differs = 0;
    for (std::size_t i = 0; i < a.size(); i++)
        differs |=
            static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    return differs == 0;
}

std::string make_hello(const StepIdentity &us, const Digest &worker_nonce)
{
    std::string hello(step_magic);
    hello += bytes_of(us.program);
    return hello += bytes_of(worker_nonce);
}

std::string make_answer(const StepIdentity &us, std::string_view hello,
                        const Digest &srun_nonce)
{
    std::string answer(bytes_of(us.program));
    answer += bytes_of(srun_nonce);
    Digest proof =
        proof_of(us, "srun", hello.substr(hello_nonce), bytes_of(srun_nonce));
    return answer += bytes_of(proof);
}

std::string make_proof(const StepIdentity &us, const Digest &worker_nonce,
                       std::string_view answer)
{
    Digest proof = proof_of(us, "worker", answer.substr(answer_nonce, 32),
                            bytes_of(worker_nonce));
    return std::string(bytes_of(proof));
}

HelloFault check_hello(const StepIdentity &us, std::string_view hello)
{
    if (hello.size() != hello_size || !hello.starts_with(step_magic))
        return HelloFault::not_ours;
    if (hello.substr(hello_program, 32) != bytes_of(us.program))
        return HelloFault::other_program;
    return HelloFault::none;
}

bool check_answer(const StepIdentity &us, const Digest &worker_nonce,
                  std::string_view answer)
{
    if (answer.size() != answer_size ||
        answer.substr(0, 32) != bytes_of(us.program))
        return false;
    Digest wanted = proof_of(us, "srun", bytes_of(worker_nonce),
                             answer.substr(answer_nonce, 32));
    return same_bytes(answer.substr(answer_proof), bytes_of(wanted));
}

bool check_proof(const StepIdentity &us, std::string_view hello,
                 const Digest &srun_nonce, std::string_view proof)
{
    Digest wanted =
        proof_of(us, "worker", bytes_of(srun_nonce), hello.substr(hello_nonce));
    return same_bytes(proof, bytes_of(wanted));
}

} // namespace bridge
