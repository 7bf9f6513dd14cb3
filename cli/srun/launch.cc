// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/launch.h"

#include "cli/srun/step_frame.h"

#include <algorithm>

namespace bridge {

namespace {

void write_stream(FieldWriter &writer, const StepStream &stream)
{
    writer.number(static_cast<std::uint32_t>(stream.kind));
    writer.number(stream.task).text(stream.pattern);
}

// Returns false when there is no such kind.
bool read_stream(FieldReader &reader, StepStream &stream)
{
    std::uint32_t kind = reader.number();
    stream.kind = static_cast<StepStream::Kind>(kind);
    stream.task = reader.number();
    stream.pattern = reader.text();
    return kind <= static_cast<std::uint32_t>(StepStream::Kind::srun_file);
}

// A NUL would end a name or value early.
bool has_nul(const std::string &text)
{
    return text.contains('\0');
}

} // namespace

std::string encode_launch(const Launch &launch)
{
    FieldWriter writer;
    const StepFacts &facts = launch.facts;
    writer.number(facts.job).number(facts.step).number(facts.array_job);
    writer.number(facts.array_task).number(facts.restarts);
    writer.text(facts.job_name).text(facts.user);
    writer.number(launch.node).text(launch.node_name).numbers(launch.tasks);
    writer.text(launch.directory).number(launch.umask);
    writer.list(launch.arguments).list(launch.environment);
    write_stream(writer, launch.input);
    write_stream(writer, launch.output);
    write_stream(writer, launch.error);
    writer.number(launch.append).number(launch.unbuffered);
    writer.number(launch.local).number(launch.kill_wait);
    std::vector<std::uint32_t> halves;
    for (std::uint64_t limit : launch.limits) {
        halves.push_back(static_cast<std::uint32_t>(limit >> 32));
        halves.push_back(static_cast<std::uint32_t>(limit));
    }
    writer.numbers(halves);
    return writer.take();
}

Result<Launch> decode_launch(std::string_view text)
{
    FieldReader reader(text);
    Launch launch;
    StepFacts &facts = launch.facts;
    facts.job = reader.number();
    facts.step = reader.number();
    facts.array_job = reader.number();
    facts.array_task = reader.number();
    facts.restarts = reader.number();
    facts.job_name = reader.text();
    facts.user = reader.text();
    launch.node = reader.number();
    launch.node_name = reader.text();
    launch.tasks = reader.numbers();
    launch.directory = reader.text();
    launch.umask = reader.number();
    launch.arguments = reader.list();
    launch.environment = reader.list();
    bool known = read_stream(reader, launch.input);
    known = read_stream(reader, launch.output) && known;
    known = read_stream(reader, launch.error) && known;
    launch.append = reader.number() != 0;
    launch.unbuffered = reader.number() != 0;
    launch.local = reader.number() != 0;
    launch.kill_wait = reader.number();
    std::vector<std::uint32_t> halves = reader.numbers();
    for (std::size_t i = 0; i + 1 < halves.size(); i += 2)
        launch.limits.push_back(std::uint64_t{halves[i]} << 32 | halves[i + 1]);
    // Slurm's task numbers ascend on a node.
    bool ascend = std::ranges::adjacent_find(
                      launch.tasks, std::greater_equal{}) == launch.tasks.end();
    if (!reader.whole() || !known || !ascend || launch.tasks.empty() ||
        halves.size() % 2 != 0 || launch.tasks.back() >= max_step_tasks ||
        launch.arguments.empty() || launch.arguments[0].empty() ||
        launch.umask > 0777 || has_nul(launch.directory) ||
        std::ranges::any_of(launch.arguments, has_nul) ||
        std::ranges::any_of(launch.environment, has_nul))
        return fail(Code::rejected, "a malformed launch");
    return launch;
}

} // namespace bridge
