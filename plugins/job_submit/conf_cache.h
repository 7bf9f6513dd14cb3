// SPDX-License-Identifier: GPL-2.0-or-later
// k8s.conf and the template that it names, for slurmctld: every batch job asks,
// with slurmctld's locks held, so they are read again only when one of the two
// files has changed. Safe from several threads.
#pragma once

#include "common/contract/conf.h"

#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>

namespace bridge {

// What tells one version of a file from the next.
struct FileVersion {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = 0;
    std::timespec changed{};

    bool operator==(const FileVersion &other) const;
};

class ConfCache {
  public:
    struct Answer {
        // The last that could be read: a file with a mistake changes nothing.
        // nullptr: none could.
        std::shared_ptr<const Conf> conf;
        // Why the files as they are now could not be read. Empty: they could,
        // or that was said before.
        std::string news;
    };
    Answer get(const std::string &path);

  private:
    Answer without(const Error &error, bool is_there);

    std::mutex mutex_;
    std::string path_;
    bool asked_ = false; // and answered
    std::string said_;
    std::optional<FileVersion> version_; // nothing: there is no such file
    std::string template_path_;
    std::optional<FileVersion> template_version_;
    std::shared_ptr<const Conf> conf_;
};

} // namespace bridge
