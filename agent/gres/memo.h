// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of requests of claims: the answers of gres_for() and
// fit_counts(), which check every device of the cluster. What is not known yet
// becomes a question; somebody else answers one at a time, see next(). Pods of
// one template ask the same. Users write requests, so all that is kept is
// bounded, and namespaces take turns: one that asks for much waits for itself.
// Belongs to one thread.
#pragma once

#include "agent/gres/catalog.h"
#include "agent/gres/cel_shares.h"
#include "agent/gres/fit_counts.h"

#include <cstddef>
#include <cstdint>
#include <deque>
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
    // Of the requests in questions: an answer serves all names.
    static constexpr char any_name[] = "\x01";
    // How many questions of a namespace are kept, and how much of all answers:
    // an answer counts as its Nodes, and a few more.
    static constexpr std::size_t most_questions = 40;
    static constexpr std::size_t most_kept = 500'000;

    enum class Kind {
        wish,   // what gres_for() returns
        counts, // what fit_counts() returns
    };
    struct Asker {
        std::string ns;
        std::string gang; // uid
    };
    struct Question {
        Kind kind = Kind::wish;
        std::string id;
        std::string ns;        // whose share it takes
        DeviceRequest request; // called any_name
    };
    struct Answer {
        Result<GresWish> wish = GresWish{};
        std::shared_ptr<const FitCounts> counts = {}; // of Kind::counts
        std::size_t cost = 0;                         // see CelShares
    };

    // Forgets the answers for other devices.
    void turn_to(const std::shared_ptr<const DeviceCatalog> &catalog);

    // Return nothing, or null, if the answer is not known; take() returns the
    // gang once all is known that it has asked for.
    std::optional<Result<GresWish>> wish_for(const DeviceRequest &request,
                                             const Asker &asker);
    std::shared_ptr<const FitCounts> counts_for(const DeviceRequest &request,
                                                const Asker &asker);
    // Whether questions of the namespace wait for its next share.
    bool waits_for_share(const std::string &ns, Clock::time_point now) const;

    // Returns the question that is to be answered now. Nothing: one is being
    // answered, there is none, or all are of namespaces that have to wait.
    std::optional<Question> next(Clock::time_point now);
    // Takes the answer to that question; nothing: there is none. Returns the
    // gangs (uids) that should ask again.
    std::set<std::string> take(std::optional<Answer> answer,
                               Clock::time_point now);

  private:
    struct Known {
        Answer answer;
        std::string ns; // that asked for it
        std::size_t weight = 0;
        std::uint64_t used = 0; // when, in calls
    };

    const Answer *find(Kind kind, const DeviceRequest &request,
                       const Asker &asker);
    void ask(Kind kind, const std::string &id, const DeviceRequest &request,
             const Asker &asker);
    std::set<std::string> answered(const std::string &id);
    void keep(const Question &question, Answer answer);
    void make_room();

    // The devices of the answers, and of the question that is being answered.
    std::shared_ptr<const DeviceCatalog> catalog_;
    std::shared_ptr<const DeviceCatalog> asked_of_;
    std::map<std::string, Known> known_;         // by Question::id
    std::map<std::string, std::size_t> weights_; // of known_, by namespace
    std::size_t weight_ = 0;
    std::uint64_t uses_ = 0;

    std::map<std::string, std::deque<Question>> questions_; // by namespace
    std::optional<Question> under_way_;
    std::string last_ns_;                                 // whose turn it was
    std::map<std::string, std::set<std::string>> askers_; // by Question::id
    std::map<std::string, std::size_t> open_;             // questions, by gang
    CelShares shares_;
};

// Answers questions. Remembers what it needs to know of a catalog for all of
// them. Used by one thread at a time.
class GresEvaluator {
  public:
    GresMemo::Answer answer(const std::shared_ptr<const DeviceCatalog> &catalog,
                            const GresMemo::Question &question);

  private:
    std::shared_ptr<const DeviceCatalog> catalog_;
    DeviceKinds kinds_;
    std::size_t devices_ = 0;
};

} // namespace bridge
