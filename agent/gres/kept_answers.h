// SPDX-License-Identifier: GPL-2.0-or-later
// Answers about devices, by the question's id. Users write what is asked, so
// their size is bounded: of the namespace that has most, those go that have not
// been used for longest. Belongs to one thread.
#pragma once

#include "agent/gres/device_question.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace bridge {

// Returns about as many bytes as the answer takes.
std::size_t bytes_of(const DeviceAnswer &answer);

class KeptAnswers {
  public:
    static constexpr std::size_t most_bytes = 64 << 20;

    struct Kept {
        DeviceAnswer answer;
        std::uint64_t devices = 0; // which catalog it is of
    };

    // Null: there is none. Valid until the next call.
    const Kept *find(const std::string &id);
    // In place of what there was; ns: who has asked.
    void keep(const std::string &id, const std::string &ns, Kept kept);

  private:
    struct Entry {
        Kept kept;
        std::string ns;
        std::size_t bytes = 0;
        std::uint64_t used = 0; // in calls
    };
    struct OfNamespace {
        std::map<std::uint64_t, std::string> by_use; // ids
        std::size_t bytes = 0;
    };

    void put(const std::string &id, Entry entry);
    void erase(const std::string &id);
    std::string oldest_but(const std::string &id) const;
    void weigh(const std::string &ns, std::size_t before, std::size_t after);

    std::map<std::string, Entry> entries_;
    std::map<std::string, OfNamespace> namespaces_;
    std::set<std::pair<std::size_t, std::string>> by_bytes_; // namespaces
    std::size_t bytes_ = 0;
    std::uint64_t uses_ = 0;
};

} // namespace bridge
