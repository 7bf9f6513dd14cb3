// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/reflector.h"
#include "tests/unit/fakes/tls_server.h"

#include <condition_variable>
#include <doctest/doctest.h>
#include <mutex>
#include <thread>
#include <vector>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

using Request = TlsServer::Request;
using Peer = TlsServer::Peer;
using Script = std::vector<TlsServer::Handler>; // one a request

std::string event(const std::string &type, const std::string &name,
                  const std::string &version)
{
    return R"({"type":")" + type +
           R"(","object":{"metadata":{"namespace":"ns","uid":"u-)" + name +
           R"(","name":")" + name + R"(","resourceVersion":")" + version +
           "\"}}}\n";
}

std::string list_end(const std::string &version)
{
    return R"({"type":"BOOKMARK","object":{"kind":"Pod","metadata":
{"resourceVersion":")" +
           version +
           R"(","annotations":{"k8s.io/initial-events-end":"true"}},)"
           R"("spec":{"containers":null},"status":{}}})";
}

std::string one_line(std::string text)
{
    std::erase(text, '\n');
    return text + "\n";
}

// A stream that says this and stays open.
TlsServer::Handler says(const std::string &lines)
{
    return [lines](const Request &, Peer &peer) {
        peer.send(stream_head() + (lines.empty() ? "" : chunk(lines)));
        peer.wait_for_end();
        peer.cut();
    };
}

// A stream that says this and ends well.
TlsServer::Handler ends_after(const std::string &lines)
{
    return [lines](const Request &, Peer &peer) {
        peer.send(stream_head() + chunk(lines) + last_chunk());
    };
}

TlsServer::Handler replies(int status, const std::string &body)
{
    return [=](const Request &, Peer &peer) {
        peer.send(reply_text(status, body));
    };
}

// Writes down what it hears as words: "[" list "]" and "+a", "-a".
class Notes : public ReflectorSink {
  public:
    void list_begins() override { add("["); }
    void list_item(const Json &object) override { add(name(object)); }
    void list_ends() override { add("]"); }
    void changed(const Json &object) override { add("+" + name(object)); }
    void deleted(const Json &object) override { add("-" + name(object)); }
    void working() override {}
    void failing(const Error &error) override
    {
        add(std::string("!") + code_name(error.code));
    }

    // False when it did not come in time.
    bool wait_for(const std::string &text)
    {
        std::unique_lock lock(mutex_);
        return heard_.wait_for(lock, 60s, [&] { return text_.contains(text); });
    }
    std::string text()
    {
        std::lock_guard lock(mutex_);
        return text_;
    }

  private:
    static std::string name(const Json &object)
    {
        return object.text("metadata/name");
    }
    void add(const std::string &word)
    {
        std::lock_guard lock(mutex_);
        text_ += word + " ";
        heard_.notify_all();
    }

    std::mutex mutex_;
    std::condition_variable heard_;
    std::string text_;
};

// A reflector against a server that plays a script; the last line of it is
// repeated.
struct Stage {
    explicit Stage(Script lines, ReflectorTimes times = quick())
        : script(std::move(lines)), server([this](const Request &r, Peer &p) {
              std::size_t turn = std::min(next++, script.size() - 1);
              script[turn](r, p);
          }),
          reflector(server.endpoint(), "/api/v1/pods",
                    "spec.schedulerName=slurm", notes, times),
          thread([this](std::stop_token stop) { reflector.run(stop); })
    {
    }

    static ReflectorTimes quick() { return {1ms, 4ms, 1h, 5s}; }

    std::string target(std::size_t i)
    {
        auto requests = server.requests();
        return i < requests.size() ? requests[i].target : std::string();
    }

    Script script;
    std::atomic<std::size_t> next = 0;
    TlsServer server;
    Notes notes;
    Reflector reflector;
    std::jthread thread;
};

const std::string initial = event("ADDED", "a", "5") +
                            event("ADDED", "b", "7") + one_line(list_end("9"));

} // namespace

TEST_CASE("a streaming list goes on as a watch")
{
    Stage stage(
        {says(initial + event("MODIFIED", "a", "10") +
              event("ADDED", "c", "11") + event("DELETED", "b", "12"))});

    REQUIRE(stage.notes.wait_for("-b"));

    CHECK(stage.notes.text() == "[ a b ] +a +c -b ");
    std::string target = stage.target(0);
    CHECK(target.starts_with("/api/v1/pods?watch=true&"));
    for (const char *option :
         {"allowWatchBookmarks=true", "sendInitialEvents=true",
          "resourceVersionMatch=NotOlderThan",
          "fieldSelector=spec.schedulerName%3Dslurm", "timeoutSeconds="})
        CHECK_MESSAGE(target.contains("&" + std::string(option)), target);
    CHECK(!target.contains("resourceVersion="));
}

