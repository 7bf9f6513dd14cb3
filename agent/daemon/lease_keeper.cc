// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/lease_keeper.h"

#include "common/base/log.h"
#include "common/kube/text.h"

#include <exception>
#include <utility>

namespace bridge {

namespace {

std::string time_now()
{
    return micro_time(std::chrono::system_clock::now());
}

} // namespace

LeaseKeeper::LeaseKeeper(Parts parts, LeaseHolder us, Events events)
    : parts_(std::move(parts)), us_(std::move(us)), events_(std::move(events))
{
}

void LeaseKeeper::step()
{
    if (!parts_.permit.socket_is_ours())
        return end("another agent has taken the socket, or it was removed");
    if (!read_again_) // a renewal shows whether anything has changed
        return handle_record(record_, parts_.now());
    auto record = parts_.store.read();
    if (!record)
        return trouble(record.error());
    handle_record(*record,
                  parts_.now()); // it may have changed just before the answer
}

void LeaseKeeper::handle_record(const LeaseRecord &record,
                                BootClock::time_point now)
{
    record_ = record;
    watch_.see(record, now);
    Control control = parts_.control();
    switch (lease_move(record, us_, holding_, watch_.expired(now), control)) {
    case LeaseMove::wait:
        return wait_for_turn(record, control);
    case LeaseMove::renew:
        if (read_again_ && record.renewed == sent_) // the answer was lost
            confirm(record);
        return write(taken(record, us_, time_now()), now);
    case LeaseMove::take:
        return write(taken(record, us_, time_now()), now);
    case LeaseMove::give_back:
        return end("slurmctld of another host is in control");
    case LeaseMove::lost:
        return end(record.holder.empty()
                       ? "somebody took the Lease away"
                       : holder_host(record.holder) + " has taken the Lease");
    }
}

void LeaseKeeper::write(const LeaseRecord &record, BootClock::time_point now)
{
    sent_ = record.renewed;
    sent_at_ = now;
    auto written = parts_.store.write(record);
    if (!written)
        return trouble(written.error());
    read_again_ = false;
    confirm(*written);
}

// The Lease is trusted from the time at which the request was sent.
void LeaseKeeper::confirm(const LeaseRecord &record)
{
    record_ = record;
    watch_.see(record_, sent_at_);
    parts_.permit.grant_until(sent_at_ + lease_trust);
    publish({});
    if (!holding_) {
        log_info("acquired the Lease", {{"holder", us_.str()}});
        events_.acquired(); // if this throws, the next step tries again
        holding_ = true;
    }
}

void LeaseKeeper::wait_for_turn(const LeaseRecord &record, Control control)
{
    if (control == Control::unknown)
        return publish({"no slurmctld has been in control yet", {}});
    if (record.holder.empty())
        return publish({"slurmctld of another host is in control", {}});
    publish({holder_host(record.holder) + " has the Lease", {}});
}

// A conflict is not an error: the next step reads who was faster.
void LeaseKeeper::trouble(const Error &error)
{
    read_again_ = true;
    if (error.code == Code::conflict)
        return;
    std::string words = error.message;
    // Other errors with the same Codes are about the token.
    if (words.contains("HTTP 403") || words.contains("HTTP 404"))
        words +=
            "; \"kubectl apply -k contribs/kubernetes\" makes its namespace "
            "and gives the right to use it";
    else if (words.contains("HTTP 401"))
        words += "; KubeTokenFile has to have a token that is valid: \"kubectl "
                 "-n slurm-k8s-bridge create token slurmk8sd\" makes one";
    publish({holding_ ? std::string() : "the Lease cannot be used", words});
}

void LeaseKeeper::end(const std::string &reason)
{
    parts_.permit.revoke();
    ended_ = true;
    events_.ended(reason);
}

void LeaseKeeper::publish(LeaseNews news)
{
    if (std::exchange(told_any_, true) && news == told_)
        return;
    told_ = news;
    events_.news(std::move(news));
}

void LeaseKeeper::give_back()
{
    parts_.permit.revoke();
    if (record_.holder != us_.str())
        return;
    auto given = parts_.store.write(given_back(record_, time_now()));
    if (!given)
        log_warning("the Lease was not given back, it will expire",
                    {{"err", given.error().message}});
}

LeaseThread::LeaseThread(LeaseKeeper &keeper)
    : keeper_(keeper), thread_([this](std::stop_token stop) { run(stop); })
{
}

void LeaseThread::stop()
{
    thread_.request_stop();
    if (thread_.joinable())
        thread_.join();
}

void LeaseThread::run(std::stop_token stop)
{
    while (!stop.stop_requested() && !keeper_.ended()) {
        auto next = std::chrono::steady_clock::now() + lease_interval;
        try {
            keeper_.step();
        } catch (const std::exception &e) { // such as out of memory
            log_error("cannot check the Lease, retrying", {{"err", e.what()}});
        }
        std::unique_lock lock(mutex_);
        stopped_.wait_until(lock, stop, next, [] { return false; });
    }
}

} // namespace bridge
