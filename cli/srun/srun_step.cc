// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/srun_step.h"

#include "cli/srun/host_names.h"
#include "cli/srun/planned_step.h"
#include "cli/srun/step_client.h"
#include "cli/srun/step_files.h"
#include "cli/srun/step_limits.h"
#include "cli/srun/task_environment.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

namespace {

std::string here()
{
    char *directory = getcwd(nullptr, 0);
    std::string path = directory ? directory : "/";
    std::free(directory);
    return path;
}

StepFacts facts_of(const Environment &environment, std::uint32_t step)
{
    StepFacts facts;
    facts.job = number_of(environment, "SLURM_JOB_ID");
    facts.step = step;
    facts.array_job = number_of(environment, "SLURM_ARRAY_JOB_ID");
    facts.array_task = number_of(environment, "SLURM_ARRAY_TASK_ID");
    facts.restarts = number_of(environment, "SLURM_RESTART_COUNT");
    facts.job_name = text_of(environment, "SLURM_JOB_NAME");
    facts.user = text_of(environment, "SLURM_JOB_USER");
    if (facts.user.empty())
        facts.user = text_of(environment, "USER");
    return facts;
}

// Opens a file that srun itself reads or writes for all tasks.
Result<int> open_file(const StepStream &stream, const StepFacts &facts,
                      int flags)
{
    std::string path = expand_stream(stream.pattern, facts, std::nullopt);
    int fd = flags == O_RDONLY ? open(path.c_str(), O_RDONLY | O_CLOEXEC)
                               : open_output_file(path, flags).release();
    if (fd < 0)
        return fail(Code::rejected, "Could not open file " + path + ": " +
                                        errno_message(errno));
    return fd;
}

// Opens srun's own ends of the streams that go through it.
Result<StepPipes> open_pipes(const Launch &launch)
{
    using Kind = StepStream::Kind;
    StepPipes pipes;
    if (launch.input.kind == Kind::all || launch.input.kind == Kind::one)
        pipes.input = 0;
    if (launch.input.kind == Kind::one)
        pipes.reader = launch.input.task;
    if (launch.input.kind == Kind::srun_file) {
        auto fd = open_file(launch.input, launch.facts, O_RDONLY);
        if (!fd)
            return std::unexpected(fd.error());
        pipes.input = *fd;
    }
    int flags = O_WRONLY | O_CREAT | O_APPEND | (launch.append ? 0 : O_TRUNC);
    auto sink = [&](const StepStream &stream,
                    int otherwise) -> Result<std::shared_ptr<StepSink>> {
        if (stream.kind != Kind::srun_file)
            return std::make_shared<StepSink>(otherwise);
        auto fd = open_file(stream, launch.facts, flags);
        if (!fd)
            return std::unexpected(fd.error());
        return std::make_shared<StepSink>(*fd);
    };
    auto output = sink(launch.output, 1);
    if (!output)
        return std::unexpected(output.error());
    bool shared =
        launch.error.kind == Kind::srun_file && launch.error == launch.output;
    auto error = shared ? output : sink(launch.error, 2);
    if (!error)
        return std::unexpected(error.error());
    pipes.output = *output;
    // Two descriptors of one pipe or terminal share one sink, too.
    pipes.error =
        is_same_file((*output)->fd(), (*error)->fd()) ? *output : *error;
    for (const auto &shared_sink : {pipes.output, pipes.error})
        if (is_same_file(shared_sink->fd(), 2))
            pipes.messages = shared_sink;
    if (!pipes.messages)
        pipes.messages = std::make_shared<StepSink>(2);
    return pipes;
}

// The part of the launch that is the same for all nodes.
Result<Launch> common_launch(const SrunOptions &options,
                             const StepVariables &step,
                             const Environment &environment)
{
    Launch launch;
    launch.facts = facts_of(environment, step.step);
    if (!options.job_name.empty())
        launch.facts.job_name = options.job_name;
    launch.directory = here();
    if (options.directory.starts_with('/'))
        launch.directory = options.directory;
    else if (!options.directory.empty())
        launch.directory += "/" + options.directory;
    launch.umask = umask(0);
    umask(static_cast<mode_t>(launch.umask));
    launch.arguments = options.command;
    launch.environment = step_environment(environment, options, step);
    launch.input = step_stream(options.input, step.tasks);
    launch.output = step_stream(options.output, step.tasks);
    launch.error = step_stream(options.error, step.tasks);
    launch.append = options.append;
    launch.unbuffered = options.unbuffered;
    auto kill_wait = seconds_of(environment, "SLURMK8S_KILL_WAIT");
    if (!kill_wait)
        return std::unexpected(kill_wait.error());
    launch.kill_wait = kill_wait->value_or(launch.kill_wait);
    using Kind = StepStream::Kind;
    if (options.label &&
        (launch.output.kind == Kind::file || launch.error.kind == Kind::file))
        return fail(Code::rejected, "--label: it is not possible here with "
                                    "files of single tasks or nodes");
    return launch;
}

// For all workers together. Their containers run by now, so that a worker that
// does not answer never will: it has no srun, or a NetworkPolicy blocks the
// connection.
constexpr auto worker_time = std::chrono::minutes(5);

// Connects to all nodes of the step. The process of this node is started first,
// so that it inherits no other connection.
Result<std::vector<StepLink>> link_nodes(const StepPlan &plan,
                                         const std::vector<StepHost> &hosts,
                                         const Environment &environment,
                                         StepClock::time_point limit)
{
    std::vector<StepLink> links;
    for (const StepNode &node : plan.nodes)
        links.push_back({hosts[node.rank].name, node.tasks, OwnedFd()});
    StepIdentity identity;
    bool has_identity = false;
    for (std::size_t i = 0; i < links.size(); i++) {
        const StepHost &host = hosts[plan.nodes[i].rank];
        if (plan.nodes[i].rank == 0) {
            auto server = serve_here(environment);
            if (!server)
                return std::unexpected(server.error());
            links[i].fd = std::move(server->fd);
            links[i].keeper = server->keeper;
            continue;
        }
        if (!has_identity) {
            auto loaded = load_identity();
            if (!loaded)
                return std::unexpected(loaded.error());
            identity = *loaded;
            has_identity = true;
        }
        auto fd = connect_worker(host, identity, limit);
        if (!fd)
            return std::unexpected(fd.error());
        links[i].fd = std::move(*fd);
    }
    return links;
}

StepVariables variables_of(const StepPlan &plan,
                           const std::vector<StepHost> &hosts,
                           std::uint32_t step_id)
{
    StepVariables step;
    step.step = step_id;
    step.tasks = plan.tasks;
    step.tasks_per_node = plan.tasks_per_node();
    for (const StepNode &node : plan.nodes)
        step.nodes.push_back(hosts[node.rank].name);
    step.address = hosts.front().address;
    return step;
}

// Queues the launch for each node. The fields of launch that differ between
// nodes are left with the values of the last one.
Result<> queue_launch(const SrunOptions &options, const std::string &name,
                      const StepPlan &plan, Launch &launch,
                      std::vector<StepLink> &links)
{
    for (std::size_t i = 0; i < links.size(); i++) {
        StepLink &link = links[i];
        launch.node = static_cast<std::uint32_t>(i);
        launch.node_name = link.node;
        launch.tasks = link.tasks;
        launch.local = plan.nodes[i].rank == 0;
        std::string text = encode_launch(launch);
        if (text.size() > max_launch)
            return fail(Code::rejected,
                        "arguments and environment are too long");
        link.queue.add(encode_step_frame(StepFrameKind::launch, text));
        if (options.verbose > 0)
            print_line("launching " + name + " on host " + link.node + ", " +
                       std::to_string(link.tasks.size()) +
                       " tasks: " + compress_numbers(link.tasks));
    }
    return {};
}

// Returns the exit code, or why there is no step.
Result<int> run(const SrunOptions &options, const Environment &environment)
{
    std::string job = text_of(environment, "SLURM_JOB_ID");
    if (number_of(environment, "SLURM_JOB_ID") == 0)
        return fail(Code::rejected, "SLURM_JOB_ID is not set: srun starts "
                                    "steps of the job that it is called in");
    auto limit = launch_limit(environment);
    if (!limit)
        return std::unexpected(limit.error());
    auto planned = plan_and_hosts(options, environment, *limit);
    if (!planned)
        return std::unexpected(planned.error());
    const auto &[plan, hosts] = *planned;
    if (!options.quiet)
        for (const std::string &words : plan.warnings)
            print_line("warning: " + words);

    StepVariables step = variables_of(
        plan, hosts, next_step_id(number_of(environment, "SLURM_JOB_ID")));
    std::string name = "StepId=" + job + "." + std::to_string(step.step);
    auto launch = common_launch(options, step, environment);
    if (!launch)
        return std::unexpected(launch.error());
    launch->limits = soft_limits();
    raise_open_files(); // one for each node
    auto worker_limit = StepClock::now() + worker_time;
    auto links =
        link_nodes(plan, hosts, environment,
                   std::min(limit->value_or(worker_limit), worker_limit));
    if (!links)
        return std::unexpected(links.error());
    // Output files are created once nothing else can fail.
    auto pipes = open_pipes(*launch);
    if (!pipes)
        return std::unexpected(pipes.error());
    if (auto queued = queue_launch(options, name, plan, *launch, *links);
        !queued)
        return std::unexpected(queued.error());
    return run_step(options, name, plan.tasks, std::move(*links),
                    std::move(*pipes), launch->kill_wait);
}

} // namespace

int srun(const SrunOptions &options, const Environment &environment)
{
    auto code = run(options, environment);
    if (code)
        return *code;
    print_error_line(code.error().message);
    return 1;
}

} // namespace bridge
