// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/batch/launcher.h"

#include "agent/batch/limits.h"
#include "agent/batch/pod.h"
#include "agent/batch/warning.h"
#include "common/base/variable_name.h"
#include "common/contract/batch_names.h"

#include <algorithm>

namespace bridge {

namespace {

// Returns whether a variable describes the host where sbatch ran, or belongs to
// slurmd, and so is not passed to the container.
bool stays_behind(std::string_view name)
{
    constexpr std::string_view of_host[] = {"PATH",
                                            "LD_LIBRARY_PATH",
                                            "LD_PRELOAD",
                                            "HOSTNAME",
                                            "PWD",
                                            "OLDPWD",
                                            "SHLVL",
                                            "_",
                                            "TMPDIR",
                                            "SLURM_UMASK",
                                            "SLURM_TASK_PID",
                                            "SLURM_CONF",
                                            "CUDA_VISIBLE_DEVICES",
                                            "ROCR_VISIBLE_DEVICES",
                                            "GPU_DEVICE_ORDINAL",
                                            "ZE_AFFINITY_MASK",
                                            "SLURM_JOB_GPUS",
                                            "SLURM_GPUS_ON_NODE"};
    constexpr std::string_view prefixes[] = {"SLURM_RLIMIT_", "SLURM_SPANK_",
                                             "_SLURM_SPANK_OPTION_"};
    // env(1) would take such a name for an option.
    return name.empty() || name.starts_with('-') ||
           std::ranges::contains(of_host, name) ||
           std::ranges::any_of(prefixes, [&](std::string_view prefix) {
               return name.starts_with(prefix);
           });
}

std::string umask_of(const BatchScript &script)
{
    constexpr std::string_view prefix = "SLURM_UMASK=";
    for (std::string_view entry : script.environment) {
        if (!entry.starts_with(prefix))
            continue;
        std::string_view mask = entry.substr(prefix.size());
        bool octal = !mask.empty() && mask.size() <= 4 &&
                     mask.find_first_not_of("01234567") == mask.npos;
        return octal ? std::string(mask) : "";
    }
    return {};
}

// stdout or stderr of the script, as descriptors and as a variable.
struct Stream {
    const char *number;   // the container's descriptor
    const char *variable; // holds the file's path
    const char *target;   // the descriptor that becomes the script's
};
constexpr Stream out{"1", "k8s_out", "8"};
constexpr Stream err{"2", "k8s_err", "9"};

// Checks the interpreter as slurmstepd does, because execve(2) only reports
// that the script does not exist.
std::string check_interpreter(std::string_view script)
{
    constexpr std::string_view blanks = " \t";
    std::string_view line = script.substr(0, script.find_first_of("\n\r"));
    if (!line.starts_with("#!"))
        return {};
    line.remove_prefix(2);
    line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
    std::string path(line.substr(0, line.find_first_of(blanks)));
    if (!path.starts_with('/'))
        return {};
    return "  [ -e " + shell_word(path) + " ] || {\n    printf '%s\\n' " +
           shell_word("slurmk8s: error: execve(): bad interpreter(" + path +
                      "): No such file or directory") +
           " >&2\n    exit 2\n  }\n";
}

// The script's process is a shell that has learned its own process id first.
constexpr char become[] = R"(  exec /bin/sh -c 'SLURM_TASK_PID=$$
    : "${TMPDIR:=/tmp}"
    export SLURM_TASK_PID TMPDIR
    unset OLDPWD SHLVL
    exec env "$@"' sh)";

// Returns the shell function start, which becomes the script.
std::string start_function(const BatchScript &script,
                           const std::vector<std::string> &variables,
                           const std::string &path)
{
    std::string text = "start() {\n" + check_interpreter(script.script) +
                       set_limits(script) + become;
    auto add = [&](std::string_view entry) {
        text += " \\\n  " + shell_word(entry);
    };
    auto known = [](const std::vector<std::string> &list,
                    std::string_view name) {
        return std::ranges::contains(list, name, variable_name);
    };
    for (const std::string &entry : script.environment)
        if (entry.contains('=') && !stays_behind(variable_name(entry)) &&
            !known(script.variables, variable_name(entry)) &&
            !known(variables, variable_name(entry)))
            add(entry);
    // An empty PATH, or an empty part of it, would mean the current directory.
    if (!path.empty() && !known(script.variables, "PATH")) // the image's PATH
        text += " \\\n  PATH=" + path + "\"${PATH:+:$PATH}\"";
    for (const std::string &entry : script.variables) {
        std::string own = entry.substr(entry.find('=') + 1);
        bool before = !path.empty() && variable_name(entry) == "PATH";
        add(before ? "PATH=" + path + (own.empty() ? "" : ":" + own) : entry);
    }
    for (const std::string &entry : variables)
        add(entry);
    text += std::string(" \\\n  ") + names::batch_mount + "/script";
    for (const std::string &argument : script.arguments)
        text += " " + shell_word(argument);
    return text + "\n}\n";
}

// Returns shell lines that create the file, or truncate it, with the user's own
// rights.
std::string open_file(const Stream &stream, const BatchOutput &file,
                      bool append)
{
    std::string name = stream.variable;
    std::string text = name + "=" + shell_word(file.path) + "\n";
    text += "k8s_why=$( (: " + std::string(append ? ">>" : ">") + " \"$" +
            name + "\") 2>&1) || {\n";
    if (file.asked)
        text += "  printf '%s\\n' \"slurmk8s: error: could not open $" + name +
                ": ${k8s_why##*: }\" >&2\n  exit " +
                std::to_string(no_output_exit) + "\n}\n";
    else
        text += "  printf '%s\\n' \"slurmk8s: cannot write the output file $" +
                name +
                ": ${k8s_why##*: }: only kubectl logs has the output\" "
                ">&2\n  " +
                name + "=\n}\n";
    return text;
}

// Returns shell lines that open the input with the user's own rights, or fail
// the job. Helper processes do not read it.
std::string open_input(const std::string &path)
{
    if (path.empty())
        return "k8s_in=/dev/null\n";
    return "k8s_in=" + shell_word(path) +
           "\nk8s_why=$( (: < \"$k8s_in\") 2>&1) || {\n  printf '%s\\n' "
           "\"slurmk8s: error: could not open $k8s_in: ${k8s_why##*: }\" "
           ">&2\n  exit " +
           std::to_string(no_output_exit) + "\n}\nexec < \"$k8s_in\"\n";
}

// Without tee, the script writes into the file itself.
std::string without_log(const Stream &stream)
{
    std::string file = std::string("\"$") + stream.variable + "\"";
    return "  [ -z " + file + " ] || exec " + stream.target + ">> " + file +
           "\n";
}

// tee ends when the script has closed the pipe; signals to all processes do not
// end it.
std::string with_log(const Stream &stream)
{
    std::string file = std::string("\"$") + stream.variable + "\"";
    std::string pipe = std::string("\"$k8s_pipes/") + stream.number + "\"";
    return "if [ -n " + file + " ]; then\n" +
           "  (trap '' HUP INT QUIT USR1 USR2 TERM; exec tee -a -- " + file +
           ") < " + pipe + " >&" + stream.number + " 8>&- 9>&- &\n  " +
           stream.variable + "_tee=$!\n  exec " + stream.target + "> " + pipe +
           "\nfi\n";
}

constexpr char start_without_log[] =
    R"(  printf '%s\n' \
    "slurmk8s: the image lacks mkfifo, tee or cat: the output is only in" \
    "$k8s_out $k8s_err"
  warn "$$"
  start >&8 2>&9 8>&- 9>&-
fi
)";

// This shell is the container's main process. It passes signals on to the
// script, waits for the script, and then waits until tee has written
// everything, because the runtime kills all other processes when the main
// process ends. A shell can handle signals only while its child is in the
// background, but a background child ignores SIGINT and SIGQUIT (POSIX, 2.11),
// and the script would inherit that. So the script runs in the foreground of
// another shell, whose parent is killed:
//
//   this shell ── subshell, killed ── shell that waits ── the script
//       └─ reads the exit code from "end", in the background
//
// Only the script and the waiting shell have the pipes open, so that the pipes
// end with them. A script may send a signal to all of its processes, which must
// end none of these shells. wait also returns at a signal and is called again
// then; the read of busybox would never return after one. Processes that the
// script leaves behind may hold the pipes open: they get SIGTERM if this shell
// leads the process group, as it does in a container. If they ignore it, the
// launcher ends after ten seconds.
constexpr char start_with_log[] = R"(k8s_job= k8s_caught= k8s_early=
pass() {
  k8s_caught=yes
  if [ -n "$k8s_job" ]; then
    kill -s "$1" "$k8s_job"
  else
    k8s_early="$k8s_early $1"
  fi
}
for k8s_signal in HUP INT QUIT USR1 USR2 TERM; do
  trap "pass $k8s_signal" "$k8s_signal"
done
(
  trap '' HUP INT QUIT USR1 USR2 TERM
  k8s_code=$(cat "$k8s_pipes/end")
  exit "${k8s_code:-137}"
) 8>&- 9>&- &
k8s_end=$!
exec 2> /dev/null
(
  {
    trap : HUP INT QUIT USR1 USR2 TERM
    exec 7> "$k8s_pipes/end"
    (
      /bin/sh -c 'echo "$PPID"'
      start < "$k8s_in" >&8 2>&9 7>&- 8>&- 9>&-
    )
    echo "$?" >&7
  } | /bin/sh -c 'read pid && echo "$pid" > "$2"
    [ "$PPID" = "$1" ] || { kill -s PIPE "$PPID"; kill -s KILL "$PPID"; }' \
    sh "$$" "$k8s_pipes/pid"
)
exec 8>&- 9>&-
k8s_job=$(cat "$k8s_pipes/pid")
warn "$k8s_job"
for k8s_signal in $k8s_early; do
  pass "$k8s_signal"
done
rm -f "$k8s_pipes/1" "$k8s_pipes/2" "$k8s_pipes/pid" "$k8s_pipes/end"
wait "$k8s_end"
k8s_code=$?
while [ -n "$k8s_caught" ]; do
  k8s_caught=
  wait "$k8s_end"
  k8s_again=$?
  [ "$k8s_again" = 127 ] || k8s_code=$k8s_again
done
trap '' HUP INT QUIT USR1 USR2 TERM
/bin/sh -c 'read -r pid name state parent group rest < "/proc/$1/stat"
  [ "$group" != "$1" ] || kill -s TERM 0' sh "$$"
trap 'exit "$k8s_code"' ALRM
(sleep 10 && kill -s ALRM "$$") > /dev/null &
wait $k8s_out_tee $k8s_err_tee
exit "$k8s_code"
)";

