// SPDX-License-Identifier: GPL-2.0-or-later
// Caches k8s.conf and the template that it names, inside slurmctld: it is asked
// each second, and they are read again only if one of the two files has
// changed. For one thread.
#pragma once

#include "common/contract/conf.h"

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <sys/types.h>

namespace bridge {

// Distinguishes two versions of a file.
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
        // The last version without a mistake: a file with one changes nothing.
        // nullptr: there has been none.
        std::shared_ptr<const Conf> conf;
        // Why the current files could not be read. Empty if they could, or if
        // the same message was returned before.
        std::string news;
    };
    // Returns k8s.conf, read again if necessary. Never fails: see Answer.
    Answer get(const std::string &path);

  private:
    Answer without(const Error &error, bool is_there);

    std::string path_;
    bool asked_ = false; // a result is cached
    std::string said_;
    std::optional<FileVersion> version_; // nothing: the file does not exist
    std::string template_path_;
    std::optional<FileVersion> template_version_;
    std::shared_ptr<const Conf> conf_;
};

} // namespace bridge
