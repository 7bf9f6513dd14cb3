// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_sink.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

namespace {

constexpr std::size_t file_piece = 256 << 10;

// srun handles no signal during this time.
constexpr auto longest_write = std::chrono::milliseconds(100);

} // namespace

std::string label_lines(std::string_view text, TaskId task, std::size_t width)
{
    std::string label = std::to_string(task) + ": ";
    label.insert(0, width + 2 - std::min(width + 2, label.size()), ' ');
    std::string lines;
    while (!text.empty()) {
        std::size_t end = std::min(text.find('\n'), text.size());
        lines += label;
        lines += text.substr(0, end);
        lines += '\n';
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

bool is_same_file(int a, int b)
{
    struct stat first, second;
    return fstat(a, &first) == 0 && fstat(b, &second) == 0 &&
           first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

StepSink::StepSink(int fd) : fd_(fd)
{
    struct stat facts;
    is_file_ = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode);
}

void StepSink::write_some()
{
    std::string_view piece =
        queue_.front().substr(0, is_file_ ? file_piece : PIPE_BUF);
    // Others write there, too, so a line that fits is written in one piece.
    if (std::size_t whole = piece.rfind('\n') + 1;
        whole > 0 && piece.size() < queue_.size())
        piece = piece.substr(0, whole);
    ssize_t written = is_file_ ? write(fd_, piece.data(), piece.size())
                               : write_for(fd_, piece, longest_write);
    if (written > 0)
        return queue_.drop(static_cast<std::size_t>(written));
    if (errno == EAGAIN || errno == EINTR)
        return;
    broken_ = true;
    fault_ = errno == EPIPE ? 0 : errno;
    queue_ = ByteQueue();
}

} // namespace bridge
