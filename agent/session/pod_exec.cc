// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/pod_exec.h"

#include "common/base/json.h"
#include "common/base/text.h"
#include "common/kube/socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <optional>
#include <poll.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;
using Clock = PeerStream::Clock;

constexpr char protocol[] = "v5.channel.k8s.io";
constexpr char to_stdin = 0, of_stdout = 1, of_stderr = 2, of_status = 3;
constexpr char to_resize = 4;
// followed by the channel's number
constexpr char to_close = static_cast<char>(255);

constexpr auto open_patience = 30s;
constexpr auto stall_limit = 10min; // the user's terminal takes nothing
constexpr int stop_look = 500;      // ms
// How many bytes of one side are handled before the other's turn: a Ctrl-C must
// not wait for all output.
constexpr std::size_t most_at_once = 65536;
constexpr std::size_t least_counted = 4096; // for each message, however short

std::string on_channel(char channel, std::string_view text)
{
    return std::string(1, channel).append(text);
}

std::string resize_text(const WindowSize &window)
{
    return JsonValue::object({{"Width", std::uint32_t{window.columns}},
                              {"Height", std::uint32_t{window.rows}}})
        .dump();
}

SessionEnd refused(const Error &error)
{
    if (error.code == Code::denied)
        return {0,
                "slurmk8sd may not run commands in containers (pods/exec): "
                "contribs/kubernetes/components/sbatch-attach gives it that "
                "right",
                false};
    return {0, error.message, false};
}

// One session. It waits for a slow reader. That cannot deadlock: the user's end
// always reads what we send, and while it is slow we do not wait for the API
// server.
class Exec {
  public:
    Exec(KubeSocket kube, PeerStream &peer, const std::stop_token &stop)
        : kube_(std::move(kube)), peer_(peer), stop_(stop)
    {
    }

    SessionEnd run(const SessionRequest &request)
    {
        if (request.terminal)
            resize(request.window);
        while (!end_ && !stop_.stop_requested()) {
            bool more = from_user();
            more |= from_container();
            if (!end_)
                wait(more);
        }
        return end_.value_or(SessionEnd{0, "slurmk8sd is stopping", false});
    }

  private:
    void end(const Error &error) { end_ = SessionEnd{0, error.message, false}; }

    void check(const Result<> &done)
    {
        if (!done && !end_)
            end(done.error());
    }

    void resize(const WindowSize &window)
    {
        if (window.rows != 0 && window.columns != 0)
            check(kube_.push(on_channel(to_resize, resize_text(window))));
    }

    void obey(const Frame &frame)
    {
        if (frame.type == FrameType::input && frame.text.empty()) {
            check(kube_.push(std::string{to_close, to_stdin}));
        } else if (frame.type == FrameType::input) {
            check(kube_.push(on_channel(to_stdin, frame.text)));
        } else if (frame.type == FrameType::window) {
            if (auto window = decode_window_size(frame.text))
                resize(*window);
        } else {
            end({Code::rejected,
                 "a session with a command cannot have this frame",
                 {}});
        }
    }

    // Returns whether there may be more.
    bool from_user()
    {
        for (std::size_t taken = 0; taken < most_at_once;) {
            if (end_ || kube_.has_unsent())
                return false;
            auto frame = peer_.receive();
            if (!frame)
                end(frame.error());
            if (!frame || !*frame)
                return false;
            taken += std::max((*frame)->text.size(), least_counted);
            obey(**frame);
            check(kube_.flush());
        }
        return true;
    }

    void pass_on(FrameType type, std::string_view text)
    {
        if (!text.empty())
            check(peer_.send(type, text, Clock::now() + stall_limit, stop_));
    }

    void take(std::string_view message)
    {
        char channel = message.empty() ? of_stdout : message.front();
        message.remove_prefix(message.empty() ? 0 : 1);
        if (channel == of_stdout)
            pass_on(FrameType::output, message);
        else if (channel == of_stderr)
            pass_on(FrameType::error, message);
        else if (channel == of_status)
            end_ = exec_end(message);
    }

    // Returns whether there may be more.
    bool from_container()
    {
        bool more = true;
        for (std::size_t taken = 0; more && !end_ && taken < most_at_once;) {
            auto message = kube_.receive();
            if (!message)
                end(message.error());
            more = message && *message;
            if (!more)
                break;
            taken += std::max((*message)->size(), least_counted);
            take(**message);
        }
        check(kube_.flush());
        return more;
    }

    // more: do not wait, because data may have been read already, which poll()
    // does not see.
    void wait(bool more)
    {
        bool full = kube_.has_unsent();
        std::array<pollfd, 2> fds = {
            pollfd{kube_.fd(),
                   static_cast<short>(full ? POLLIN | POLLOUT : POLLIN), 0},
            pollfd{peer_.fd(), static_cast<short>(full ? POLLRDHUP : POLLIN),
                   0}};
        if (!full && peer_.has_pending())
            return;
        if (poll(fds.data(), fds.size(), more ? 0 : stop_look) < 0 &&
            errno != EINTR)
            end({Code::internal, "the session cannot be served", {}});
        if (full && fds[1].revents) // its input waits, but it has gone
            end({Code::gone, "the user has disconnected", {}});
    }

    KubeSocket kube_;
    PeerStream &peer_;
    const std::stop_token &stop_;
    std::optional<SessionEnd> end_;
};

} // namespace

std::string exec_path(const JobPod &pod, const SessionRequest &request)
{
    std::string path = pod.path() +
                       "/exec?container=" + url_encode(pod.container) +
                       "&stdout=true";
    if (!request.terminal) // a terminal has only one output
        path += "&stderr=true";
    if (request.input)
        path += "&stdin=true";
    if (request.terminal)
        path += "&tty=true";
    for (const std::string &word : request.command)
        path += "&command=" + url_encode(word);
    return path;
}

SessionEnd exec_end(std::string_view status)
{
    auto json = Json::parse(status);
    if (!json)
        return {0, "the API server's final status cannot be read", false};
    if (json->text("status") == "Success")
        return {};
    for (const Json &cause : json->items("details/causes"))
        if (cause.text("reason") == "ExitCode")
            if (auto code = whole_number<int>(cause.text("message"));
                code && *code >= 0 && *code <= 255)
                return {*code, {}, false};
    std::string reason = json->text("message");
    return {0, reason.empty() ? "the command could not be run" : reason, false};
}

SessionEnd run_in_container(const HttpEndpoint &endpoint, const JobPod &pod,
                            const SessionRequest &request, PeerStream &peer,
                            const std::stop_token &stop)
{
    auto kube = KubeSocket::open(endpoint, exec_path(pod, request), protocol,
                                 Clock::now() + open_patience, stop);
    if (!kube)
        return refused(kube.error());
    if (auto said = peer.send(FrameType::accepted, {},
                              Clock::now() + stall_limit, stop);
        !said)
        return refused(said.error());
    return Exec(std::move(*kube), peer, stop).run(request);
}

} // namespace bridge
