// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/array.h"

#include "common/base/text.h"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace bridge {

namespace {

// highest MaxArraySize of slurm.conf
constexpr std::uint32_t most_tasks = 4'000'001;

struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t step = 1;
};

// Parses "3", "1-7" or "1-7:2". slurmctld ignores brackets in --array.
std::optional<Range> range_of(std::string_view text)
{
    auto number = [](std::string_view digits) {
        return whole_number<std::uint32_t>(digits);
    };
    std::string_view first = next_part(text, '-');
    std::string_view last = next_part(text, ':');
    auto from = number(first);
    auto to = last.empty() ? from : number(last);
    auto step = text.empty() ? std::optional<std::uint32_t>(1) : number(text);
    if (!from || !to || !step || *step == 0 || *to < *from || *to >= most_tasks)
        return std::nullopt;
    return Range{*from, *to, *step};
}

struct Numbers {
    std::size_t count = 0;
    std::uint32_t lowest = 0;
    std::uint32_t highest = 0;
    std::uint32_t step = 1; // the first one given (_create_job_array())
};

// A set of task numbers as a bit map. A user may name millions of them, and the
// set is built at each start of a task.
class TaskSet {
  public:
    void add(const Range &range)
    {
        std::size_t i = range.first, size = std::size_t{range.last} / bits + 1;
        if (words_.size() < size)
            words_.resize(size);
        while (i <= range.last) {
            bool whole =
                range.step == 1 && i % bits == 0 && i + bits - 1 <= range.last;
            words_[i / bits] |=
                whole ? ~std::uint64_t{0} : std::uint64_t{1} << i % bits;
            i += whole ? bits : range.step;
        }
    }

    // The set must not be empty.
    void fill_in(Numbers &numbers) const
    {
        bool first = true;
        for (std::size_t i = 0; i < words_.size(); i++) {
            std::uint64_t word = words_[i];
            if (word == 0)
                continue;
            numbers.count += static_cast<std::size_t>(std::popcount(word));
            if (std::exchange(first, false))
                numbers.lowest = number(i, std::countr_zero(word));
            numbers.highest = number(i, bits - 1 - std::countl_zero(word));
        }
    }

    bool empty() const { return words_.empty(); }

  private:
    static constexpr int bits = 64;

    static std::uint32_t number(std::size_t word, int bit)
    {
        return static_cast<std::uint32_t>(word * bits +
                                          static_cast<std::size_t>(bit));
    }

    std::vector<std::uint64_t> words_;
};

// Tasks that several ranges name are counted once.
std::optional<Numbers> numbers_of(std::string_view array)
{
    std::string text(array);
    std::erase_if(text, [](char c) { return c == '[' || c == ']'; });
    TaskSet tasks;
    std::size_t named = 0; // some of them more than once
    Numbers numbers;
    bool stepped = false;
    for (std::string_view list = text; !list.empty();) {
        std::string_view part = next_part(list, ',');
        // without the number of simultaneous tasks
        part = part.substr(0, part.find('%'));
        if (part.empty())
            continue;
        auto range = range_of(part);
        if (!range)
            return std::nullopt;
        named += (range->last - range->first) / range->step + 1;
        if (named > 2 * most_tasks)
            return std::nullopt;
        tasks.add(*range);
        if (part.contains(':') && !std::exchange(stepped, true))
            numbers.step = range->step;
    }
    if (tasks.empty())
        return std::nullopt;
    tasks.fill_in(numbers);
    return numbers;
}

} // namespace

std::vector<std::string> array_variables(const ArrayTask &task,
                                         std::string_view array)
{
    std::vector<std::string> all;
    auto add = [&](const char *name, auto value) {
        all.push_back(std::string("SLURM_ARRAY_") + name + "=" +
                      std::to_string(value));
    };
    add("JOB_ID", task.job);
    add("TASK_ID", task.task);
    if (auto numbers = numbers_of(array)) {
        add("TASK_COUNT", numbers->count);
        add("TASK_MIN", numbers->lowest);
        add("TASK_MAX", numbers->highest);
        add("TASK_STEP", numbers->step);
    }
    return all;
}

} // namespace bridge
