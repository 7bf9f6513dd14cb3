// SPDX-License-Identifier: GPL-2.0-or-later
// What was last said of something that may be wrong again and again, so that
// each problem is said once until it changes or is over. A value.
#pragma once

#include <string>
#include <utility>

namespace bridge {

class Reported {
  public:
    // problem: as it is now; "": there is none. Returns whether to say it.
    bool is_news(std::string problem)
    {
        bool news = !problem.empty() && problem != last_;
        last_ = std::move(problem);
        return news;
    }

  private:
    std::string last_;
};

} // namespace bridge
