// SPDX-License-Identifier: GPL-2.0-or-later
// The user's terminal while slurmk8s top has it: keys come one by one and
// unseen, and the screen is another one than that of the shell. For one thread.
#pragma once

#include "cli/top/screen_line.h"
#include "cli/top/top_screen.h"
#include "common/base/owned_fd.h"

#include <string>
#include <termios.h>
#include <vector>

namespace bridge {

// Returns whether stdin and stdout are terminals of which one can move the
// cursor.
bool has_screen();

// Of stdout; 80 columns and 24 rows if it does not say.
ScreenSize terminal_size();

class TopTerminal {
  public:
    // Takes the terminal. Without one, nothing of the below has an effect.
    TopTerminal();
    TopTerminal(const TopTerminal &) = delete;
    TopTerminal &operator=(const TopTerminal &) = delete;
    // Gives it back, as leave() does.
    ~TopTerminal() { leave(); }

    // Gives the terminal back as it was, and takes it again. Both may be
    // repeated. Leaving takes half a second at most, also if nobody reads.
    void leave();
    void enter();

    // Shows these lines. Does not wait for the terminal: while it takes
    // nothing, is_behind() is true, and nothing more should be shown.
    void show(const std::vector<ScreenLine> &lines);
    bool is_behind() const { return !unwritten_.empty(); }
    // Goes on with what the terminal did not take. False when it is gone.
    bool flush();
    int fd() const { return out_.get(); }

  private:
    OwnedFd out_;
    std::string unwritten_;
    bool entered_ = false;
    termios before_{};
};

} // namespace bridge