std::string start_with_files()
{
    std::string text = "if [ -z \"$k8s_out$k8s_err\" ]; then\n  warn \"$$\"\n"
                       "  start\nfi\n";
    text += "k8s_pipes=" + std::string(names::batch_pipes_mount) + "\n";
    text += "exec 8>&1 9>&2\n";
    text += "if ! command -v tee > /dev/null || ! command -v cat > /dev/null "
            "||\n    ! mkfifo \"$k8s_pipes/1\" \"$k8s_pipes/2\" "
            "\"$k8s_pipes/end\" 2> /dev/null; then\n";
    text += without_log(out) + without_log(err);
    text += "  [ \"$k8s_same\" = no ] || exec 9>&8\n";
    text += start_without_log;
    text += "k8s_out_tee= k8s_err_tee=\n";
    text += with_log(out) + with_log(err);
    text += "[ \"$k8s_same\" = no ] || exec 9>&8\n";
    text += start_with_log;
    return text;
}

// Changes the directory as slurmstepd does.
std::string change_directory(const std::string &work_dir)
{
    if (work_dir.empty())
        return {};
    return "cd " + shell_word(work_dir) +
           " 2>/dev/null || {\n  printf '%s\\n' " +
           shell_word("slurmk8s: error: couldn't chdir to `" + work_dir +
                      "': not in this container: going to /tmp instead") +
           " >&2\n  cd /tmp 2>/dev/null || cd /\n}\n";
}

} // namespace

