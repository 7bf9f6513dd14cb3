// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/user/session.h"

#include "agent/session/socket.h"
#include "agent/session/tls.h"
#include "cli/commands.h"
#include "cli/user/job_name.h"
#include "cli/user/slurm_login.h"
#include "common/base/host_port.h"
#include "common/contract/conf.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <poll.h>
#include <unistd.h>

namespace bridge {

namespace {

using namespace std::chrono_literals;

constexpr auto patience = 20s;

Result<PeerStream> open_by_socket(const SessionConf &conf)
{
    auto fd = connect_unix(conf.socket);
    if (!fd)
        return std::unexpected(fd.error());
    return PeerStream(fd->release());
}

Result<PeerStream> open_by_tls(const SessionConf &conf)
{
    auto server = parse_host_port(conf.server);
    auto context = client_tls(conf.ca_file);
    if (!server || !context)
        return std::unexpected(server ? context.error() : server.error());
    auto fd = connect_tcp(*server);
    if (!fd)
        return std::unexpected(fd.error());
    auto tls = connect_tls(**context, fd->get(), server->host);
    if (!tls)
        return std::unexpected(tls.error());
    PeerStream stream(fd->release(), std::move(*tls));
    auto done = stream.shake_hands(PeerStream::Clock::now() + patience, {});
    if (!done)
        return fail(done.error(), "slurmk8sd at " + conf.server);
    return stream;
}

// Returns false on failure, with errno.
bool is_here(const SessionConf &conf)
{
    return !conf.socket.empty() && access(conf.socket.c_str(), F_OK) == 0;
}

std::string no_server_message(const SessionConf &conf)
{
    if (conf.socket.empty())
        return "k8s.conf has neither UserSocket nor UserServer: users have no "
               "access to logs and containers here";
    return conf.socket + ": " + std::strerror(errno) +
           ": is slurmk8sd running, and on this host?";
}

} // namespace

Result<SessionConf> load_user_conf(const std::string &path)
{
    if (auto whole = load_conf(path); !whole)
        return std::unexpected(whole.error());
    return load_session_conf(path);
}

Result<PeerStream> open_session(const SessionConf &conf, SessionRequest request)
{
    bool here = is_here(conf);
    if (!here && conf.server.empty())
        return fail(Code::denied, no_server_message(conf));
    if (!here) { // before connecting: slurmk8sd does not wait for slurmctld
        auto login = make_login();
        if (!login)
            return std::unexpected(login.error());
        request.login = std::move(*login);
    }
    auto hello = encode(request);
    if (!hello)
        return std::unexpected(hello.error());
    auto stream = here ? open_by_socket(conf) : open_by_tls(conf);
    if (!stream)
        return stream;
    auto sent = stream->send(FrameType::hello, *hello,
                             PeerStream::Clock::now() + patience, {});
    if (!sent)
        return std::unexpected(sent.error());
    return stream;
}

std::expected<std::uint32_t, int> job_meant(const std::string &text)
{
    auto name = parse_job_name(text);
    if (!name)
        return std::unexpected(
            print_error("\"" + text + "\" is not a JobId", exit_wrong_call));
    auto id = find_job_id(*name);
    if (!id)
        return std::unexpected(print_error(
            id.error().message,
            id.error().code == Code::not_found ? exit_unknown : exit_failed));
    return *id;
}

bool write_to(int fd, std::string_view bytes)
{
    while (!bytes.empty()) {
        ssize_t count = write(fd, bytes.data(), bytes.size());
        if (count > 0) {
            bytes.remove_prefix(static_cast<std::size_t>(count));
            continue;
        }
        // another process made it non-blocking
        if (count < 0 && errno == EAGAIN) {
            pollfd one = {fd, POLLOUT, 0};
            poll(&one, 1, -1);
        } else if (count == 0 || errno != EINTR) {
            return false;
        }
    }
    return true;
}

int report_end(const SessionEnd &end)
{
    if (end.refused.empty())
        return end.exit;
    return print_error(end.refused, end.unknown ? exit_unknown : exit_failed);
}

} // namespace bridge
