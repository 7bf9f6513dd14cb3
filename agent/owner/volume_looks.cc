// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/owner/volume_looks.h"

#include "agent/decide/messages.h"
#include "agent/gang/facts.h"
#include "agent/gang/volumes.h"
#include "common/base/backoff.h"

#include <algorithm>

namespace bridge {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds first_volume_look{250}; // until claims are bound
constexpr seconds last_bind_look{5};
constexpr seconds first_claim_look{1}; // until claims exist
constexpr seconds last_claim_look{30};
constexpr seconds volumes_believed{60};

} // namespace

// What was read is used until the job is requested; while it is not sufficient
// it is read again from time to time.
void VolumeLooks::refresh(GangEntry &entry)
{
    Gang &gang = entry.gang;
    bool asked = gang.job && !is_ended(gang.job->state);
    bool enough = gang.volumes && gang.volumes->reason.empty();
    bool again = wants_node(gang) && !(asked && enough);
    bool others = !std::ranges::includes(entry.claims_read, claim_names(gang));
    if (gang.volumes &&
        ((again && entry.volumes_due <= context_.now) || others))
        gang.volumes.reset();
    if (gang.volumes && again && !enough)
        agenda_.wake_at(entry, entry.volumes_due);
}

void VolumeLooks::take(GangEntry &entry, VolumesSeen &seen,
                       const Action &action)
{
    Gang &gang = entry.gang;
    gang.volumes = std::move(seen.needs);
    entry.volumes_used = false; // until the gang's next turn
    entry.claims_read = std::move(seen.claims);
    bool enough = gang.volumes->reason.empty() &&
                  (is_kind<LookVolumes>(action) || !gang.volumes->unbound);
    Clock::duration delay =
        is_kind<BindVolumes>(action)
            ? doubled<Clock::duration>(first_volume_look, last_bind_look,
                                       entry.volume_looks)
            : doubled<Clock::duration>(first_claim_look, last_claim_look,
                                       entry.volume_looks);
    entry.volumes_due = context_.now + (enough ? volumes_believed : delay);
    if (enough) {
        entry.volume_looks = 0;
        Attempts::bind_goes_on(entry);
    } else if (is_kind<BindVolumes>(action)) {
        attempts_.bind_delayed(entry);
        attempts_.hold(entry, action, delay);
        if (entry.volume_looks > 2 && gang.job)
            voice_.say(entry, volumes_wait_message(gang.job->ref,
                                                   gang.volumes->reason));
    }
    if (!enough)
        entry.volume_looks++;
}

} // namespace bridge
