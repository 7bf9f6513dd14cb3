// SPDX-License-Identifier: GPL-2.0-or-later
// Limits how many users or connections are served at a time, in total and for
// each one. Safe to use from every thread.
#pragma once

#include <cstddef>
#include <expected>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace bridge {

class Places {
  public:
    // Is given back when it is destroyed, which must happen before the Places
    // are.
    class Place {
      public:
        Place() = default;
        Place(Place &&other) noexcept
            : from_(std::exchange(other.from_, nullptr)),
              who_(std::move(other.who_))
        {
        }
        Place &operator=(Place &&other) noexcept
        {
            Place before(std::move(*this));
            from_ = std::exchange(other.from_, nullptr);
            who_ = std::move(other.who_);
            return *this;
        }
        ~Place()
        {
            if (from_)
                from_->give_back(who_);
        }

      private:
        friend Places;

        Places *from_ = nullptr;
        std::string who_;
    };

    enum class Full { of_all, of_one };
    enum class Limit { of_all_alone, of_both };

    Places(std::size_t most, std::size_t most_of_one)
        : most_(most), most_of_one_(most_of_one)
    {
    }

    // Returns a place, or which of the two limits has been reached.
    std::expected<Place, Full> take(const std::string &who,
                                    Limit limit = Limit::of_both);

  private:
    void give_back(const std::string &who);

    std::size_t most_, most_of_one_;
    std::mutex mutex_; // protects the next two
    std::size_t all_ = 0;
    std::map<std::string, std::size_t> of_each_;
};

} // namespace bridge
