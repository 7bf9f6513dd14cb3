// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/base/read_file.h"

#include "common/base/owned_fd.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace bridge {

Result<std::string> read_file(const std::string &path, std::size_t longest)
{
    OwnedFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file)
        return fail(Code::not_found, std::strerror(errno));
    return read_rest(file.get(), longest);
}

Result<std::string> read_rest(int fd, std::size_t longest)
{
    std::string text;
    std::array<char, 65536> buffer;
    for (;;) {
        ssize_t count = read(fd, buffer.data(), buffer.size());
        if (count == 0)
            return text;
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return fail(Code::busy, std::strerror(errno));
        if (static_cast<std::size_t>(count) > longest - text.size())
            return fail(Code::rejected, "the file is too long");
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
}

std::string without_end_blanks(std::string text)
{
    text.erase(text.find_last_not_of(" \t\r\n") + 1);
    return text;
}

} // namespace bridge
