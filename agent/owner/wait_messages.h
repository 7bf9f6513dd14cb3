// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the messages that Pods show while they wait. At most one message of a
// Pod is queued or being written; when it changes meanwhile, the latest is
// written. What fails is repeated for that Pod alone. Owner thread only.
#pragma once

#include "agent/gang/store.h"
#include "agent/owner/errands.h"

#include <memory>
#include <string>
#include <unordered_map>

namespace bridge {

// A message as a Pod shows it: condition_message(). The Pod may show more words
// behind it.
struct ShownMessage {
    std::string reason;
    std::string message;

    bool operator==(const ShownMessage &) const = default;
};

// Tells whether the Pod has this message in its condition.
bool shows(const Pod &pod, const ShownMessage &shown);

// Tells whether a message would be true: the Pod waits for a node.
bool may_be_told(const Pod &pod);

class WaitMessages {
  public:
    WaitMessages(const Errands &errands, GangStore &gangs)
        : errands_(errands), gangs_(gangs)
    {
    }

    // Writes the message, as a condition and an Event, instead of one that is
    // still queued. Does nothing if it is what was written last and the watch
    // does not show yet. If it cannot be written, or somebody replaces it at
    // once, entry.told is cleared, so that it is said again.
    void tell(GangEntry &entry, const PodPtr &pod, const PodWait &wait,
              const ShownMessage &shown);
    // The Pod shows the right message already: what is queued is dropped.
    void withdraw(const Pod &pod);

    // The Pod is as the watch shows it.
    void note(const Pod &pod);
    // The Pod (a uid) is gone.
    void forget(const std::string &pod);

    // Tells whether the message is queued, or written but not yet shown by the
    // watch.
    bool is_on_its_way(const Pod &pod, const ShownMessage &shown) const;

  private:
    // What waits for a worker.
    class Slot;
    // The latest message for a Pod, from when it is queued until the watch
    // shows it.
    struct Report {
        std::shared_ptr<Slot> slot; // is never null
        bool queued = false;        // a task for it waits or runs
        std::string gang;           // uid
        ShownMessage shown{};       // no message: the Pod shows the right one
    };
    void push(const std::string &uid, const std::string &ns, Report &report);
    void answered(const std::string &uid, const std::string &ns,
                  const Result<bool> &wrote);
    static bool has_followed(const Pod &pod, const Report &report);

    const Errands &errands_;
    GangStore &gangs_;
    std::unordered_map<std::string, Report> reports_; // by the Pod's uid
};

} // namespace bridge
