// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/launch.h"
#include "cli/srun/proof.h"
#include "cli/srun/step_frame.h"
#include "tests/unit/fakes/frames.h"

#include <doctest/doctest.h>

using namespace bridge;

namespace {

Launch some_launch()
{
    Launch launch;
    launch.facts = {12, 3, 10, 4, 1, "my job", "alice"};
    launch.node = 1;
    launch.node_name = "n2";
    launch.tasks = {2, 3, 7};
    launch.directory = "/home/alice";
    launch.umask = 077;
    launch.arguments = {"env", "", "a b"};
    launch.environment = {"A=1", "B="};
    launch.input = {StepStream::Kind::one, 3};
    launch.output = {StepStream::Kind::file, 0, "out-%t"};
    launch.append = true;
    launch.kill_wait = 5;
    launch.limits = {1024, 0, ~std::uint64_t{0}, 5'000'000'000};
    return launch;
}

std::string hex(const Digest &digest)
{
    std::string text;
    for (unsigned char byte : digest)
        for (int half : {byte >> 4, byte & 15})
            text += "0123456789abcdef"[half];
    return text;
}

} // namespace

TEST_CASE("frames of a step come out as they went in, however they are cut")
{
    std::vector<StepFrame> frames = {
        {StepFrameKind::output, std::string(max_step_frame, 'x')},
        {StepFrameKind::input, ""},
        {StepFrameKind::error, std::string("\0\n", 2)},
        {StepFrameKind::taken, "1234"},
        {StepFrameKind::cancelled, ""},
        {StepFrameKind::done, ""}};
    std::string bytes;
    for (const StepFrame &frame : frames)
        bytes += encode_step_frame(frame.kind, frame.text);

    for (std::size_t piece : {std::size_t{1}, std::size_t{7}, bytes.size()})
        CHECK(frames_in<StepFrame>(bytes, piece) == frames);
}

TEST_CASE("a frame of no kind, or one that is too long, is refused at once")
{
    using namespace std::string_view_literals;
    CHECK(is_refused<StepFrame>("z"));
    CHECK(is_refused<StepFrame>("o\0\1\0\5"sv));
    CHECK(is_refused<StepFrame>("s\0\0\0\5"sv));
    CHECK(is_refused<StepFrame>("d\0\0\0\1"sv));
    CHECK(is_refused<StepFrame>("l\xff\xff\xff\xff"sv));
    CHECK_FALSE(is_refused<StepFrame>("o\0\1\0\4"sv));
}

TEST_CASE("a launch is read as it was written, and only whole")
{
    Launch launch = some_launch();
    std::string text = encode_launch(launch);

    auto read = decode_launch(text);

    REQUIRE(read.has_value());
    CHECK(*read == launch);
    for (std::size_t size = 0; size < text.size(); size++)
        CHECK_FALSE(decode_launch(text.substr(0, size)).has_value());
    CHECK_FALSE(decode_launch(text + "x").has_value());
}

TEST_CASE("a launch that makes no sense is refused")
{
    auto refused = [](auto change) {
        Launch launch = some_launch();
        change(launch);
        auto read = decode_launch(encode_launch(launch));
        return !read && read.error().code == Code::rejected;
    };

    CHECK(refused([](Launch &l) { l.tasks.clear(); }));
    CHECK(refused([](Launch &l) { l.tasks = {2, 2}; }));
    CHECK(refused([](Launch &l) { l.tasks = {3, 2}; }));
    CHECK(refused([](Launch &l) { l.tasks = {max_step_tasks}; }));
    CHECK(refused([](Launch &l) { l.arguments.clear(); }));
    CHECK(refused([](Launch &l) { l.arguments[0] = ""; }));
    CHECK(refused([](Launch &l) { l.umask = 01000; }));
    CHECK(refused([](Launch &l) { l.environment[0] += '\0'; }));
    CHECK(refused([](Launch &l) { l.arguments[1] = std::string("a\0b", 3); }));
    CHECK(refused(
        [](Launch &l) { l.error.kind = static_cast<StepStream::Kind>(9); }));
}

TEST_CASE("a count that the rest cannot hold costs no memory")
{
    FieldReader reader(std::string_view("\xff\xff\xff\xff", 4));

    CHECK(reader.list().size() <= 1);
    CHECK_FALSE(reader.whole());
}

TEST_CASE("HMAC-SHA256 is that of RFC 4231")
{
    Digest key{};
    std::fill(key.begin(), key.begin() + 20,
              0x0b); // zeros behind change nothing

    CHECK(hex(hmac_sha256(key, "Hi There")) ==
          "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(hex(sha256("abc")) ==
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("a key is 64 hex digits")
{
    std::string digits(64, 'a');

    CHECK(parse_step_key(digits).has_value());
    CHECK(parse_step_key(digits + "\n").has_value());
    CHECK((*parse_step_key(digits))[31] == 0xaa);
    CHECK_FALSE(parse_step_key(digits + "\n\n").has_value());
    CHECK_FALSE(parse_step_key(digits.substr(1)).has_value());
    CHECK_FALSE(parse_step_key(digits.substr(1) + "A").has_value());
    CHECK_FALSE(parse_step_key("").has_value());
}

TEST_CASE("srun and worker believe each other with one key, and only then")
{
    StepIdentity us{{1}, {2}, {7}}, other_key{{3}, {2}, {7}},
        other_program{{1}, {4}, {7}}, other_worker{{1}, {2}, {8}};
    Digest worker_nonce{5}, srun_nonce{6};

    std::string hello = make_hello(us, worker_nonce);
    std::string answer = make_answer(us, hello, srun_nonce);
    std::string proof = make_proof(us, worker_nonce, answer);

    CHECK(hello.size() == hello_size);
    CHECK(answer.size() == answer_size);
    CHECK(proof.size() == proof_size);
    CHECK(check_hello(us, hello) == HelloFault::none);
    CHECK(check_hello(other_program, hello) == HelloFault::other_program);
    CHECK(check_hello(us, "SSH-2.0") == HelloFault::not_ours);
    CHECK(check_answer(us, worker_nonce, answer));
    CHECK_FALSE(check_answer(other_key, worker_nonce, answer));
    CHECK_FALSE(check_answer(other_program, worker_nonce, answer));
    CHECK_FALSE(check_answer(other_worker, worker_nonce, answer));
    CHECK_FALSE(check_answer(us, srun_nonce, answer)); // of another caller
    CHECK(check_proof(us, hello, srun_nonce, proof));
    CHECK_FALSE(check_proof(other_key, hello, srun_nonce, proof));
    CHECK_FALSE(check_proof(other_worker, hello, srun_nonce, proof));
    CHECK_FALSE(check_proof(us, hello, worker_nonce, proof));
    // What srun has sent is no proof for it.
    CHECK_FALSE(check_proof(us, hello, srun_nonce, answer.substr(64)));
}
