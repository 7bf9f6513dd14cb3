// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/program.h"

#include "common/base/owned_fd.h"
#include "common/base/read_file.h"
#include "common/base/system_error.h"
#include "common/base/write_all.h"

#include <cerrno>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace bridge {

namespace {

// Files in memory instead of pipes: the program never waits for us.
OwnedFd memory_file()
{
    return OwnedFd(memfd_create("slurmk8s", MFD_CLOEXEC));
}

std::string contents(int fd)
{
    lseek(fd, 0, SEEK_SET);
    return read_rest(fd, any_size).value_or("");
}

int status_of(int wait_status)
{
    return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status)
                                  : 128 + WTERMSIG(wait_status);
}

// Returns 0 or an error number.
int spawn(pid_t &child, std::vector<std::string> &words, int in, int out,
          int err)
{
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, err, STDERR_FILENO);
    int error = posix_spawnp(&child, arguments[0], &actions, nullptr,
                             arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

} // namespace

Result<ProgramEnd> run_program(std::vector<std::string> words,
                               std::string_view input)
{
    OwnedFd in = memory_file(), out = memory_file(), err = memory_file();
    if (!in || !out || !err || !write_all(in.get(), input))
        return fail_errno(Code::busy, "run " + words[0]);
    lseek(in.get(), 0, SEEK_SET);
    pid_t child = 0;
    if (int error = spawn(child, words, in.get(), out.get(), err.get()))
        return fail_errno(Code::not_found, "run " + words[0], error);
    int wait_status = 0;
    while (waitpid(child, &wait_status, 0) < 0 && errno == EINTR)
        continue;
    return ProgramEnd{status_of(wait_status), contents(out.get()),
                      contents(err.get())};
}

} // namespace bridge
