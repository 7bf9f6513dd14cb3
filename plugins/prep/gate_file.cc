// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/prep/gate_file.h"

#include "common/base/json.h"
#include "common/base/owned_fd.h"
#include "common/base/read_file.h"
#include "common/base/system_error.h"
#include "common/base/write_all.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <unistd.h>
#include <utility>

namespace bridge {

namespace {

constexpr int format_version = 1;
constexpr std::size_t size_limit = 16 << 20; // enough for a million nodes

JsonValue names_of(const NodeSet &nodes)
{
    return JsonValue::array({nodes.begin(), nodes.end()});
}

std::string encode(const GateMemory &memory)
{
    return JsonValue::object({{"version", format_version},
                              {"bridge", names_of(memory.bridge)},
                              {"dirty", names_of(memory.dirty)}})
        .dump();
}

std::optional<std::set<std::string>> names_in(const Json &list)
{
    if (!list.is_array())
        return std::nullopt;
    std::set<std::string> nodes;
    for (const Json &item : list.items()) {
        std::string name = item.text();
        if (name.empty())
            return std::nullopt;
        nodes.insert(std::move(name));
    }
    return nodes;
}

Result<GateMemory> decode(const std::string &text)
{
    auto json = Json::parse(text);
    if (!json)
        return std::unexpected(json.error());
    // Keys that a later plugin has added are left alone; it raises the version
    // if an older one may not do so.
    if (json->integer("version").value_or(0) > format_version)
        return fail(Code::rejected, "a newer prep_k8s.so wrote it");
    auto bridge = names_in(json->at("bridge"));
    auto dirty = names_in(json->at("dirty"));
    if (json->integer("version") != format_version || !bridge || !dirty)
        return fail(Code::rejected, "it is damaged");
    return GateMemory{std::move(*bridge), std::move(*dirty)};
}

Result<std::string> contents(int fd, const std::string &path)
{
    auto text = read_rest(fd, size_limit);
    if (!text && text.error().code == Code::rejected)
        return fail(Code::rejected, path + " is too large to be ours");
    if (!text)
        return fail(Code::busy,
                    "cannot read " + path + ": " + text.error().message);
    return text;
}

} // namespace

bool GateFile::Identity::operator==(const Identity &other) const
{
    return device == other.device && inode == other.inode &&
           changed.tv_sec == other.changed.tv_sec &&
           changed.tv_nsec == other.changed.tv_nsec;
}

Result<GateMemory> GateFile::load()
{
    seen_ = identity();
    written_.reset();
    OwnedFd file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file)
        return fail_errno(errno == ENOENT ? Code::not_found : Code::busy,
                          "cannot open " + path_);
    auto text = contents(file.get(), path_);
    if (!text)
        return std::unexpected(text.error());
    auto memory = decode(*text);
    if (!memory)
        return fail(Code::rejected,
                    "cannot use " + path_ + ": " + memory.error().message);
    written_ = *memory;
    return memory;
}

Result<> GateFile::save(const GateMemory &memory)
{
    if (written_ == memory)
        return {};
    std::string text = encode(memory);
    std::string next = path_ + ".new";
    {
        OwnedFd file(open(next.c_str(),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
                          0600));
        if (!file)
            return fail_errno(Code::busy, "cannot write " + next);
        if (!write_all(file.get(), text) || fsync(file.get()) != 0)
            return fail_errno(Code::busy, "cannot write " + next);
    }
    if (std::rename(next.c_str(), path_.c_str()) != 0)
        return fail_errno(Code::busy, "cannot replace " + path_);
    written_ = memory;
    seen_ = identity();
    std::string directory = path_.substr(0, path_.rfind('/') + 1);
    OwnedFd parent(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent || fsync(parent.get()) != 0)
        return fail_errno(Code::busy, "cannot sync " + directory);
    return {};
}

bool GateFile::changed_by_others() const
{
    return identity() != seen_;
}

// Opened, not only looked at: a client of NFS asks its server then.
GateFile::Identity GateFile::identity() const
{
    struct stat status{};
    OwnedFd file(open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!file || fstat(file.get(), &status) != 0)
        return {};
    return {status.st_dev, status.st_ino, status.st_ctim};
}

} // namespace bridge
