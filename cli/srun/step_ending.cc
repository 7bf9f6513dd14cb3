// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_ending.h"

#include "common/base/padded.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>

namespace bridge {

using namespace std::chrono_literals;

namespace {

// The time that Slurm adds to KillWait before it gives up on a node.
constexpr auto abort_time = 20s;

// Formats the time like slurm_make_time_str(), but in UTC, because the program
// has no time zone data.
std::string utc_time_text()
{
    auto now = std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now());
    auto day = std::chrono::floor<std::chrono::days>(now);
    std::chrono::year_month_day date(day);
    std::chrono::hh_mm_ss time(now - day);
    auto two = [](auto number) {
        return padded(static_cast<std::uint32_t>(number), 2);
    };
    return two(static_cast<int>(date.year())) + "-" +
           two(static_cast<unsigned>(date.month())) + "-" +
           two(static_cast<unsigned>(date.day())) + "T" +
           two(time.hours().count()) + ":" + two(time.minutes().count()) + ":" +
           two(time.seconds().count()) + "Z";
}

} // namespace

void StepEnding::check_limits()
{
    auto now = StepClock::now();
    if (give_up_at_ && now >= *give_up_at_)
        gave_up_ = true;
    if (options_.wait > 0 && states_.any_ended() && !wait_ends_ &&
        states_.left() > 0)
        wait_ends_ = now + std::chrono::seconds(options_.wait);
    if (wait_ends_ && now >= *wait_ends_ && !forced_) {
        inform("First task exited " + std::to_string(options_.wait) + "s ago");
        print_status();
        forced_ = true;
        send_signal(SIGKILL);
        give_up_at_ = now + std::chrono::seconds(kill_wait_) + abort_time;
    }
}

std::optional<StepClock::time_point> StepEnding::next_limit() const
{
    auto limit = give_up_at_;
    if (wait_ends_ && !forced_)
        limit = limit ? std::min(*limit, *wait_ends_) : *wait_ends_;
    return limit;
}

void StepEnding::handle_signal(int number)
{
    switch (number) {
    case SIGINT:
        interrupt();
        break;
    case SIGQUIT:
        inform("Quit");
        [[fallthrough]];
    case SIGTERM:
    case SIGHUP:
        force();
        break;
    default:
        send_signal(static_cast<std::uint32_t>(number));
    }
}

void StepEnding::interrupt()
{
    auto now = StepClock::now();
    if (options_.quit_on_interrupt ||
        (interrupted_ && now - *interrupted_ < 1s)) {
        inform("sending Ctrl-C to " + step_name_);
        send_signal(SIGINT);
        force();
    } else if (options_.disable_status) {
        inform("sending Ctrl-C to " + step_name_);
        send_signal(SIGINT);
    } else if (!begun_) {
        inform("interrupt (one more within 1 sec to abort)");
        print_status();
    }
    interrupted_ = now;
}

// The second call kills the tasks at once.
void StepEnding::force()
{
    if (forced_)
        return;
    if (!begun_)
        inform("forcing job termination");
    else
        forced_ = true;
    if (forced_) {
        inform("job abort in progress");
        send_signal(SIGKILL);
    } else {
        begin();
    }
}

void StepEnding::end_step()
{
    if (begun_ || states_.left() == 0)
        return;
    inform("Terminating " + step_name_);
    begin();
}

// Prints the messages of slurmstepd, which prints one, and of srun. All Pods of
// a cancelled job end together.
void StepEnding::cancelled(const std::string &node)
{
    if (told_cancelled_ && !options_.no_kill)
        return;
    told_cancelled_ = true;
    std::string step = step_name_.substr(step_name_.find('=') + 1);
    messages_.add(message_line(
        "error: *** STEP " + step + " ON " + node + " CANCELLED AT " +
        utc_time_text() + " DUE to SIGNAL " + sigdescr_np(SIGTERM) + " ***"));
    if (begun_ || options_.no_kill || states_.left() == 0)
        return;
    auto longest = std::chrono::seconds(kill_wait_) + abort_time;
    inform("Job step aborted: Waiting up to " +
           std::to_string(longest.count()) +
           " seconds for job step to finish.");
    begin();
}

void StepEnding::begin()
{
    begun_ = true;
    send_signal(0);
    give_up_at_ =
        StepClock::now() + std::chrono::seconds(kill_wait_) + abort_time;
}

void StepEnding::send_signal(std::uint32_t number)
{
    for (StepLink &link : links_)
        link.queue_frame(StepFrameKind::signal,
                         FieldWriter().number(number).take());
}

void StepEnding::inform(std::string_view words)
{
    if (!options_.quiet)
        messages_.add(message_line(words));
}

void StepEnding::print_status()
{
    for (const std::string &line : states_.describe())
        inform(line);
}

} // namespace bridge
