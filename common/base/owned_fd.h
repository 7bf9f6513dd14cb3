// SPDX-License-Identifier: GPL-2.0-or-later
// A file descriptor that is closed when its owner is destroyed.
#pragma once

#include <unistd.h>
#include <utility>

namespace bridge {

class OwnedFd {
  public:
    explicit OwnedFd(int fd = -1) : fd_(fd) {}
    OwnedFd(OwnedFd &&other) noexcept : fd_(other.release()) {}
    OwnedFd &operator=(OwnedFd &&other) noexcept
    {
        OwnedFd before(std::exchange(fd_, other.release()));
        return *this;
    }
    ~OwnedFd()
    {
        if (fd_ >= 0)
            close(fd_);
    }

    int get() const { return fd_; }
    int release() { return std::exchange(fd_, -1); }
    explicit operator bool() const { return fd_ >= 0; }

  private:
    int fd_;
};

} // namespace bridge
