// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/srun_options.h"

#include "cli/srun/srun_option_table.h"
#include "cli/srun/srun_values.h"
#include "common/base/text.h"

#include <algorithm>

namespace bridge {

namespace {

using Words = std::unexpected<Error>;

Words refuse(std::string words)
{
    return fail(Code::rejected, std::move(words));
}

// Sets one option from its argument.
class OptionSetter {
  public:
    OptionSetter(SrunOptions &options, const Environment &environment,
                 bool from_environment)
        : options_(options), environment_(environment),
          from_environment_(from_environment)
    {
    }

    Result<> set(const SrunOptionEntry &entry, std::string_view value)
    {
        switch (entry.option) {
        case SrunOption::refused:
            return refuse("--" + std::string(entry.name) + ": " + entry.reason);
        case SrunOption::mpi:
            if (same_word(value, "none"))
                return {};
            return refuse("--mpi=" + std::string(value) +
                          ": there is no PMI in Pods, only --mpi=none");
        case SrunOption::cpu_bind:
            if (is_no_binding(value))
                return {};
            return refuse("--cpu-bind=" + std::string(value) +
                          ": tasks are not bound to CPUs, each may use all of "
                          "its Pod");
        case SrunOption::het_group:
            if (value.find_first_of(",-") != value.npos)
                return refuse("--het-group=" + std::string(value) +
                              ": a step has the Pods of one component");
            break;
        case SrunOption::job_id:
            if (const char *job = find_variable(environment_, "SLURM_JOB_ID");
                job && value == job)
                return {};
            return refuse("--jobid=" + std::string(value) +
                          ": srun starts only steps of its own job");
        default:
            break;
        }
        if (taken(entry.option, value))
            return {};
        return refuse("Invalid --" + std::string(entry.name) +
                      " specification: " + std::string(value));
    }

  private:
    // Returns false for an invalid value.
    bool taken(SrunOption option, std::string_view value)
    {
        switch (option) {
        case SrunOption::chdir:
            options_.directory = value;
            return !value.empty();
        case SrunOption::disable_status:
            return read_flag(value, options_.disable_status);
        case SrunOption::exported:
            options_.exported = std::string(value);
            return true;
        case SrunOption::help:
            options_.help = true;
            return true;
        case SrunOption::het_group:
            options_.het_group.emplace();
            return read_number(value, 0, *options_.het_group);
        case SrunOption::job_name:
            options_.job_name = value;
            return true;
        case SrunOption::kill_on_bad_exit:
            return read_flag(value, options_.kill_on_bad_exit);
        case SrunOption::no_kill:
            options_.no_kill = !same_word(value, "off");
            return true;
        case SrunOption::preserve_env:
            options_.preserve_env = true;
            return true;
        case SrunOption::quiet:
            options_.quiet = true;
            return true;
        case SrunOption::quit_on_interrupt:
            options_.quit_on_interrupt = true;
            return true;
        case SrunOption::verbose:
            options_.verbose += value != "0";
            return true;
        case SrunOption::version:
            options_.version = true;
            return true;
        case SrunOption::wait:
            return read_number(value, 0, options_.wait);
        default:
            return stream_taken(option, value);
        }
    }

    // Takes the options about input and output. Returns false for an invalid
    // value.
    bool stream_taken(SrunOption option, std::string_view value)
    {
        switch (option) {
        case SrunOption::error:
            options_.error = value;
            return true;
        case SrunOption::input:
            options_.input = value;
            return true;
        case SrunOption::label:
            return read_flag(value, options_.label);
        case SrunOption::open_mode:
            return read_open_mode(value, options_.append);
        case SrunOption::output:
            options_.output = value;
            return true;
        case SrunOption::unbuffered:
            return read_flag(value, options_.unbuffered);
        default:
            return request_taken(option, value);
        }
    }

    // Takes the options about nodes and tasks. Returns false for an invalid
    // value.
    bool request_taken(SrunOption option, std::string_view value)
    {
        StepRequest &request = options_.request;
        std::uint32_t number = 0;
        switch (option) {
        case SrunOption::cpus_per_task:
            return read_number(value, 1, request.cpus_per_task);
        case SrunOption::distribution:
            return read_distribution(value, from_environment_, request);
        case SrunOption::exclude:
            request.without = value;
            return true;
        case SrunOption::nodelist:
            request.nodes = value;
            return true;
        case SrunOption::nodes:
            return read_nodes(value, from_environment_, request);
        case SrunOption::ntasks:
            if (!read_number(value, 1, number))
                return false;
            request.tasks = StepNumber{number, from_environment_};
            return true;
        case SrunOption::ntasks_per_node:
            if (!read_number(value, 1, number))
                return false;
            request.tasks_per_node = number;
            return true;
        case SrunOption::overcommit:
            return read_flag(value, request.overcommit);
        case SrunOption::relative:
            if (!read_number(value, 0, number))
                return false;
            request.first = number;
            return true;
        default:
            return true; // ignored
        }
    }

