// SPDX-License-Identifier: GPL-2.0-or-later
// What a thread does that writes to the API server for others.
#pragma once

#include "common/base/mailbox.h"
#include "common/base/result.h"

#include <exception>
#include <stop_token>
#include <utility>

namespace bridge {

// Takes each write from the mailbox, makes it, and tells done what came of it,
// until the mailbox is closed or a stop is requested. make: returns a Result;
// an exception is Code::uncertain.
template <class Write, class Make, class Done>
void carry_writes(Mailbox<Write> &writes, const std::stop_source &stop,
                  Make make, const Done &done)
{
    while (auto write = writes.pop()) {
        if (stop.stop_requested())
            return;
        Result<> made;
        try {
            made = make(*write);
        } catch (const std::exception &e) { // such as out of memory
            made = fail(Code::uncertain, e.what());
        }
        done(*write, std::move(made));
    }
}

} // namespace bridge
