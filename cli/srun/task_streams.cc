// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/task_streams.h"

#include <algorithm>
#include <cerrno>
#include <unistd.h>

namespace bridge {

std::string TaskOutput::finish()
{
    fd_ = OwnedFd();
    return std::exchange(line_, {});
}

std::string TaskOutput::read_some(bool unbuffered)
{
    std::size_t had = line_.size();
    line_.resize(max_step_data);
    ssize_t got = read(fd_.get(), line_.data() + had, max_step_data - had);
    int fault = errno;
    line_.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && (fault == EAGAIN || fault == EINTR))
        return {};
    if (got <= 0)
        return finish();
    std::size_t whole = line_.rfind('\n') + 1;
    if (unbuffered || (whole == 0 && line_.size() == max_step_data))
        return std::exchange(line_, {});
    std::string lines = line_.substr(0, whole);
    line_.erase(0, whole);
    return lines;
}

bool TaskInput::take(std::string_view text)
{
    if (ended_ || bytes_.size() + text.size() > input_window)
        return false;
    ended_ = text.empty();
    bytes_.add(text);
    return true;
}

bool TaskInput::has_more_for(const InputPipe &pipe) const
{
    return pipe.fd && (pipe.at < end() || ended_);
}

void TaskInput::write_to(InputPipe &pipe) const
{
    std::string_view rest = bytes_.front().substr(pipe.at - begin_);
    if (!rest.empty()) {
        ssize_t sent = write(pipe.fd.get(), rest.data(), rest.size());
        if (sent < 0 && errno != EAGAIN && errno != EINTR)
            pipe.fd = OwnedFd(); // it reads no more
        else if (sent > 0)
            pipe.at += static_cast<std::size_t>(sent);
    }
    if (ended_ && pipe.at == end())
        pipe.fd = OwnedFd();
}

std::size_t TaskInput::drop_before(std::size_t least)
{
    std::size_t count = least - begin_;
    bytes_.drop(count);
    begin_ = least;
    return count;
}

} // namespace bridge
