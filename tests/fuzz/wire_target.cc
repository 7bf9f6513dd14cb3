// SPDX-License-Identifier: GPL-2.0-or-later
// What comes over sockets, from slurmctld's environment, and from its disk.
#include "agent/line_framer.h"
#include "agent/output_name.h"
#include "common/batch_options.h"
#include "common/batch_script.h"
#include "common/batch_template.h"
#include "common/hook_message.h"
#include "common/json.h"
#include "plugins/job_facts.h"
#include "plugins/prep/gate_file.h"
#include "tests/fuzz/targets.h"

#include <algorithm>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
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
        (void)option.objection(batch->image);
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

constexpr FuzzTarget targets[] = {{"hook_message", hook_message},
                                  {"line_framer", line_framer},
                                  {"job_facts", job_facts},
                                  {"gate_file", gate_file},
                                  {"batch_script", batch_script},
                                  {"batch_template", batch_template},
                                  {"output_name", output_name}};

} // namespace

std::span<const FuzzTarget> wire_targets()
{
    return targets;
}

} // namespace bridge
