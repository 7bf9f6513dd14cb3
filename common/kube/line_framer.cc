// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/line_framer.h"

namespace bridge {

Result<> LineFramer::feed(std::string_view piece, const OnLine &on_line)
{
    for (;;) {
        std::size_t end = piece.find('\n');
        std::string_view part = piece.substr(0, end);
        if (rest_.size() + part.size() > max_line_)
            return fail(Code::internal, "a line is too long");
        if (end == piece.npos) {
            rest_ += part;
            return {};
        }
        // Most lines lie within one piece and are not copied.
        std::string joined;
        if (!rest_.empty()) {
            joined = std::move(rest_) + std::string(part);
            rest_.clear();
            part = joined;
        }
        piece.remove_prefix(end + 1);
        if (part.ends_with('\r'))
            part.remove_suffix(1);
        if (part.empty())
            continue;
        if (auto said = on_line(part); !said)
            return said;
    }
}

} // namespace bridge