TEST_CASE("after a clean end the watch goes on from the last event")
{
    Stage stage({ends_after(initial + event("MODIFIED", "a", "10")),
                 says(event("MODIFIED", "b", "11"))});

    REQUIRE(stage.notes.wait_for("+b"));

    CHECK(stage.notes.text() == "[ a b ] +a +b ");
    CHECK(stage.target(1).contains("&resourceVersion=10"));
    CHECK(!stage.target(1).contains("sendInitialEvents"));
}

TEST_CASE("a bookmark moves the version and is no object")
{
    Stage stage({ends_after(initial + event("BOOKMARK", "", "400")),
                 says(event("MODIFIED", "b", "401"))});

    REQUIRE(stage.notes.wait_for("+b"));

    CHECK(stage.notes.text() == "[ a b ] +b ");
    CHECK(stage.target(1).contains("&resourceVersion=400"));
}

TEST_CASE("a broken connection means watch again, not list again")
{
    Stage stage({[](const Request &, Peer &peer) {
                     peer.send(stream_head() + chunk(initial));
                     peer.cut();
                 },
                 replies(429, "{}"), says(event("ADDED", "c", "10"))});

    REQUIRE(stage.notes.wait_for("+c"));

    CHECK(stage.notes.text() == "[ a b ] !busy !busy +c ");
    CHECK(stage.target(2).contains("&resourceVersion=9"));
}

TEST_CASE("an expired version means list again, however it is said")
{
    const std::string expired =
        R"({"kind":"Status","code":410,"reason":"Expired","message":"old"})";
    for (TlsServer::Handler refusal_reason :
         {ends_after(R"({"type":"ERROR","object":)" + expired + "}\n"),
          replies(410, expired)}) {
        Stage stage(
            {ends_after(initial), refusal_reason,
             says(event("ADDED", "z", "50") + one_line(list_end("51")))});

        REQUIRE(stage.notes.wait_for("z ]"));

        CHECK(stage.notes.text() == "[ a b ] !gone [ z ] ");
        CHECK(stage.target(1).contains("&resourceVersion=9"));
        CHECK(!stage.target(2).contains("resourceVersion="));
    }
}

TEST_CASE("a watch that says nothing at all means list again")
{
    ReflectorTimes times = Stage::quick();
    times.silence = 500ms;
    Stage stage({ends_after(initial), says(""), says(initial)}, times);

    REQUIRE(stage.notes.wait_for("!gone [ a b ]"));

    CHECK(stage.target(1).contains("&resourceVersion=9"));
    CHECK(!stage.target(2).contains("resourceVersion="));
}

TEST_CASE("a list that ends before its end begins again")
{
    Stage stage({ends_after(event("ADDED", "a", "5")), says(initial)});

    REQUIRE(stage.notes.wait_for("]"));

    CHECK(stage.notes.text() == "[ a !busy [ a b ] ");
}

TEST_CASE("changes in the middle of a list end up in it")
{
    Stage stage({says(event("ADDED", "a", "1") + event("ADDED", "b", "2") +
                      event("DELETED", "a", "3") + event("MODIFIED", "b", "4") +
                      event("DELETED", "b", "5") + event("ADDED", "b", "6") +
                      one_line(list_end("7")))});

    REQUIRE(stage.notes.wait_for("-a"));

    CHECK(stage.notes.text() == "[ a b b b ] -a ");
}

TEST_CASE("a server that refuses streaming lists is asked for pages")
{
    auto page = [](const std::string &item, const std::string &token) {
        return replies(200, R"({"metadata":{"resourceVersion":"20",)"
                            R"("continue":")" +
                                token + R"("},"items":[{"metadata":{"name":")" +
                                item + "\"}}]}");
    };
    for (int status : {400, 422}) {
        Stage stage({replies(status, R"({"message":"forbidden"})"),
                     page("a", "t/1"), page("b", ""),
                     says(event("MODIFIED", "a", "21"))});

        REQUIRE(stage.notes.wait_for("+a"));

        // The streaming list began one, too.
        CHECK(stage.notes.text() == "[ [ a b ] +a ");
        CHECK(stage.target(1).contains("?limit=500&fieldSelector="));
        CHECK(stage.target(2).contains("&continue=t%2F1&"));
        CHECK(stage.target(3).contains("&resourceVersion=20"));
    }
}

TEST_CASE("a page that has expired means from the first page again")
{
    const char *first = R"({"metadata":{"resourceVersion":"20","continue":"t"},
                            "items":[{"metadata":{"name":"a"}}]})";
    const char *whole = R"({"metadata":{"resourceVersion":"30"},
                            "items":[{"metadata":{"name":"b"}}]})";
    Stage stage({replies(422, "{}"), replies(200, first), replies(410, "{}"),
                 replies(200, whole), says(event("ADDED", "c", "31"))});

    REQUIRE(stage.notes.wait_for("+c"));

    CHECK(stage.notes.text() == "[ [ a !gone [ b ] +c ");
    CHECK(!stage.target(3).contains("continue"));
}

