// SPDX-License-Identifier: GPL-2.0-or-later
// Helpers for descriptors and processes that srun and the worker share.
#pragma once

#include "common/base/owned_fd.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

namespace bridge {

using StepClock = std::chrono::steady_clock;

// Returns how many milliseconds poll() may sleep until the limit; -1 if there
// is none.
int poll_time(std::optional<StepClock::time_point> limit);

// Returns a line for stderr, which begins with the program's name.
std::string message_line(std::string_view words);

// Print a message on stderr with one write(). It is dropped when stderr takes
// nothing for a second.
void print_line(std::string_view words);
void print_error_line(std::string_view words);

// Like strerror(), without a locale.
std::string errno_message(int number);

// Makes sure that the descriptors 0 to 2 are in use, so that no other file gets
// one of them.
void fill_standard_fds();

// Closes all other descriptors from 3 on, including inherited ones. Returns the
// descriptor, which may have another number then.
OwnedFd keep_only(OwnedFd fd);

// Like write(2) to a blocking descriptor, but for about this time only. Returns
// what was written until then, or -1 with EINTR if that is nothing.
ssize_t write_for(int fd, std::string_view bytes,
                  std::chrono::milliseconds time);

// Opens a file for output. Missing directories of its path are made, as Slurm
// does (mkdirpath() in its fd.c). Returns an empty descriptor, with errno, on
// failure.
OwnedFd open_output_file(const std::string &path, int flags);

// Returns a descriptor that delivers these signals, which are blocked. Also
// ignores SIGPIPE, and resets SIGCHLD so that children leave a wait status
// whatever this process has inherited.
OwnedFd make_signal_fd(std::initializer_list<int> signals);

// Returns the next signal, or 0.
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

    // Sends what a socket takes at once. Returns false when the other side
    // reads no more.
    bool send_to(int socket);

  private:
    std::string bytes_;
    std::size_t at_ = 0;
};

// Returns the content of a small file, or nothing, with errno, when it cannot
// be read or is longer than limit.
std::optional<std::string> read_file(const std::string &path,
                                     std::size_t limit);

// Returns the number in that variable of this process, or otherwise.
unsigned number_from_environment(const char *name, unsigned otherwise);

// Makes the kernel notice within a minute that the other side is gone while
// nothing is sent to it.
void watch_connection(int socket);

// Makes the kernel notice that while something is sent, too. Only for a
// connection whose other side always reads: a window that stays closed ends the
// connection as well.
void limit_sending(int socket);

// Returns the bytes that were sent and have not arrived; for a local socket,
// those that were not read.
std::size_t unacknowledged(int socket);

// Returns whether data has not arrived for more than a minute in spite of
// several attempts. This is not true of a side that is alive but does not read,
// since that side acknowledges.
bool answers_no_more(int socket);

} // namespace bridge
