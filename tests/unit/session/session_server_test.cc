// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/session/server.h"
#include "tests/unit/fakes/temporary_directory.h"
#include "tests/unit/fakes/tls_certificate.h"

#include <arpa/inet.h>
#include <atomic>
#include <chrono>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <fstream>
#include <functional>
#include <memory>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <optional>
#include <string>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

using Clock = PeerStream::Clock;

// A port that was free a moment ago.
std::string free_port()
{
    auto fd = listen_tcp({"127.0.0.1", 0});
    REQUIRE(fd.has_value());
    sockaddr_in address{};
    socklen_t size = sizeof(address);
    getsockname(fd->get(), reinterpret_cast<sockaddr *>(&address), &size);
    return std::to_string(ntohs(address.sin_port));
}

// Serves each caller by saying who it is and what it asked for.
struct World {
    TemporaryDirectory folder;
    SessionConf conf{.socket = folder.path + "/user.sock"};
    // The login "stuck" is looked for as long as this lasts.
    std::atomic<bool> hangs = true;
    std::atomic<std::size_t> hang = 0; // looks for it
    std::unique_ptr<SessionServer> server{};

    ~World() { hangs = false; }

    void use_tls()
    {
        std::signal(SIGPIPE, SIG_IGN); // as the agent does; OpenSSL raises it
        conf.certificate = conf.ca_file = folder.path + "/crt";
        conf.key = folder.path + "/key";
        REQUIRE(make_server_files(conf.certificate, conf.key));
    }

    Result<> start()
    {
        auto started = SessionServer::start(
            conf,
            [this](const std::string &login,
                   const std::function<bool()> &goes_on) -> Result<uid_t> {
                hang += login == "stuck" ? 1 : 0;
                while (login == "stuck" && hangs)
                    std::this_thread::sleep_for(5ms);
                while (login == "late" && goes_on())
                    std::this_thread::sleep_for(5ms);
                if (login == "good")
                    return 1001;
                return fail(Code::denied, "who is that?");
            },
            [](PeerStream &peer, const SessionRequest &request, uid_t caller,
               const std::stop_token &stop) -> SessionEnd {
                if (request.follow) { // until the server ends
                    static_cast<void>(peer.send(FrameType::accepted, {},
                                                Clock::now() + 5s, stop));
                    while (!stop.stop_requested())
                        static_cast<void>(
                            peer.wait_frame(Clock::now() + 50ms, stop));
                    return {0, "ended", false};
                }
                return {0,
                        "uid " + std::to_string(caller) + " job " +
                            std::to_string(request.job),
                        false};
            });
        if (!started)
            return std::unexpected(started.error());
        server = std::move(*started);
        return {};
    }

    // At a port of loopback.
    Result<> start_tls()
    {
        use_tls();
        conf.address = "127.0.0.1:" + free_port();
        return start();
    }

    PeerStream connect() const
    {
        auto fd = connect_unix(conf.socket);
        REQUIRE(fd.has_value());
        return PeerStream(fd->release());
    }
};

std::string hello_of(const SessionRequest &request)
{
    return encode(request).value();
}

SessionRequest job_seven(const std::string &login = {})
{
    SessionRequest request;
    request.job = 7;
    request.login = login;
    return request;
}

std::string answer_to(PeerStream &peer, const std::string &hello,
                      FrameType type = FrameType::hello)
{
    REQUIRE(peer.send(type, hello, Clock::now() + 5s, {}));
    auto frame = peer.wait_frame(Clock::now() + 5s, {});
    REQUIRE(frame.has_value());
    CHECK(frame->type == FrameType::ended);
    return decode_session_end(frame->text).value().refused;
}

// Connects as this user, whom the kernel then vouches for; as ourselves where
// we may become nobody else. A full queue of callers is waited for.
PeerStream connect_as(uid_t user, const std::string &path)
{
    OwnedFd fd;
    std::thread([&] { // of the kernel, not glibc: for this thread alone
        if (geteuid() == 0)
            syscall(SYS_setresuid, -1, user, -1);
        for (auto until = Clock::now() + 5s; !fd && Clock::now() < until;)
            if (auto made = connect_unix(path))
                fd = std::move(*made);
            else
                std::this_thread::sleep_for(10ms);
    })
        .join();
    REQUIRE(fd);
    return PeerStream(fd.release());
}

// From this address of loopback; says nothing.
PeerStream call_from(const char *from, const std::string &to)
{
    auto server = parse_host_port(to).value();
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, from, &address.sin_addr);
    OwnedFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    REQUIRE(bind(fd.get(), reinterpret_cast<sockaddr *>(&address),
                 sizeof(address)) == 0);
    inet_pton(AF_INET, server.host.c_str(), &address.sin_addr);
    address.sin_port = htons(server.port);
    REQUIRE(connect(fd.get(), reinterpret_cast<sockaddr *>(&address),
                    sizeof(address)) == 0);
    fcntl(fd.get(), F_SETFL, O_NONBLOCK);
    int yes = 1;
    setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    return PeerStream(fd.release());
}

