// SPDX-License-Identifier: GPL-2.0-or-later
// Which question about devices is answered next. One is under way at a time.
// Namespaces take turns, and each has a share of the evaluation. Questions of
// gangs whose jobs have nodes come first and need no share, and are as many as
// all others together at most: each second turn is one of the others'. Users
// write requests, so what waits of a namespace is bounded. Belongs to one
// thread.
#pragma once

#include "agent/gres/cel_shares.h"
#include "agent/gres/device_question.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace bridge {

class QuestionQueue {
  public:
    // Of a namespace, so many questions of each rank and so many bytes of
    // their selectors wait, or one question of that rank.
    static constexpr std::size_t most = 40;
    static constexpr std::size_t most_bytes = 1'000'000;
    // How long a question waits whose answer failed, doubled each time.
    static constexpr std::chrono::seconds first_pause{1};
    static constexpr std::chrono::seconds last_pause{60};

    enum class Added {
        waits,
        under_way, // the one under way answers it, too
        no_room,   // too many wait: the namespace has to ask again
    };
    // If it waits already, it gets the better rank and the devices of both.
    Added add(DeviceQuestion question);

    // Returns the question that is to be answered now. Nothing: one is under
    // way, there is none, or all have to wait, until due().
    std::optional<DeviceQuestion> next(Clock::time_point now);
    Clock::time_point due(Clock::time_point now) const;

    // The question under way has an answer, for so many steps; nobody else need
    // ask the same. Returns the namespaces of those whose questions this was.
    // Or it has failed, and all of them ask again later.
    std::set<std::string> answered(std::size_t cost, Clock::time_point now);
    void failed(Clock::time_point now);
    const std::optional<DeviceQuestion> &under_way() const
    {
        return under_way_;
    }

    bool any_of(const std::string &ns) const { return waiting_.contains(ns); }
    // Whether a question with this id waits, the one under way apart.
    bool waits(const std::string &id) const;
    // Whether questions of the namespace wait for its next share.
    bool waits_for_share(const std::string &ns, Clock::time_point now) const;

  private:
    struct Waiting {
        DeviceQuestion question;
        std::uint64_t place = 0; // those that came first are answered first
        Clock::time_point not_before{};
        unsigned failures = 0;
    };
    using OfNamespace = std::map<std::string, Waiting>; // by id

    static bool has_room(const OfNamespace &own, const DeviceQuestion &more);
    bool has_share(const DeviceQuestion &question, Clock::time_point now) const;
    Waiting *best_of(OfNamespace &own, bool urgent, Clock::time_point now);
    std::optional<DeviceQuestion> take(bool urgent, Clock::time_point now);
    static void join(DeviceQuestion &waits, DeviceQuestion more);
    void wait_again(DeviceQuestion question, Clock::time_point not_before);

    std::map<std::string, OfNamespace> waiting_; // none of these is empty
    std::optional<DeviceQuestion> under_way_;
    // Who else has asked that meanwhile, by namespace.
    std::map<std::string, DeviceQuestion> joined_;
    unsigned failures_ = 0; // of the one under way
    bool urgent_next_ = true;
    std::string last_ns_[2]; // whose turn it was: others', urgent ones'
    std::uint64_t places_ = 0;
    CelShares shares_;
};

} // namespace bridge
