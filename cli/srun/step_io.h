// SPDX-License-Identifier: GPL-2.0-or-later
// Small things about descriptors and processes that srun and the worker share.
#pragma once

#include "common/base/owned_fd.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace bridge {

using StepClock = std::chrono::steady_clock;

// How long poll() may sleep: until the earlier of what there is; -1 for ever.
int poll_time(std::optional<StepClock::time_point> limit);

// One line of stderr, behind the program's name.
std::string message_line(std::string_view words);

// Writes it, by one write(); it is dropped when stderr takes nothing for a
// second.
void say(std::string_view words);
void say_error(std::string_view words);

// strerror() without a locale.
std::string error_words(int number);

// The numbers 0 to 2 are in use, so that no other descriptor gets them.
void fill_standard_fds();

// Closes all others from 3 on, also those that this process has inherited.
// Returns the descriptor, which may have another number then.
OwnedFd keep_only(OwnedFd fd);

// write(2) to a descriptor that blocks, for about so long: then what it has
// taken, or -1 with EINTR when that is nothing.
ssize_t write_for(int fd, std::string_view bytes,
                  std::chrono::milliseconds time);

// For output. Directories on its way that are not there are made, as Slurm does
// (mkdirpath() in its fd.c). None with errno when it cannot be opened.
OwnedFd open_output_file(const std::string &path, int flags);

// These, and SIGPIPE ignored: what this process sleeps for. Children do not
// vanish by themselves, whatever this process has inherited. The signals are
// blocked, and read from the descriptor.
OwnedFd make_signal_fd(std::initializer_list<int> signals);

// The next signal, or 0.
int next_signal(const OwnedFd &signals);

// A queue of bytes for a descriptor.
class ByteQueue {
  public:
    void add(std::string_view bytes);
    std::size_t size() const { return bytes_.size() - at_; }
    bool empty() const { return size() == 0; }
    std::string_view front() const
    {
        return std::string_view(bytes_).substr(at_);
    }
    void drop(std::size_t count);

    // Sends what a socket takes at once. False when nobody reads any more.
    bool send_to(int socket);

  private:
    std::string bytes_;
    std::size_t at_ = 0;
};

// All of a small file; nothing when it cannot be read, with errno.
std::optional<std::string> read_file(const std::string &path,
                                     std::size_t limit);

// The number that the variable has, in the environment of this process.
unsigned number_from_environment(const char *name, unsigned otherwise);

// An end that is gone is noticed within a minute while nothing is sent to it.
void watch_connection(int socket);

// And also within a minute while something is. Only for a side whose other side
// always reads: a window that stays closed ends the connection, too.
void limit_sending(int socket);

// What was sent and has not arrived, in bytes; of a local socket what has not
// been read.
std::size_t unacknowledged(int socket);

// What was sent does not arrive, for more than a minute and in spite of several
// attempts. An end that lives and does not read is not meant: it answers.
bool answers_no_more(int socket);

} // namespace bridge