// From this address of loopback, with TLS. Returns nothing when turned away.
std::optional<PeerStream> try_from(const char *from, const World &world)
{
    PeerStream call = call_from(from, world.conf.address);
    auto context = client_tls(world.conf.ca_file);
    REQUIRE(context.has_value());
    int fd = dup(call.fd());
    auto tls = connect_tls(**context, fd, "127.0.0.1");
    REQUIRE(tls.has_value());
    PeerStream peer(fd, std::move(*tls));
    if (!peer.shake_hands(Clock::now() + 5s, {}))
        return std::nullopt;
    return peer;
}

PeerStream speak_from(const char *from, const World &world)
{
    auto peer = try_from(from, world);
    REQUIRE(peer.has_value());
    return std::move(*peer);
}

// Sends a request with this login, and does not wait for the answer.
PeerStream ask_with(const std::string &login, const World &world)
{
    PeerStream peer = speak_from("127.0.0.1", world);
    REQUIRE(peer.send(FrameType::hello, hello_of(job_seven(login)),
                      Clock::now() + 5s, {}));
    return peer;
}

// As speak_from(), once the server has room.
PeerStream speak_when_admitted(const char *from, const World &world)
{
    for (auto until = Clock::now() + 10s; Clock::now() < until;)
        if (auto peer = try_from(from, world))
            return std::move(*peer);
    return speak_from(from, world);
}

bool is_turned_away(PeerStream &peer)
{
    auto frame = peer.wait_frame(Clock::now() + 2s, {});
    return !frame && frame.error().code == Code::gone;
}

} // namespace

TEST_CASE_FIXTURE(World, "nobody listens where k8s.conf names no place")
{
    conf = {};

    REQUIRE(start());

    CHECK(server == nullptr);
}

TEST_CASE_FIXTURE(World, "at the socket the kernel says who calls")
{
    REQUIRE(start());
    struct stat facts{};
    REQUIRE(stat(conf.socket.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777) == 0666);
    PeerStream peer = connect();

    CHECK(answer_to(peer, hello_of(job_seven("good"))) ==
          "uid " + std::to_string(geteuid()) + " job 7");
}

TEST_CASE_FIXTURE(World, "a session begins with a request that is understood")
{
    REQUIRE(start());
    PeerStream input = connect(), odd = connect();

    CHECK(answer_to(input, "ls", FrameType::input)
              .contains("begins with a request"));
    CHECK(answer_to(odd, "{}").contains("not understood"));
}

TEST_CASE_FIXTURE(World, "a socket of before is replaced, another file is not")
{
    REQUIRE(start());
    server.reset();
    REQUIRE(start());
    PeerStream peer = connect();
    CHECK(answer_to(peer, hello_of(job_seven())).contains("job 7"));

    conf.socket = folder.path + "/file";
    std::ofstream(conf.socket) << "mine";
    server.reset();
    CHECK(!start());
}

TEST_CASE_FIXTURE(World,
                  "a user has so many sessions, which end with the agent")
{
    REQUIRE(start());
    SessionRequest stays = job_seven();
    stays.follow = true;
    std::vector<PeerStream> peers;
    for (std::size_t i = 0; i < SessionServer::most_of_user; i++) {
        peers.push_back(connect());
        REQUIRE(peers.back().send(FrameType::hello, hello_of(stays),
                                  Clock::now() + 5s, {}));
        REQUIRE(peers.back().wait_frame(Clock::now() + 5s, {}).has_value());
    }
    if (geteuid() != 0) // whom no limit holds
        for (bool refused = false; !refused;) {
            PeerStream more = connect();
            refused =
                answer_to(more, hello_of(job_seven())).contains("too many");
        }

    server.reset();

    for (PeerStream &peer : peers)
        CHECK(peer.wait_frame(Clock::now() + 5s, {}).value().type ==
              FrameType::ended);
}

TEST_CASE_FIXTURE(World, "who connects and says nothing keeps no others out")
{
    constexpr uid_t nobody = 65534;
    chmod(folder.path.c_str(), 0711);
    REQUIRE(start());
    std::vector<PeerStream> silent;
    for (std::size_t i = 0; i < SessionServer::most_sessions; i++)
        silent.push_back(connect_as(nobody, conf.socket));

    if (geteuid() == 0) {
        PeerStream peer = connect();
        CHECK(answer_to(peer, hello_of(job_seven())).contains("job 7"));
    }

    CHECK(is_turned_away(silent[SessionServer::most_calls_of_user]));
    CHECK(is_turned_away(silent.back()));
}

TEST_CASE_FIXTURE(World, "a stranger by TLS takes the place of the oldest one")
{
    REQUIRE(start_tls());
    std::vector<PeerStream> silent;
    for (std::size_t i = 0; i < SessionServer::most_of_address; i++)
        silent.push_back(call_from("127.0.0.1", conf.address));

    PeerStream more = speak_from("127.0.0.1", *this);
    CHECK(answer_to(more, hello_of(job_seven("good"))) == "uid 1001 job 7");
    CHECK(is_turned_away(silent.front()));

    for (std::size_t i = 0; i < SessionServer::most_of_address; i++)
        silent.push_back(call_from("127.0.0.2", conf.address));
    silent.push_back(call_from("127.0.0.3", conf.address));
    PeerStream last = speak_from("127.0.0.3", *this);
    CHECK(answer_to(last, hello_of(job_seven("good"))) == "uid 1001 job 7");
    CHECK(is_turned_away(silent[1]));
    PeerStream here = connect(); // at the socket
    CHECK(answer_to(here, hello_of(job_seven())).contains("job 7"));
}

