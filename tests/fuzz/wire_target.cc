// SPDX-License-Identifier: GPL-2.0-or-later
// What comes over sockets, from slurmctld's environment, and from its disk.
#include "agent/batch/array.h"
#include "agent/batch/output_name.h"
#include "cli/srun/hosts_file.h"
#include "cli/srun/launch.h"
#include "cli/srun/step_frame.h"
#include "common/base/json.h"
#include "common/contract/batch_options.h"
#include "common/contract/batch_script.h"
#include "common/contract/batch_template.h"
#include "common/contract/hook_message.h"
#include "common/contract/session_frame.h"
#include "common/contract/session_request.h"
#include "common/kube/line_framer.h"
#include "common/kube/websocket.h"
#include "plugins/prep/gate_file.h"
#include "plugins/shared/job_facts.h"
#include "tests/fuzz/targets.h"

#include <algorithm>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace bridge {

namespace {

constexpr std::size_t max_line = 64;

void hook_message(std::string_view input)
{
    auto message = decode_hook_message(input);
    if (!message || message->type == HookMessage::Type::unknown)
        return;
    auto again = decode_hook_message(encode(*message));
    promise(again.has_value());
    promise(again->type == message->type && again->job == message->job);
}

// All frames of what has come, so many bytes at a time, up to what is none; and
// whether there was that.
template <class Frame>
std::pair<std::vector<Frame>, bool> frames_of(std::string_view input,
                                              std::size_t piece)
{
    FrameCutter<Frame> reader;
    std::vector<Frame> all;
    for (std::string_view rest = input; !rest.empty();) {
        reader.feed(rest.substr(0, piece));
        rest.remove_prefix(std::min(piece, rest.size()));
        for (;;) {
            auto frame = reader.next();
            if (!frame)
                return {all, true};
            if (!*frame)
                break;
            all.push_back(**frame);
        }
    }
    return {all, false};
}

// In two pieces and whole: the same.
template <class Frame> std::vector<Frame> frames_of(std::string_view input)
{
    auto frames = frames_of<Frame>(input, input.size());
    promise(frames == frames_of<Frame>(input, input.size() / 2 + 1));
    return frames.first;
}

// What a user has sent; and a request among it goes on as it came.
void session(std::string_view input)
{
    std::string bytes;
    for (const Frame &frame : frames_of<Frame>(input)) {
        promise(frame.text.size() <= max_frame);
        bytes += encode_frames(frame.type, frame.text);
    }
    promise(input.starts_with(bytes));
    if (auto request = decode_session_request(input)) {
        promise(request->job != 0);
        if (auto text = encode(*request))
            promise(decode_session_request(*text) == *request);
    }
    if (auto end = decode_session_end(input))
        promise(decode_session_end(encode(*end)).has_value());
    (void)decode_window_size(input);
}

void websocket(std::string_view input)
{
    auto messages_of = [&](std::size_t piece) {
        WsReader reader;
        std::vector<std::string> all;
        for (std::string_view rest = input; !rest.empty();) {
            reader.feed(rest.substr(0, piece));
            rest.remove_prefix(std::min(piece, rest.size()));
            for (;;) {
                auto message = reader.next();
                if (!message)
                    return all;
                if (!*message)
                    break;
                promise((*message)->data.size() <= WsReader::longest);
                all.push_back((*message)->data);
            }
        }
        return all;
    };
    promise(messages_of(input.size()) == messages_of(input.size() / 2 + 1));
}

// The lines of the stream, or those before the error, cut into pieces of that
// size.
std::vector<std::string> lines_of(std::string_view stream, std::size_t piece,
                                  bool &failed)
{
    LineFramer framer(max_line);
    std::vector<std::string> lines;
    failed = false;
    while (!stream.empty() && !failed) {
        auto fed = framer.feed(stream.substr(0, piece),
                               [&](std::string_view line) -> Result<> {
                                   lines.emplace_back(line);
                                   return {};
                               });
        failed = !fed;
        stream.remove_prefix(std::min(piece, stream.size()));
    }
    promise(failed || framer.rest().size() <= max_line);
    return lines;
}

void batch_script(std::string_view input)
{
    auto batch = decode_batch_script(input);
    if (!batch)
        return;
    promise(decode_batch_script(encode(*batch)) == *batch);
    promise(!decode_batch_script(input.substr(0, input.size() - 1)));
    for (const BatchOption &option : batch_options)
        (void)option.unfit_reason(batch->image);
}

// The Pod of a template that is one, with any volumes, is again such a
// template.
void batch_template(std::string_view input)
{
    auto base = parse_batch_template(input);
    if (!base)
        return;
    for (const auto &chosen : {std::vector<std::string>{}, base->choosable}) {
        auto pod = pod_with_volumes(*base, chosen);
        promise(pod.has_value() && Json::parse(*pod).has_value());
        promise(parse_batch_template(*pod).has_value());
    }
    promise(!pod_with_volumes(*base, {"no such volume"}));
}

void output_name(std::string_view input)
{
    std::string name =
        expand_output(input, {{1, Sluid{1}}, "name", "user", "node", "/dir"});
    promise(name.empty() == input.empty() && !name.starts_with("dir"));
    promise(name.size() <= 16 * input.size() + 5);
}

void array_numbers(std::string_view input)
{
    auto all = array_variables({4711, 5}, input);
    promise(all.size() == 2 || all.size() == 6);
}

void line_framer(std::string_view input)
{
    bool failed = false;
    auto whole = lines_of(input, input.size(), failed);
    for (const std::string &line : whole)
        promise(!line.empty() && line.size() <= max_line &&
                !line.contains('\n'));
    for (std::size_t piece : {1uz, 3uz, 65uz}) {
        bool failed_too = false;
        auto lines = lines_of(input, piece, failed_too);
        promise(lines == whole);
        promise(failed_too == failed);
    }
}

void job_facts(std::string_view input)
{
    std::string entries(input); // NUL between them
    std::vector<const char *> environment;
    for (std::size_t at = 0; at < entries.size();
         at = entries.find('\0', at) == entries.npos
                  ? entries.size()
                  : entries.find('\0', at) + 1)
        environment.push_back(entries.c_str() + at);
    environment.push_back(nullptr);
    JobFacts facts = facts_from(environment.data());
    promise(facts.hostlist != "(null)");
}

void gate_file(std::string_view input)
{
    static const int fd = memfd_create("gate", MFD_CLOEXEC);
    static const std::string path = "/proc/self/fd/" + std::to_string(fd);
    promise(ftruncate(fd, 0) == 0);
    promise(pwrite(fd, input.data(), input.size(), 0) ==
            static_cast<ssize_t>(input.size()));
    auto memory = GateFile(path).load();
    if (memory)
        promise(!memory->bridge.contains("") && !memory->dirty.contains(""));
}

// What another Pod has sent; a launch goes on as it came.
void step(std::string_view input)
{
    std::string bytes;
    for (const StepFrame &frame : frames_of<StepFrame>(input)) {
        bytes += encode_step_frame(frame.kind, frame.text);
        if (auto launch = decode_launch(frame.text)) {
            promise(!launch->tasks.empty() && !launch->arguments.empty());
            promise(decode_launch(encode_launch(*launch)) == *launch);
            for (const StepStream &stream :
                 {launch->input, launch->output, launch->error})
                (void)expand_stream(stream.pattern, launch->facts,
                                    TaskFacts{1, 2, launch->node_name});
        }
    }
    promise(input.starts_with(bytes));
}

void step_hosts(std::string_view input)
{
    for (std::uint32_t count : {1u, 3u})
        if (auto hosts = parse_hosts_file(input, count)) {
            promise(hosts->size() == count);
            for (const StepHost &host : *hosts)
                promise(!host.name.empty() && !host.address.empty());
        }
}

constexpr FuzzTarget targets[] = {
    {"hook_message", hook_message}, {"line_framer", line_framer},
    {"job_facts", job_facts},       {"gate_file", gate_file},
    {"batch_script", batch_script}, {"batch_template", batch_template},
    {"output_name", output_name},   {"array_numbers", array_numbers},
    {"session", session},           {"step", step},
    {"step_hosts", step_hosts},     {"websocket", websocket}};

} // namespace

std::span<const FuzzTarget> wire_targets()
{
    return targets;
}

} // namespace bridge
