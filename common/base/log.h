// SPDX-License-Identifier: GPL-2.0-or-later
// The log. Each event is one line on stderr: a constant message, then pairs
// whose keys are the words that Slurm prints (JobId, NodeList, Pod, Node, err),
// so that one grep finds a job in slurmctld's log and in ours. May be called
// from every thread. Never log a token or a request body.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace bridge {

enum class LogLevel {
    error,   // an administrator must act
    warning, // the operation will be retried
    info,    // a gang or a node changed state
    debug,   // message traffic
};

struct LogPair {
    std::string_view key;
    std::string value;

    LogPair(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
    LogPair(std::string_view k, std::uint64_t v)
        : key(k), value(std::to_string(v))
    {
    }
};

using LogPairs = std::initializer_list<LogPair>;

void set_log_level(LogLevel level);
LogLevel log_level();

void log_line(LogLevel level, std::string_view sentence, LogPairs pairs = {});

inline void log_error(std::string_view sentence, LogPairs pairs = {})
{
    log_line(LogLevel::error, sentence, pairs);
}
inline void log_warning(std::string_view sentence, LogPairs pairs = {})
{
    log_line(LogLevel::warning, sentence, pairs);
}
inline void log_info(std::string_view sentence, LogPairs pairs = {})
{
    log_line(LogLevel::info, sentence, pairs);
}
inline void log_debug(std::string_view sentence, LogPairs pairs = {})
{
    if (log_level() >= LogLevel::debug)
        log_line(LogLevel::debug, sentence, pairs);
}

// Returns the line without its newline: level=… msg="…" Key=value. Values are
// quoted where necessary, and control characters are escaped, so that no value
// can start a new line.
std::string format_log_line(LogLevel level, std::string_view sentence,
                            LogPairs pairs);

} // namespace bridge
