// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/conf_cache.h"

#include <sys/stat.h>
#include <utility>

namespace bridge {

namespace {

std::optional<FileVersion> version_of(const std::string &path)
{
    struct stat facts{};
    if (path.empty() || stat(path.c_str(), &facts) != 0)
        return std::nullopt;
    // st_ctim, because st_mtim can be set to any time; that changes st_ctim.
    return FileVersion{facts.st_dev, facts.st_ino, facts.st_size,
                       facts.st_ctim};
}

} // namespace

bool FileVersion::operator==(const FileVersion &other) const
{
    return device == other.device && inode == other.inode &&
           size == other.size && changed.tv_sec == other.changed.tv_sec &&
           changed.tv_nsec == other.changed.tv_nsec;
}

ConfCache::Answer ConfCache::get(const std::string &path)
{
    auto version = version_of(path);
    if (asked_ && path == path_ && version == version_ &&
        version_of(template_path_) == template_version_)
        return {conf_, {}};
    asked_ = true;
    path_ = path;
    version_ = version; // version before the file is read
    auto conf = load_conf(path);
    if (!conf)
        return without(conf.error(), version_.has_value());
    template_path_ = conf->batch_template;
    template_version_ = version_of(template_path_);
    if (auto read = read_batch_template(*conf); !read)
        return without(read.error(), template_version_.has_value());
    said_.clear();
    conf_ = std::make_shared<const Conf>(std::move(*conf));
    return {conf_, {}};
}

ConfCache::Answer ConfCache::without(const Error &error, bool is_there)
{
    if (error.code == Code::not_found && is_there)
        asked_ = false; // the same file may be readable next time
    if (error.message == said_)
        return {conf_, {}};
    said_ = error.message;
    return {conf_, said_};
}

} // namespace bridge