TEST_CASE_FIXTURE(World, "so does one that waits for its login to be known")
{
    REQUIRE(start_tls());
    std::vector<PeerStream> waiting;
    for (std::size_t i = 0; i < SessionServer::most_of_address; i++) {
        waiting.push_back(ask_with("late", *this));
    }

    PeerStream more = speak_from("127.0.0.1", *this);
    CHECK(answer_to(more, hello_of(job_seven("good"))) == "uid 1001 job 7");
}

TEST_CASE_FIXTURE(World, "strangers whose threads cannot end are limited")
{
    REQUIRE(start_tls());
    std::vector<PeerStream> stuck;
    for (std::size_t i = 0; i < SessionServer::most_threads; i++) {
        stuck.push_back(ask_with("stuck", *this));
        for (auto until = Clock::now() + 10s; hang <= i;) {
            REQUIRE(Clock::now() < until);
            std::this_thread::sleep_for(1ms);
        }
    }
    CHECK(is_turned_away(stuck.front()));

    PeerStream more = call_from("127.0.0.2", conf.address);
    CHECK(is_turned_away(more));
    PeerStream here = connect(); // at the socket
    CHECK(answer_to(here, hello_of(job_seven())).contains("job 7"));

    hangs = false;
    stuck.clear();
    PeerStream later = speak_when_admitted("127.0.0.1", *this);
    CHECK(answer_to(later, hello_of(job_seven("good"))) == "uid 1001 job 7");
}

TEST_CASE_FIXTURE(World, "strangers take no place of a session")
{
    REQUIRE(start_tls());
    SessionRequest stays = job_seven("good");
    stays.follow = true;
    PeerStream served = speak_from("127.0.0.1", *this);
    REQUIRE(
        served.send(FrameType::hello, hello_of(stays), Clock::now() + 5s, {}));
    REQUIRE(served.wait_frame(Clock::now() + 5s, {}).has_value());

    std::vector<PeerStream> silent;
    for (std::size_t i = 0; i <= SessionServer::most_of_address; i++)
        silent.push_back(call_from("127.0.0.1", conf.address));
    CHECK(is_turned_away(silent.front()));

    server.reset();
    auto end = served.wait_frame(Clock::now() + 5s, {});
    REQUIRE(end.has_value());
    CHECK(decode_session_end(end->text).value().refused == "ended");
}

TEST_CASE_FIXTURE(World, "over TLS a login says who calls")
{
    REQUIRE(start_tls());
    auto context = client_tls(conf.ca_file);
    REQUIRE(context.has_value());
    auto ask = [&](const std::string &login) {
        auto fd = connect_tcp(parse_host_port(conf.address).value());
        REQUIRE(fd.has_value());
        auto tls = connect_tls(**context, fd->get(), "127.0.0.1");
        REQUIRE(tls.has_value());
        PeerStream peer(fd->release(), std::move(*tls));
        REQUIRE(peer.shake_hands(Clock::now() + 5s, {}));
        return answer_to(peer, hello_of(job_seven(login)));
    };

    CHECK(ask("good") == "uid 1001 job 7");
    CHECK(ask("bad") == "who is that?");
    CHECK(ask("") == "who is that?");
}

TEST_CASE_FIXTURE(World, "a server is trusted by its authority and its name")
{
    REQUIRE(start_tls());
    TemporaryDirectory elsewhere;
    REQUIRE(
        make_server_files(elsewhere.path + "/crt", elsewhere.path + "/key"));
    auto code_for = [&](const std::string &ca_file, const std::string &host) {
        auto context = client_tls(ca_file);
        REQUIRE(context.has_value());
        auto fd = connect_tcp(parse_host_port(conf.address).value());
        REQUIRE(fd.has_value());
        auto tls = connect_tls(**context, fd->get(), host);
        REQUIRE(tls.has_value());
        PeerStream peer(fd->release(), std::move(*tls));
        auto done = peer.shake_hands(Clock::now() + 5s, {});
        return done ? std::optional<Code>() : done.error().code;
    };

    CHECK(code_for(conf.ca_file, "127.0.0.1") == std::nullopt);
    CHECK(code_for(conf.ca_file, "127.0.0.2") == Code::denied);
    CHECK(code_for(conf.ca_file, "localhost") == Code::denied);
    CHECK(code_for(elsewhere.path + "/crt", "127.0.0.1") == Code::denied);
}

TEST_CASE_FIXTURE(World, "a key that others may read is not used")
{
    use_tls();
    conf.address = "127.0.0.1:" + free_port();
    chmod(conf.key.c_str(), 0640);

    auto started = start();

    REQUIRE(!started);
    CHECK(started.error().message.contains("others"));
}
