// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/job_session.h"

#include "agent/session/pod_exec.h"
#include "common/base/log.h"
#include "common/kube/http_bytes.h"

#include <chrono>
#include <functional>
#include <poll.h>
#include <thread>

namespace bridge {

namespace {

using namespace std::chrono_literals;
using Clock = PeerStream::Clock;

constexpr auto stall_limit = 10min;  // the user's terminal takes nothing
constexpr auto log_silence = 60s;    // of the API server, for a complete log
constexpr auto follow_silence = 24h; // of the container
constexpr int hang_up_look = 500;    // ms

SessionEnd refused(const std::string &reason)
{
    return {0, reason, false};
}

SessionEnd refused(const Error &error)
{
    return {0, error.message, error.code == Code::not_found};
}

// While only output remains to be sent, anything that happens at the user's end
// means that the user has hung up: requests the stop of the work for that user.
class HangUpWatch {
  public:
    HangUpWatch(int fd, std::stop_token agent_stops)
        : agent_stops_(std::move(agent_stops),
                       [this] { ends_.request_stop(); }),
          thread_([this, fd](std::stop_token stop) { run(fd, stop); })
    {
    }

    std::stop_token token() const { return ends_.get_token(); }

  private:
    void run(int fd, const std::stop_token &stop)
    {
        while (!stop.stop_requested()) {
            pollfd one = {fd, POLLIN | POLLRDHUP, 0};
            if (poll(&one, 1, hang_up_look) > 0) {
                ends_.request_stop();
                return;
            }
        }
    }

    std::stop_source ends_;
    std::stop_callback<std::function<void()>> agent_stops_;
    std::jthread thread_;
};

Error explain_denial(Error error)
{
    if (error.code == Code::denied)
        error.message = "slurmk8sd may not read logs (pods/log): contribs/"
                        "kubernetes/components/sbatch gives it that right";
    return error;
}

SessionEnd pass_log_on(const JobSessions &sessions, PeerStream &peer,
                       const JobPod &pod, bool follow,
                       const std::stop_token &stop)
{
    if (auto said = peer.send(FrameType::accepted, {},
                              Clock::now() + stall_limit, stop);
        !said)
        return refused(said.error());
    HangUpWatch watch(peer.fd(), stop);
    auto pass_on = [&](std::string_view bytes) {
        return peer.send(FrameType::output, bytes, Clock::now() + stall_limit,
                         watch.token());
    };
    std::chrono::milliseconds silence = follow ? follow_silence : log_silence;
    auto read = get_bytes(sessions.endpoint, log_path(pod, follow), pass_on,
                          silence, watch.token());
    if (!read)
        return refused(explain_denial(read.error()));
    return stop.stop_requested() ? refused("slurmk8sd is stopping")
                                 : SessionEnd{};
}

} // namespace

std::string log_path(const JobPod &pod, bool follow)
{
    return pod.path() + "/log?container=" + url_encode(pod.container) +
           (follow ? "&follow=true" : "");
}

SessionEnd serve_session(const JobSessions &sessions, PeerStream &peer,
                         const SessionRequest &request, uid_t caller,
                         const std::stop_token &stop)
{
    bool attach = request.what == SessionRequest::What::attach;
    if (attach && !sessions.attach)
        return refused("commands in containers are not allowed here: k8s.conf "
                       "has no UserAttach=yes");
    HttpEndpoint endpoint = sessions.endpoint;
    endpoint.give_up = stop;
    Http http(endpoint);
    auto pod = find_job_pod(http, sessions.namespaces, request.job);
    if (!pod)
        return refused(pod.error());
    std::string job = "job " + std::to_string(request.job);
    if (!may_use(*pod, caller, sessions.slurm_user))
        return refused(job + " belongs to another user");
    if (pod->phase == "Pending")
        return {0, "the container of " + job + " has not started yet", false,
                true};
    if (attach && pod->phase != "Running")
        return refused("the container of " + job + " has ended");
    log_info("a user's session has begun",
             {{"JobId", request.job},
              {"Pod", pod->ns + "/" + pod->name},
              {"UserId", caller},
              {"Does", attach ? "attach" : "logs"}});
    return attach
               ? run_in_container(sessions.endpoint, *pod, request, peer, stop)
               : pass_log_on(sessions, peer, *pod, request.follow, stop);
}

} // namespace bridge
