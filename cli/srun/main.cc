// SPDX-License-Identifier: GPL-2.0-or-later
// srun in a job's first Pod, and the worker in its other Pods: one program that
// needs nothing of the image in which it runs. It is linked statically, and
// looks up no host, user or locale.
#include "config.h"

#include "cli/srun/het_group.h"
#include "cli/srun/srun_step.h"
#include "cli/srun/step_io.h"
#include "cli/srun/worker.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <unistd.h>

extern "C" char **environ;

// Replaces libstdc++'s handler, which would add a demangler of 60 kB.
void __gnu_cxx::__verbose_terminate_handler()
{
    std::abort();
}

namespace {

constexpr char worker_help[] =
    "Usage: slurmk8s-srun --worker [--listen=ADDRESS]\n";

void print(std::string_view text)
{
    [[maybe_unused]] ssize_t written = write(1, text.data(), text.size());
}

} // namespace

int main(int argc, char **argv)
{
    using namespace bridge;
    fill_standard_fds();
    std::span<const char *const> arguments(argv + std::min(argc, 1),
                                           argv + argc);
    if (!arguments.empty() && std::string_view(arguments[0]) == "--worker") {
        constexpr std::string_view listen = "--listen=";
        std::string_view word = arguments.size() == 2 ? arguments[1] : "";
        if (arguments.size() > 2 ||
            (arguments.size() == 2 && !word.starts_with(listen))) {
            print(worker_help);
            return 2;
        }
        return run_worker(
            std::string(word.substr(word.empty() ? 0 : listen.size())));
    }
    Environment environment;
    for (char **entry = environ; *entry; entry++)
        environment.emplace_back(*entry);
    auto options = parse_in_group(arguments, environment);
    if (!options) {
        print_error_line(options.error().message);
        return 1;
    }
    if (options->help || options->version) {
        print(options->help ? srun_help : PACKAGE_STRING " srun\n");
        return 0;
    }
    return srun(*options, environment);
}
