// SPDX-License-Identifier: GPL-2.0-or-later
// What the agent's own HTTP endpoints show, asked of the owner thread.
#pragma once

#include "agent/daemon/web.h"
#include "agent/owner/message.h"
#include "common/base/mailbox.h"
#include "common/slurm/api.h"

namespace bridge {

class Bridge;

// Each page waits for the owner thread, which runs bridge, a few seconds at the
// most. All three must outlive the pages.
Web::Pages pages_of(Bridge &bridge, Mailbox<Message> &mailbox, Slurm &slurm);

} // namespace bridge
