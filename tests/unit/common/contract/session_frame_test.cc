// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/session_frame.h"
#include "common/contract/session_request.h"
#include "tests/unit/fakes/frames.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

SessionRequest attach(std::vector<std::string> command)
{
    SessionRequest request;
    request.what = SessionRequest::What::attach;
    request.job = 4711;
    request.command = std::move(command);
    return request;
}

} // namespace

TEST_CASE("frames come out as they went in, in whatever pieces they arrive")
{
    std::string bytes = encode_frames(FrameType::output, "a\nb") +
                        encode_frames(FrameType::accepted, "") +
                        encode_frames(FrameType::ended, "{}");
    std::vector<Frame> all = {{FrameType::output, "a\nb"},
                              {FrameType::accepted, ""},
                              {FrameType::ended, "{}"}};

    CHECK(frames_in<Frame>(bytes, 1) == all);
    CHECK(frames_in<Frame>(bytes, 7) == all);
    CHECK(frames_in<Frame>(bytes, bytes.size()) == all);
}

TEST_CASE("a long text is several frames")
{
    std::string text(max_frame + 1, 'x');

    auto all = frames_in<Frame>(encode_frames(FrameType::output, text), 4096);

    REQUIRE(all.size() == 2);
    CHECK(all[0].text.size() == max_frame);
    CHECK(all[1].text == "x");
}

TEST_CASE("what is no frame is refused before it is kept")
{
    using namespace std::string_literals;
    CHECK(is_refused<Frame>("GET / HTTP/1.1\r\n"));
    CHECK(is_refused<Frame>("h\xff\xff\xff\xff"));
    CHECK(is_refused<Frame>("h\x00\x01\x00\x01"s));
    CHECK(is_refused<Frame>("\0\0\0\0\0"s));
    CHECK(!is_refused<Frame>("h\x00\x01\x00\x00"s)); // the longest one
}

TEST_CASE("a request comes out as it went in")
{
    SessionRequest logs;
    logs.job = 4294967295;
    logs.follow = true;
    logs.login = "secret";
    CHECK(decode_session_request(encode(logs).value()).value() == logs);

    SessionRequest shell = attach({"sh", "-c", "echo \"a b\"; exit 3", ""});
    shell.input = shell.terminal = true;
    shell.window = {50, 132};
    CHECK(decode_session_request(encode(shell).value()).value() == shell);
}

TEST_CASE("a command that would arrive as another one is not sent")
{
    using namespace std::string_literals;
    for (const auto &command : std::vector<std::vector<std::string>>{
             {}, {""}, {"a", "b\0c"s}, {"a", "\xff"}}) {
        auto text = encode(attach(command));
        CHECK(!text);
        if (!text)
            CHECK(text.error().code == Code::rejected);
    }
    CHECK(!encode(attach({std::string(max_frame, 'x')})));
}

TEST_CASE("a request of somebody else's making is refused")
{
    for (const char *text :
         {"", "[]", "{}", "{\"do\":\"logs\"}", "{\"do\":\"logs\",\"job\":0}",
          "{\"do\":\"logs\",\"job\":-1}",
          "{\"do\":\"logs\",\"job\":4294967296}",
          "{\"do\":\"logs\",\"job\":\"1\"}", "{\"do\":\"kill\",\"job\":1}",
          "{\"do\":\"attach\",\"job\":1}",
          "{\"do\":\"attach\",\"job\":1,\"command\":[]}",
          "{\"do\":\"attach\",\"job\":1,\"command\":[\"a\\u0000b\"]}",
          "{\"do\":\"attach\",\"job\":1,\"command\":\"sh\"}"}) {
        CAPTURE(text);
        auto request = decode_session_request(text);
        REQUIRE(!request);
        CHECK(request.error().code == Code::rejected);
    }
}

TEST_CASE("sizes of windows that no terminal has are none")
{
    CHECK(decode_window_size(encode(WindowSize{24, 80})).value() ==
          WindowSize{24, 80});
    CHECK(decode_window_size("{\"rows\":65536,\"columns\":-1}").value() ==
          WindowSize{});
    CHECK(!decode_window_size("{"));
}

TEST_CASE("an outcome is an exit code or a refusal")
{
    for (const SessionEnd &end : {SessionEnd{}, SessionEnd{137, "", false},
                                  SessionEnd{0, "no such job", true},
                                  SessionEnd{0, "wait", false, true}})
        CHECK(decode_session_end(encode(end)).value() == end);
    CHECK(!decode_session_end("{}"));
    CHECK(!decode_session_end("{\"exit\":256}"));
    CHECK(!decode_session_end("{\"exit\":-1}"));
}
