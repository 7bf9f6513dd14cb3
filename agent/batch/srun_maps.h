// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent knows of srun for Pods without asking again: the program, for
// as long as its file is the same, and the ConfigMap of each namespace, as it
// was looked at last. Safe from several threads.
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

// A ConfigMap that had the program of its name when all of it was looked at.
struct SeenMap {
    std::string name;
    std::string uid{}; // one that is made anew has another; empty: not known
    Clock::time_point looked{}; // it was there then
};

// So long one is taken to be there still, and a refusal to stand, where jobs
// are many.
inline constexpr std::chrono::seconds map_believed{10};
inline constexpr std::chrono::seconds refusal_believed{60};

// How a ConfigMap is looked at.
struct SrunLook {
    Clock::time_point now{};
    bool recent_will_do = false; // no request where it was seen a moment ago
};

class SrunMaps {
  public:
    // Read again only where the file has changed. Errors as of read_srun().
    Result<SrunProgramPtr> program(const std::string &path);

    // Whether the caller is to look at the ConfigMap of that name, and then to
    // say end_look(). Many come at once: while one looks the others believe
    // what was seen, but no longer than twice map_believed.
    bool begin_look(const std::string &ns, const std::string &name,
                    const SrunLook &look);
    void end_look(const std::string &ns);

    // Nothing: none was seen since the agent started.
    std::optional<SeenMap> seen(const std::string &ns) const;
    void note(const std::string &ns, SeenMap seen);
    // What was seen is not to be relied on any more.
    void forget(const std::string &ns);

    // Why there is none in that namespace, where the API server has said so for
    // long. Nothing: it has not, lately.
    void refuse(const std::string &ns, std::string why, Clock::time_point now);
    std::optional<std::string> refused(const std::string &ns,
                                       Clock::time_point now) const;

  private:
    // By which a file is told from one that has taken its place.
    struct FileState {
        dev_t device;
        ino_t inode;
        off_t size;
        time_t changed;      // seconds
        long changed_within; // nanoseconds
        bool operator==(const FileState &) const = default;
    };
    struct Refusal {
        std::string why;
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
    std::set<std::string> looked_at_; // namespaces, now
    std::map<std::string, Refusal> refused_;
};

} // namespace bridge