TEST_CASE("an empty list where there was something is asked for again")
{
    const std::string empty = one_line(list_end("20"));
    Stage stage({ends_after(initial), replies(410, "{}"), ends_after(empty),
                 ends_after(empty), says(initial)});

    REQUIRE(stage.notes.wait_for("!gone [ a b ]"));

    CHECK(stage.notes.text() == "[ a b ] !gone [ !gone [ !gone [ a b ] ");
    CHECK(!stage.target(3).contains("resourceVersion="));
}

TEST_CASE("an empty list is believed in the end, and where all is gone anyway")
{
    const std::string empty = one_line(list_end("20"));
    ReflectorTimes times = Stage::quick();
    times.doubt = 0ms;
    Stage stays({ends_after(initial), replies(410, "{}"),
                 says(empty + event("ADDED", "c", "21"))},
                times);
    CHECK(stays.notes.wait_for("[ a b ] !gone [ ] +c "));

    const std::string deletions =
        event("DELETED", "a", "10") + event("DELETED", "b", "11");
    Stage deleted({ends_after(initial + deletions), replies(410, "{}"),
                   ends_after(empty), says(event("ADDED", "c", "21"))});
    CHECK(deleted.notes.wait_for("[ a b ] -a -b !gone [ ] +c "));
}

TEST_CASE("a streaming list that was emptied is made again, too")
{
    const std::string empty = one_line(list_end("20"));
    ReflectorTimes times = Stage::quick();
    times.first_delay = times.doubt = 0ms;
    Stage stage({ends_after(initial), replies(410, "{}"), ends_after(empty),
                 ends_after(initial), says("")},
                times);

    REQUIRE(stage.notes.wait_for("[ ] [ a b ]"));
    while (stage.server.requests().size() < 5)
        std::this_thread::yield();

    CHECK(stage.target(3).contains("timeoutSeconds=60&sendInitialEvents"));
    CHECK(stage.target(4).contains("&resourceVersion=9"));
}

TEST_CASE("what was emptied is listed again until there is something")
{
    ReflectorTimes times = Stage::quick();
    times.first_delay = times.doubt = 0ms;
    Stage stage({replies(422, "{}"),
                 replies(200, R"({"metadata":{"resourceVersion":"5"},)"
                              R"("items":[{"metadata":{"name":"a"}}]})"),
                 replies(410, "{}"),
                 replies(200, R"({"metadata":{"resourceVersion":"6"}})"),
                 ends_after(event("BOOKMARK", "", "7")),
                 replies(200, R"({"metadata":{"resourceVersion":"8"},)"
                              R"("items":[{"metadata":{"name":"a"}}]})"),
                 ends_after(event("BOOKMARK", "", "9")), says("")},
                times);

    REQUIRE(stage.notes.wait_for("[ ] [ a ]"));
    while (stage.server.requests().size() < 8)
        std::this_thread::yield();

    CHECK(stage.target(4).contains("timeoutSeconds=60&"));
    CHECK(!stage.target(5).contains("watch=true"));
    CHECK(!stage.target(6).contains("timeoutSeconds=60&"));
    CHECK(stage.target(7).contains("&resourceVersion=9"));
}

TEST_CASE("an empty last page is doubted, too")
{
    auto page = [](const std::string &items) {
        return replies(200,
                       R"({"metadata":{"resourceVersion":"20"},"items":[)" +
                           items + "]}");
    };
    const std::string a = R"({"metadata":{"name":"a"}})";
    Stage stage({replies(422, "{}"), page(a), replies(410, "{}"), page(""),
                 page(a), says(event("ADDED", "c", "31"))});

    REQUIRE(stage.notes.wait_for("+c"));

    CHECK(stage.notes.text() == "[ [ a ] !gone [ !gone [ a ] +c ");
}

TEST_CASE("a server that names a time is left alone for so long")
{
    Stage stage({[](const Request &, Peer &peer) {
        peer.send(reply_text(429, "{}", "Retry-After: 3600\r\n"));
    }});
    REQUIRE(stage.notes.wait_for("!busy"));

    std::this_thread::sleep_for(50ms); // time for ten more without it

    CHECK(stage.server.requests().size() == 1);
}

TEST_CASE("nonsense is an error and is tried again")
{
    Stage stage({ends_after("no JSON\n"), replies(403, R"({"message":"no"})"),
                 replies(200, "{}"), says(initial)});

    REQUIRE(stage.notes.wait_for("]"));

    CHECK(stage.notes.text() == "[ !busy [ !denied [ !busy [ a b ] ");
}

TEST_CASE("a stop ends the longest back-off")
{
    ReflectorTimes times = Stage::quick();
    times.first_delay = 1h;
    times.longest_delay = 1h;
    Stage stage({replies(503, "{}")}, times);
    REQUIRE(stage.notes.wait_for("!busy"));

    auto asked = std::chrono::steady_clock::now();
    stage.thread.request_stop();
    stage.thread.join();

    CHECK(std::chrono::steady_clock::now() - asked < 10s);
}
