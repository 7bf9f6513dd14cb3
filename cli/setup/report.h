// SPDX-License-Identifier: GPL-2.0-or-later
// What setup and uninstall print: a line for each thing, which says whether it
// was so already, is done now, would be done (--dry-run), or is left to do for
// the administrator.
#pragma once

#include "common/base/result.h"

#include <functional>
#include <string>
#include <vector>

namespace bridge {

class Report {
  public:
    explicit Report(bool dry_run) : dry_run_(dry_run) {}

    bool dry_run() const { return dry_run_; }

    void already(const std::string &what) const;
    // Does it, or says that it would.
    Result<> change(const std::string &what,
                    const std::function<Result<>()> &act) const;
    // Lines of text to use as they are.
    void block(const std::vector<std::string> &lines) const;
    // For the administrator; printed again, all together, by finish().
    void left_to_do(const std::string &what);
    void left(const std::string &what) const;  // what uninstall leaves, and why
    void waits(const std::string &what) const; // for some time, from now on
    void finish() const;

  private:
    bool dry_run_;
    std::vector<std::string> to_do_;
};

} // namespace bridge
