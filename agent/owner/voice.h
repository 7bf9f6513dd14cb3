// SPDX-License-Identifier: GPL-2.0-or-later
// What users read about their Pods: the condition of Pods that wait, and
// Events. Says nothing twice, and drops what is still queued when it is not
// true any more. The words are in agent/decide/messages.h. Owner thread only.
#pragma once

#include "agent/decide/messages.h"
#include "agent/gang/action.h"
#include "agent/gang/store.h"
#include "agent/owner/errands.h"
#include "agent/owner/known_nodes.h"
#include "agent/owner/wait_messages.h"
#include "common/contract/autoscaler_names.h"

#include <string>

namespace bridge {

class Voice {
  public:
    Voice(const Errands &errands, GangStore &gangs, const KnownNodes &nodes)
        : errands_(errands), gangs_(gangs), nodes_(nodes),
          messages_(errands, gangs)
    {
    }

    // Sets the message on each waiting Pod, as its condition with the reason
    // that the gang has (scheduled_reason()) and as an Event, unless the Pod
    // shows both already. more is added to the message; a change of more alone
    // is not worth a write.
    void say(GangEntry &entry, const std::string &message,
             const std::string &more = {})
    {
        say(entry, scheduled_reason(entry.gang), message, more);
    }
    // The same for a gang whose request is wrong or not allowed, which no node
    // would help.
    void say_refused(GangEntry &entry, const std::string &message)
    {
        say(entry, no_job_reason, message, {});
    }
    // The same, with the reason that makes autoscalers buy nodes.
    void say_unschedulable(GangEntry &entry, const std::string &message)
    {
        say(entry, names::unschedulable, message, {});
    }

    // Says why Slurm lets the gang's job wait.
    void say_pending_reason(GangEntry &entry);

    // The Pods are about to be bound: what is queued is dropped.
    void hush(GangEntry &entry) const;

    // The Pod is as the watch shows it. If it shows an outdated message of its
    // gang, and no newer one is on its way, it gets the message again when that
    // is due.
    void check(const Pod &pod);
    // The Pod (a uid) is gone.
    void forget(const std::string &pod) { messages_.forget(pod); }

    // Posts a Warning on the living Pods.
    void warn(const Gang &gang, const std::string &reason,
              const std::string &text) const;
    // The same, unless it is what was said last.
    void warn_once(GangEntry &entry, const std::string &reason,
                   const std::string &text);

    // Posts an Event on each Pod that the binding has bound.
    void say_bound(const Gang &gang, const Bind &bind) const;

  private:
    void say(GangEntry &entry, const std::string &reason,
             const std::string &message, const std::string &more);
    std::string nominated(const Gang &gang) const;

    const Errands &errands_;
    GangStore &gangs_;
    const KnownNodes &nodes_;
    WaitMessages messages_;
};

} // namespace bridge