std::string shell_word(std::string_view text)
{
    std::string word = "'";
    for (char c : text) {
        if (c == '\'')
            word += "'\\''";
        else
            word += c;
    }
    return word + "'";
}

void add_login(BatchScript &script, const BatchUser &user)
{
    if (!std::ranges::contains(script.environment, "SLURM_GET_USER_ENV=1"))
        return;
    auto add = [&](std::string_view name, const std::string &value) {
        if (!value.empty() &&
            !std::ranges::contains(script.environment, name, variable_name))
            script.environment.push_back(std::string(name) + "=" + value);
    };
    add("HOME", user.home);
    add("SHELL", user.shell);
    add("USER", user.name);
    add("LOGNAME", user.name);
}

std::string batch_launcher(const BatchScript &script,
                           const std::vector<std::string> &variables,
                           const BatchOutput &output, const BatchOutput &error,
                           const std::string &input, const std::string &path)
{
    std::string text = "#!/bin/sh\n";
    if (std::string mask = umask_of(script); !mask.empty())
        text += "umask " + mask + "\n";
    text += change_directory(script.work_dir);
    text += start_function(script, variables, path) + warn_function(script) +
            open_input(input);
    bool same = output.path == error.path;
    if (output.path.empty() && error.path.empty())
        return text + "warn \"$$\"\nstart\n";
    text += "k8s_out= k8s_err=\nk8s_same=" + std::string(same ? "yes" : "no") +
            "\n";
    bool asked = output.asked || (same && error.asked);
    if (!output.path.empty())
        text += open_file(out, {output.path, asked}, script.append);
    if (!error.path.empty() && !same)
        text += open_file(err, error, script.append);
    return text + start_with_files();
}

} // namespace bridge
