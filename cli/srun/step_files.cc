// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_files.h"

#include "common/base/text.h"
#include "common/contract/batch_names.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace bridge {

using namespace std::chrono_literals;

std::string step_directory()
{
    const char *directory = std::getenv("SLURMK8S_STEP_DIR");
    return directory ? directory : names::batch_mount;
}

std::uint16_t step_port()
{
    return static_cast<std::uint16_t>(
        number_from_environment("SLURMK8S_STEP_PORT", 6818));
}

Result<StepIdentity> load_identity()
{
    StepIdentity identity;
    std::string path = step_directory() + "/step.key";
    auto key = read_file(path, 256);
    if (!key)
        return fail(Code::not_found, path + ": " + errno_message(errno));
    auto digest = parse_step_key(*key);
    if (!digest)
        return fail(Code::rejected, path + " contains no key");
    identity.key = *digest;
    auto program = read_file("/proc/self/exe", 16 << 20);
    if (!program)
        return fail(Code::not_found, "/proc/self/exe: " + errno_message(errno));
    identity.program = sha256(*program);
    return identity;
}

Digest make_nonce()
{
    Digest nonce;
    for (std::size_t have = 0; have < nonce.size();) {
        ssize_t got = getrandom(nonce.data() + have, nonce.size() - have, 0);
        if (got > 0)
            have += static_cast<std::size_t>(got);
    }
    return nonce;
}

Result<std::vector<StepHost>>
wait_for_hosts(std::uint32_t count, std::optional<StepClock::time_point> limit)
{
    std::string path = step_directory() + "/hosts/hosts";
    auto next_words = StepClock::now() + 5s;
    for (;;) {
        auto text = read_file(path, 16 << 20);
        Result<std::vector<StepHost>> hosts =
            text ? parse_hosts_file(*text, count)
                 : fail(Code::not_found, path + ": " + errno_message(errno));
        if (hosts)
            return hosts;
        if (hosts.error().code != Code::not_found)
            return fail(hosts.error(), path);
        auto now = StepClock::now();
        if (limit && now >= *limit)
            return fail(Code::busy, "the Pods of this job have no addresses: " +
                                        hosts.error().message);
        if (now >= next_words) {
            print_line("waiting until all Pods of this job run: " +
                       hosts.error().message);
            next_words = now + 30s;
        }
        std::this_thread::sleep_for(200ms);
    }
}

std::uint32_t next_step_id(std::uint32_t job)
{
    std::string path = std::string(names::batch_pipes_mount) + "/step.id";
    if (access(names::batch_pipes_mount, W_OK) != 0 ||
        std::getenv("SLURMK8S_STEP_DIR"))
        path = "/tmp/slurmk8s-" + std::to_string(job) + ".step.id";
    OwnedFd fd(
        open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    struct stat facts;
    if (!fd || fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
        facts.st_uid != geteuid() || flock(fd.get(), LOCK_EX) != 0)
        return 0;
    char text[16];
    ssize_t got = pread(fd.get(), text, sizeof text, 0);
    std::string_view had(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    std::uint32_t id = whole_number<std::uint32_t>(had).value_or(0);
    std::string next = std::to_string(id + 1);
    [[maybe_unused]] ssize_t written =
        pwrite(fd.get(), next.data(), next.size(), 0);
    return id;
}

} // namespace bridge
