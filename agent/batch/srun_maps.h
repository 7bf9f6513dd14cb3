// SPDX-License-Identifier: GPL-2.0-or-later
// Caches for providing srun to Pods: the program, valid as long as its file
// does not change, and what was last seen of the ConfigMap of each namespace.
// Safe to use from several threads.
#pragma once

#include "common/base/mailbox.h"
#include "common/base/result.h"

#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <sys/types.h>

namespace bridge {

struct SrunProgram {
    std::string bytes;
    std::string map; // the name of its ConfigMap
};
using SrunProgramPtr = std::shared_ptr<const SrunProgram>;

// A ConfigMap that had the program of its name when its whole content was last
// read.
struct SeenMap {
    std::string name;
    std::string uid{};          // another one if recreated; empty: not known
    Clock::time_point looked{}; // when it was seen to exist
};

// How long a ConfigMap is assumed to exist, and a refusal to hold, without a
// new request. This limits the requests when there are many jobs.
inline constexpr std::chrono::seconds map_believed{10};
inline constexpr std::chrono::seconds refusal_lifetime{60};

// How the ConfigMap is to be checked.
struct SrunLook {
    Clock::time_point now{};
    bool recent_will_do = false; // no request if it was seen a moment ago
};

class SrunMaps {
  public:
    // Returns the program, reading the file only if it has changed. Errors as
    // for read_srun().
    Result<SrunProgramPtr> program(const std::string &path);

    // Returns whether the caller is to check the ConfigMap of that name, and
    // then to call end_check(). While one caller checks it, the others rely on
    // the last result, but no longer than twice map_believed.
    bool begin_check(const std::string &ns, const std::string &name,
                     const SrunLook &look);
    void end_check(const std::string &ns);

    // Returns what was last seen, or nothing if the ConfigMap has not been seen
    // since the agent started.
    std::optional<SeenMap> seen(const std::string &ns) const;
    void record_seen(const std::string &ns, SeenMap seen);
    // Drops what was seen, so that it is not relied on any more.
    void forget(const std::string &ns);

    // refuse() stores why the API server refuses the ConfigMap in that
    // namespace. refused() returns that reason, or nothing if there was no
    // refusal within refusal_lifetime.
    void refuse(const std::string &ns, std::string reason,
                Clock::time_point now);
    std::optional<std::string> refused(const std::string &ns,
                                       Clock::time_point now) const;

  private:
    // Identifies a version of a file, to notice when it is replaced.
    struct FileState {
        dev_t device;
        ino_t inode;
        off_t size;
        time_t changed;      // seconds
        long changed_within; // nanoseconds
        bool operator==(const FileState &) const = default;
    };
    struct Refusal {
        std::string reason;
        Clock::time_point since;
    };
    static std::optional<FileState> state_of(const std::string &path);

    bool will_do(const std::string &ns, const std::string &name,
                 Clock::time_point now) const;

    mutable std::mutex mutex_;
    std::string path_;
    std::optional<FileState> state_;
    SrunProgramPtr program_;
    std::map<std::string, SeenMap> seen_;
    std::set<std::string> being_checked_; // namespaces being checked now
    std::map<std::string, Refusal> refused_;
};

} // namespace bridge
