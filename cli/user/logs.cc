// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands.h"
#include "cli/user/session.h"

#include <chrono>
#include <csignal>
#include <unistd.h>

namespace bridge {

namespace {

// slurmk8sd ends the session before
constexpr std::chrono::hours longest_silence{25};

// The container's output goes to stdout unchanged, since it is the user's own.
int pass_on(PeerStream &stream)
{
    for (;;) {
        auto frame =
            stream.wait_frame(PeerStream::Clock::now() + longest_silence, {});
        if (!frame)
            return print_error("slurmk8sd: " + frame.error().message);
        if (frame->type == FrameType::ended) {
            auto end = decode_session_end(frame->text);
            return end ? report_end(*end) : print_error(end.error().message);
        }
        if (frame->type == FrameType::output &&
            !write_to(STDOUT_FILENO, frame->text))
            return exit_failed;
    }
}

} // namespace

int show_logs(const std::string &conf_path, const std::string &job, bool follow)
{
    auto id = job_meant(job);
    if (!id)
        return id.error();
    auto conf = load_user_conf(conf_path);
    if (!conf)
        return print_error(conf.error().message);
    std::signal(SIGPIPE, SIG_IGN); // write() returns an error instead
    SessionRequest request;
    request.job = *id;
    request.follow = follow;
    auto stream = open_session(*conf, std::move(request));
    return stream ? pass_on(*stream) : print_error(stream.error().message);
}

} // namespace bridge