    SrunOptions &options_;
    const Environment &environment_;
    bool from_environment_;
};

using Arguments = std::span<const char *const>;

// Removes the next argument, which is the value of this option.
Result<std::string_view> take_value(Arguments &arguments,
                                    std::string_view option)
{
    if (arguments.empty())
        return refuse("option " + std::string(option) +
                      " requires an argument");
    std::string_view value = arguments.front();
    arguments = arguments.subspan(1);
    return value;
}

// Reads a word like "--name" or "--name=value". A value that is the next
// argument is removed from arguments.
Result<> read_long_option(std::string_view word, Arguments &arguments,
                          OptionSetter &setter)
{
    std::string_view value = word.substr(2);
    bool has_value = value.contains('=');
    std::string_view name = next_part(value, '=');
    const SrunOptionEntry *entry = find_long_option(name);
    if (!entry)
        return refuse("unrecognized or ambiguous option --" +
                      std::string(name));
    if (has_value && entry->argument == SrunArgument::none)
        return refuse("option --" + std::string(name) +
                      " doesn't allow an argument");
    if (!has_value && entry->argument == SrunArgument::needed) {
        auto next = take_value(arguments, word);
        if (!next)
            return std::unexpected(next.error());
        value = *next;
    }
    return setter.set(*entry, value);
}

// Reads a word like "-v", "-lu" or "-n4". A value that is the next argument is
// removed from arguments.
Result<> read_short_options(std::string_view word, Arguments &arguments,
                            OptionSetter &setter)
{
    for (word.remove_prefix(1); !word.empty();) {
        char letter = word.front();
        word.remove_prefix(1);
        const SrunOptionEntry *entry = find_short_option(letter);
        if (!entry)
            return refuse(std::string("invalid option -- '") + letter + "'");
        std::string_view value;
        if (entry->argument != SrunArgument::none) {
            value = std::exchange(word, {});
            if (value.empty() && entry->argument == SrunArgument::needed) {
                auto next = take_value(arguments, std::string("-") + letter);
                if (!next)
                    return std::unexpected(next.error());
                value = *next;
            }
        }
        if (auto set = setter.set(*entry, value); !set)
            return set;
    }
    return {};
}

// Reads options up to the command, and removes them from arguments.
Result<> read_options(Arguments &arguments, OptionSetter &setter)
{
    while (!arguments.empty()) {
        std::string_view word = arguments.front();
        if (!word.starts_with('-') || word == "-")
            return {};
        arguments = arguments.subspan(1);
        if (word == "--")
            return {};
        auto read = word.starts_with("--")
                        ? read_long_option(word, arguments, setter)
                        : read_short_options(word, arguments, setter);
        if (!read)
            return read;
    }
    return {};
}

} // namespace

const char *find_variable(const Environment &environment, std::string_view name)
{
    for (const std::string &entry : environment)
        if (entry.size() > name.size() && entry[name.size()] == '=' &&
            entry.starts_with(name))
            return entry.c_str() + name.size() + 1;
    return nullptr;
}

std::uint32_t number_of(const Environment &environment, std::string_view name)
{
    const char *value = find_variable(environment, name);
    return value ? whole_number<std::uint32_t>(value).value_or(0) : 0;
}

std::string text_of(const Environment &environment, std::string_view name)
{
    const char *value = find_variable(environment, name);
    return value ? value : "";
}

Result<SrunOptions> parse_srun(std::span<const char *const> arguments,
                               const Environment &environment)
{
    SrunOptions options;
    OptionSetter from_variables(options, environment, true);
    for (const SrunVariable &variable : srun_variables())
        if (const char *value = find_variable(environment, variable.name);
            value && *value)
            if (auto set = from_variables.set(
                    *find_long_option(variable.option), value);
                !set)
                return fail(set.error(), std::string(variable.name));
    OptionSetter from_words(options, environment, false);
    if (auto read = read_options(arguments, from_words); !read)
        return std::unexpected(read.error());
    options.command.assign(arguments.begin(), arguments.end());
    if (options.help || options.version)
        return options;
    if (options.command.empty())
        return refuse("No command given to execute.");
    if (std::ranges::contains(options.command, ":"))
        return refuse("\":\" between commands: steps of several commands are "
                      "not possible in Pods");
    if (options.quiet && options.verbose > 0 &&
        !find_variable(environment, "SLURM_DEBUG"))
        return refuse("don't specify both --verbose (-v) and --quiet (-Q)");
    if (options.error.empty())
        options.error = options.output;
    return options;
}

} // namespace bridge
