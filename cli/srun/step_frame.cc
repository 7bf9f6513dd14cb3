// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/step_frame.h"

namespace bridge {

std::optional<std::size_t> StepFrame::longest(StepFrameKind kind)
{
    switch (kind) {
    case StepFrameKind::launch:
    case StepFrameKind::exited: // may list many tasks
        return max_launch;
    case StepFrameKind::input:
    case StepFrameKind::output:
    case StepFrameKind::error:
    case StepFrameKind::message:
        return max_step_frame;
    case StepFrameKind::signal:
    case StepFrameKind::taken:
        return 4;
    case StepFrameKind::cancelled:
    case StepFrameKind::done:
        return 0;
    }
    return std::nullopt;
}

std::string encode_step_frame(StepFrameKind kind, std::string_view text)
{
    std::string frame;
    append_frame(frame, static_cast<char>(kind), text);
    return frame;
}

FieldWriter &FieldWriter::number(std::uint32_t value)
{
    append_number(text_, value);
    return *this;
}

FieldWriter &FieldWriter::text(std::string_view value)
{
    number(static_cast<std::uint32_t>(value.size()));
    text_ += value;
    return *this;
}

FieldWriter &FieldWriter::list(const std::vector<std::string> &values)
{
    number(static_cast<std::uint32_t>(values.size()));
    for (const std::string &value : values)
        text(value);
    return *this;
}

FieldWriter &FieldWriter::numbers(const std::vector<std::uint32_t> &values)
{
    number(static_cast<std::uint32_t>(values.size()));
    for (std::uint32_t value : values)
        number(value);
    return *this;
}

std::uint32_t FieldReader::number()
{
    if (!good_ || rest_.size() < 4) {
        good_ = false;
        return 0;
    }
    std::uint32_t value = number_at(rest_);
    rest_.remove_prefix(4);
    return value;
}

std::string FieldReader::text()
{
    std::size_t length = number();
    if (!good_ || rest_.size() < length) {
        good_ = false;
        return {};
    }
    std::string value(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return value;
}

std::vector<std::string> FieldReader::list()
{
    std::vector<std::string> values;
    for (std::size_t count = number(); good_ && count > 0; count--)
        values.push_back(text());
    return values;
}

std::vector<std::uint32_t> FieldReader::numbers()
{
    std::vector<std::uint32_t> values;
    for (std::size_t count = number(); good_ && count > 0; count--)
        values.push_back(number());
    return values;
}

} // namespace bridge
