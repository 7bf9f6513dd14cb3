// SPDX-License-Identifier: GPL-2.0-or-later
// When Slurm's jobs are listed: full records of all of them from time to time,
// and when something was missed, and their states every few seconds while
// something waits or lives. Requests the lists; what they show is not its
// concern. Owner thread only.
#pragma once

#include "agent/owner/context.h"
#include "agent/owner/errands.h"
#include "agent/owner/plugin_line.h"

namespace bridge {

// After this time slurmctld has answered, or carried out, any request.
inline constexpr std::chrono::seconds answer_time{2};

class JobLists {
  public:
    JobLists(Context &context, const Errands &errands, PluginLine &line)
        : context_(context), errands_(errands), line_(line)
    {
    }

    // Asks for a list at once, and if one is being made for another one after
    // it; at this time at the latest.
    void list_soon();
    void list_by(Clock::time_point when);

    // When a list is to be requested; never while one is being made.
    Clock::time_point list_due() const;
    void request_list(); // answered by JobsLoaded
    // Returns false if that failed; it is requested again.
    bool take(const JobsLoaded &loaded);

    // When the last list was requested, and how often slurmctld had gone away
    // by then.
    Clock::time_point asked() const { return asked_; }
    unsigned absences() const { return absences_; }

    // The same for the states: look() is due every few seconds.
    struct Wanted {
        bool waits = false;  // a job waits in Slurm
        bool untold = false; // and a Pod of it does not say why
        bool lives = false;  // a Pod lives
    };
    Clock::time_point look_due() const;
    void look(const Wanted &wanted);
    bool take(const StatesLoaded &loaded);
    Clock::time_point states_asked() const { return states_asked_; }

  private:
    Context &context_;
    const Errands &errands_;
    PluginLine &line_;

    Clock::time_point due_{};
    Clock::time_point asked_{};
    bool loading_ = false;
    bool again_ = false; // something came while a list was made
    // What list_by() said meanwhile.
    Clock::time_point next_ = Clock::time_point::max();
    unsigned absences_ = 0;

    Clock::time_point look_due_{};
    Clock::time_point states_asked_{};
    bool loading_states_ = false;
};

} // namespace bridge
