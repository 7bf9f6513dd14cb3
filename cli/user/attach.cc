// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/user/attach.h"

#include "cli/commands.h"
#include "cli/user/session.h"
#include "cli/user/terminal.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace bridge {

namespace {

constexpr int window_look = 250; // ms between looks at the window's size
constexpr int exit_lost = 255;   // as ssh does
// How many frames are handled before input: a Ctrl-C must not wait for all
// output.
constexpr int most_at_once = 16;

// Always reads slurmk8sd's output, even while slurmk8sd does not take our
// input; otherwise both sides could wait for each other.
class Attached {
  public:
    Attached(PeerStream &stream, const SessionRequest &request)
        : stream_(stream), request_(request), window_(request.window)
    {
    }

    Result<SessionEnd> run()
    {
        for (;;) {
            // Its error counts only after the last frames are read: slurmk8sd
            // may have closed.
            auto sent = stream_.flush();
            auto end = receive_frames();
            if (!end)
                return std::unexpected(end.error());
            if (*end)
                return **end;
            if (!sent && !more_)
                return std::unexpected(sent.error());
            wait();
        }
    }

  private:
    // Returns nothing while the session goes on.
    Result<std::optional<SessionEnd>> receive_frames()
    {
        more_ = false;
        for (int i = 0; i < most_at_once; i++) {
            auto frame = stream_.receive();
            if (!frame)
                return std::unexpected(frame.error());
            if (!*frame)
                return std::nullopt;
            if ((*frame)->type == FrameType::ended) {
                auto end = decode_session_end((*frame)->text);
                if (!end)
                    return std::unexpected(end.error());
                return *end;
            }
            if (auto done = take(**frame); !done)
                return std::unexpected(done.error());
        }
        more_ = true;
        return std::nullopt;
    }

    Result<> take(const Frame &frame)
    {
        if (frame.type == FrameType::accepted && !raw_)
            raw_.emplace(request_.terminal);
        bool to_stdout = frame.type == FrameType::output;
        if ((to_stdout || frame.type == FrameType::error) &&
            !write_to(to_stdout ? STDOUT_FILENO : STDERR_FILENO, frame.text))
            return fail(Code::gone, "nobody reads the output any more");
        return {};
    }

    void wait()
    {
        bool full = stream_.has_unsent();
        bool reads = raw_ && !input_over_ && !full;
        std::array<pollfd, 2> fds = {
            pollfd{stream_.fd(),
                   static_cast<short>(full ? POLLIN | POLLOUT : POLLIN), 0},
            pollfd{reads ? STDIN_FILENO : -1, POLLIN, 0}};
        if (poll(fds.data(), fds.size(), more_ ? 0 : window_look) > 0 &&
            fds[1].revents)
            read_input();
        if (raw_ && request_.terminal && window_size() != window_) {
            window_ = window_size();
            stream_.push(FrameType::window, encode(window_));
        }
    }

    void read_input()
    {
        std::array<char, 16384> bytes;
        ssize_t count = read(STDIN_FILENO, bytes.data(), bytes.size());
        if (count < 0 && (errno == EINTR || errno == EAGAIN))
            return;
        input_over_ = count <= 0;
        std::size_t size = count > 0 ? static_cast<std::size_t>(count) : 0;
        stream_.push(FrameType::input, {bytes.data(), size});
    }

    PeerStream &stream_;
    const SessionRequest &request_;
    WindowSize window_;
    bool input_over_ = false;
    bool more_ = false; // frames may be here that poll() does not see
    std::optional<RawTerminal> raw_; // set once the request was accepted
};

} // namespace

SessionRequest attach_request(std::uint32_t job,
                              std::vector<std::string> command)
{
    SessionRequest request;
    request.what = SessionRequest::What::attach;
    request.job = job;
    request.command = std::move(command);
    request.input = true;
    request.terminal = has_terminal();
    if (request.terminal)
        request.window = window_size();
    return request;
}

Result<SessionEnd> attach_to(const SessionConf &conf,
                             const SessionRequest &request)
{
    std::signal(SIGPIPE, SIG_IGN); // write() returns an error instead
    auto stream = open_session(conf, request);
    if (!stream)
        return std::unexpected(stream.error());
    return Attached(*stream, request).run();
}

std::vector<std::string> shell_command()
{
    const char *terminal = std::getenv("TERM");
    return {"/bin/sh", "-c",
            "export TERM=\"$0\"; bash=$(command -v bash) && exec \"$bash\"; "
            "exec /bin/sh",
            terminal && *terminal ? terminal : "dumb"};
}

int attach(const std::string &conf_path, const std::string &job,
           std::vector<std::string> command)
{
    auto id = job_meant(job);
    if (!id)
        return id.error();
    auto conf = load_user_conf(conf_path);
    if (!conf)
        return print_error(conf.error().message);
    auto end = attach_to(*conf, attach_request(*id, command.empty()
                                                        ? shell_command()
                                                        : std::move(command)));
    if (!end)
        return print_error(end.error().message, exit_lost);
    return report_end(*end);
}

} // namespace bridge
