// SPDX-License-Identifier: GPL-2.0-or-later
// The lists of slurmk8s top, each of which may be longer than the screen. Pure.
#pragma once

#include "cli/top/screen_line.h"
#include "cli/top/top_view.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace bridge {

struct TopList {
    std::string heading; // "": none
    std::string what;    // there are several of, such as "partitions"
    std::size_t size = 0;
    std::function<std::string(std::size_t)> line; // from 0 to size - 1

    // How many rows it would like to have.
    std::size_t wanted() const
    {
        return size == 0 ? 0 : size + (heading.empty() ? 0 : 1);
    }
};

// Returns bars, reasons, partitions and nodes with a reason, in this order.
// Their lines refer to view, and may be longer than columns only where nothing
// can be left out.
std::vector<TopList> top_lists(const TopView &view, std::size_t columns,
                               std::chrono::sys_seconds now);

// Adds at most so many rows of the list.
void add_list(std::vector<ScreenLine> &lines, const TopList &list,
              std::size_t rows);

} // namespace bridge
