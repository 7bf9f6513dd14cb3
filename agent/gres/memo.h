// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of requests of claims: the answers of gres_for() and
// fit_counts(), which check every device of the cluster, and what selectors
// came to for devices that jobs have. What is not known yet becomes a question;
// somebody else answers one at a time, see next(). Pods of one template ask the
// same. An answer about devices as they were before is used until there is a
// new one: devices may change faster than anybody could answer. Belongs to one
// thread.
#pragma once

#include "agent/gres/kept_answers.h"
#include "agent/gres/question_queue.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace bridge {

// Returns all parts of the request that decide which devices fit. Two requests
// have the same key only if these are equal.
std::string fit_key(const DeviceRequest &request);

class GresMemo {
  public:
    struct Asker {
        std::string ns;
        std::string gang;    // uid
        bool urgent = false; // its job has nodes
    };
    template <class Answer> struct Known {
        Answer answer;
        bool outdated = false; // of the devices of before
    };
    using KnownWish = Known<Result<GresWish>>;
    using KnownCounts = Known<std::shared_ptr<const FitCounts>>;

    // From now on answers for other devices are outdated.
    void turn_to(const std::shared_ptr<const DeviceCatalog> &catalog);

    // Return nothing if the answer is not known. take() returns the gang once
    // all is known that it has asked for, and again once all of that is of
    // these devices.
    std::optional<KnownWish> wish_for(const DeviceRequest &request,
                                      const Asker &asker);
    std::optional<KnownCounts> counts_for(const DeviceRequest &request,
                                          const Asker &asker);

    // Returns what is known of the selectors of a request and its class; null:
    // nothing. Devices may be missing, or be others now.
    std::shared_ptr<const SelectorResults>
    results_for(const DeviceRequest &request, const DeviceClass &device_class);
    // They are to be found for these devices, too.
    void ask_results(const DeviceRequest &request,
                     const DeviceClass &device_class,
                     std::set<DevicePtr> devices, const Asker &asker);

    // Changes when a wish or counts that were known may have become others.
    std::uint64_t version() const { return version_; }
    // Whether take() will return the gang; only since something is missing.
    bool awaits(const std::string &gang) const;
    bool misses(const std::string &gang) const;
    bool waits_for_share(const std::string &ns, Clock::time_point now) const
    {
        return queue_.waits_for_share(ns, now);
    }

    // As in QuestionQueue.
    std::optional<DeviceQuestion> next(Clock::time_point now);
    Clock::time_point due(Clock::time_point now) const
    {
        return queue_.due(now);
    }
    // Takes the answer to that question; nothing: there is none, and it is
    // asked again. Returns the gangs (uids) that should ask again: those for
    // which nothing is missing any more, or nothing is outdated.
    std::set<std::string> take(std::optional<DeviceAnswer> answer,
                               Clock::time_point now);

  private:
    // How many gangs of a namespace without room for a question try again when
    // one of its questions has an answer.
    static constexpr int most_woken = 10;

    const KeptAnswers::Kept *find(DeviceQuestion::Kind kind,
                                  const DeviceRequest &request,
                                  const Asker &asker);
    void ask(DeviceQuestion question, const Asker &asker);
    // Who has asked a question, and whether he has no answer at all.
    using Askers = std::map<std::string, bool>;
    // Those that a gang has asked and that are not answered.
    struct Open {
        std::size_t missing = 0;
        std::size_t outdated = 0;
    };
    // Gangs in the order in which they came.
    using Line = std::map<std::uint64_t, std::string>;

    void note(Askers &askers, const std::string &gang, bool missing);
    void ask_again(const std::string &id, Askers askers);
    void answered(const Askers &askers, std::set<std::string> &gangs);
    void wake_roomless(const std::string &ns, std::set<std::string> &gangs);
    void keep(const DeviceQuestion &question, DeviceAnswer answer);

    std::shared_ptr<const DeviceCatalog> catalog_;
    std::uint64_t catalogs_ = 0;
    std::uint64_t asked_of_ = 0; // which of them: of the question under way
    KeptAnswers known_;
    QuestionQueue queue_;
    std::map<std::string, Askers> askers_; // by question
    Askers askers_under_way_;              // of the question under way
    std::map<std::string, Open> open_;     // by gang
    std::map<std::string, Line> roomless_; // by namespace
    Askers all_roomless_;                  // who may be in one of these
    std::uint64_t places_ = 0;
    std::uint64_t version_ = 0;
};

} // namespace bridge
