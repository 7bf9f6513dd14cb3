// SPDX-License-Identifier: GPL-2.0-or-later
// Reads the agent's pages for slurmk8s top, again and again.
#pragma once

#include "cli/top/top_counts.h"
#include "cli/top/top_view.h"
#include "common/contract/conf.h"

namespace bridge {

// For one thread.
class TopReader {
  public:
    explicit TopReader(Conf conf) : conf_(std::move(conf)) {}

    // Blocks as ask_agent() does, for each page. Whatever fails is in the view.
    TopView read();

  private:
    Conf conf_;
    TopHistory counts_;
};

} // namespace bridge
