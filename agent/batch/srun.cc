// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/srun.h"

#include "agent/batch/launcher.h"
#include "agent/objects/owner_reference.h"
#include "common/base/hexadecimal.h"
#include "common/base/read_file.h"
#include "common/contract/names.h"
#include "common/kube/base64.h"
#include "common/kube/text.h"

#include <array>
#include <filesystem>
#include <openssl/evp.h>
#include <span>
#include <system_error>

namespace bridge {

namespace {

// The largest ConfigMap; base64 is not counted.
constexpr std::size_t most_bytes = 1024 * 1024;
constexpr std::size_t name_bytes = 8; // of the hash, in the name
constexpr std::size_t key_bytes = 32;
constexpr std::size_t max_message_bytes = 500; // bytes

// Returns SHA-256 in hexadecimal digits, or "" when it cannot be computed.
std::string sum_of(std::string_view text)
{
    std::array<unsigned char, EVP_MAX_MD_SIZE> sum{};
    unsigned size = 0;
    if (EVP_Digest(text.data(), text.size(), sum.data(), &size, EVP_sha256(),
                   nullptr) != 1)
        return {};
    return hexadecimal(std::span(sum).first(size));
}

bool has_shape_of_ours(const Json &service)
{
    auto selector = service.texts("spec/selector");
    return service.text("spec/clusterIP") == "None" &&
           service.flag("spec/publishNotReadyAddresses") &&
           service.items("spec/ports").empty() && selector.size() == 1 &&
           selector[names::gang_label] == service.text("metadata/name");
}

// Returns the uid of the Pod with that name if it is the only owner of the
// Service. Returns "" otherwise, or if the Service is not like ours.
std::string owner_uid(const Json &service, const Pod &pod)
{
    auto owners = service.items("metadata/ownerReferences");
    bool its = has_shape_of_ours(service) && owners.size() == 1 &&
               owners.front().text("apiVersion") == "v1" &&
               owners.front().text("kind") == "Pod" &&
               owners.front().text("name") == pod.key.name;
    return its ? owners.front().text("uid") : std::string();
}

bool is_going(const Json &service)
{
    return !service.text("metadata/deletionTimestamp").empty();
}

} // namespace

std::string_view srun_architecture()
{
#if defined(__x86_64__)
    return "amd64";
#elif defined(__aarch64__)
    return "arm64";
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
    return "ppc64le";
#elif defined(__s390x__)
    return "s390x";
#elif defined(__riscv) && __riscv_xlen == 64
    return "riscv64";
#elif defined(__i386__)
    return "386";
#elif defined(__arm__)
    return "arm";
#else
    return "";
#endif
}

Result<std::string> read_srun(const std::string &path)
{
    std::error_code unknown;
    if (path.empty() || (!std::filesystem::exists(path, unknown) && !unknown))
        return fail(Code::not_found,
                    "this slurmk8sd was built without srun for Pods, for which "
                    "configure needs static libraries");
    // This error may pass, for example when too many files are open.
    auto bytes = read_file(path, any_size);
    if (unknown || !bytes)
        return fail(Code::busy, path + " cannot be read");
    if (bytes->empty() || bytes->size() > most_bytes)
        return fail(Code::rejected,
                    path + " has " + std::to_string(bytes->size()) +
                        " bytes: a ConfigMap holds 1 to 1048576");
    return bytes;
}

std::string srun_map_name(std::string_view program)
{
    // Without a hash the API server refuses the name.
    return "slurmk8s-srun-" + sum_of(program).substr(0, 2 * name_bytes);
}

std::string srun_map_body(const ObjectKey &key, std::string_view program)
{
    return JsonValue::object(
               {{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", JsonValue::object(
                                 {{"name", key.name}, {"namespace", key.ns}})},
                {"immutable", true},
                {"binaryData", JsonValue::object({{"srun", base64(program)}})}})
        .dump();
}

bool is_srun_map(const Json &map, std::string_view program)
{
    return map.flag("immutable") &&
           map.text("binaryData/srun") == base64(program);
}

std::string batch_service_body(const Pod &first, const Pod &worker)
{
    auto metadata = JsonValue::object(
        {{"name", first.key.name},
         {"namespace", first.key.ns},
         {"ownerReferences",
          JsonValue::array({owner_reference(worker.key.name, worker.uid)})}});
    auto spec = JsonValue::object(
        {{"clusterIP", "None"},
         {"publishNotReadyAddresses", true},
         {"selector",
          JsonValue::object({{names::gang_label, first.key.name}})}});
    return JsonValue::object({{"apiVersion", "v1"},
                              {"kind", "Service"},
                              {"metadata", std::move(metadata)},
                              {"spec", std::move(spec)}})
        .dump();
}

bool is_service_of(const Json &service, const Pod &owner)
{
    return owner_uid(service, owner) == owner.uid && !is_going(service);
}

bool was_service_of(const Json &service, const Pod &worker)
{
    std::string owner = owner_uid(service, worker);
    return !owner.empty() && (owner != worker.uid || is_going(service));
}

Result<std::string> new_step_key()
{
    std::string key = random_hexadecimal(key_bytes);
    if (key.empty())
        return fail(Code::busy, "cannot read random numbers");
    return key;
}

std::string step_key_of(const std::string &random, const std::string &pod)
{
    return sum_of(random + " " + pod);
}

std::string no_srun_script(const std::string &reason)
{
    std::string words =
        "srun: error: this job has no srun: " +
        (reason.empty() ? "its Pods were made before srun was available"
                        : clean_text(reason, max_message_bytes));
    return "#!/bin/sh\nprintf '%s\\n' " + shell_word(words) + " >&2\nexit 1\n";
}

} // namespace bridge
