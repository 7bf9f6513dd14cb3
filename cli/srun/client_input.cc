// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/client_input.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <unistd.h>

namespace bridge {

bool ClientInput::is_for(const StepLink &link) const
{
    return !link.over && !link.deaf &&
           (!reader_ || std::ranges::contains(link.tasks, *reader_));
}

int ClientInput::fd() const
{
    bool any = false;
    for (const StepLink &link : links_)
        if (is_for(link)) {
            any = true;
            if (link.untaken >= input_window)
                return -1;
        }
    return any ? fd_ : -1;
}

void ClientInput::read_some()
{
    std::size_t most = max_step_data;
    for (const StepLink &link : links_)
        if (is_for(link))
            most = std::min(most, input_window - link.untaken);
    std::string piece(most, '\0');
    ssize_t got = read(fd_, piece.data(), piece.size());
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    piece.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    for (StepLink &link : links_)
        if (is_for(link)) {
            link.queue_frame(StepFrameKind::input, piece);
            link.untaken += piece.size();
        }
    if (piece.empty())
        fd_ = -1;
}

} // namespace bridge
