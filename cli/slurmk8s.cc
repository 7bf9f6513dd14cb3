// SPDX-License-Identifier: GPL-2.0-or-later
// slurmk8s(1), also installed as kubectl-slurm: what the agent is doing, for
// people. Asks the agent's /status on the host on which both run.
#include "common/conf.h"
#include "common/json.h"
#include "config.h"

#include <cstdio>
#include <cstring>
#include <format>
#include <getopt.h>
#include <httplib.h>
#include <string>

namespace bridge {

namespace {

constexpr char help[] =
    "Usage: slurmk8s [-f FILE] COMMAND\n"
    "Shows what slurmk8sd, the agent between Slurm and Kubernetes, is doing.\n"
    "\n"
    "Commands:\n"
    "  status           whether it serves, what is wrong, and each gang: its\n"
    "                   Slurm job, its Node, and why it waits\n"
    "\n"
    "Options:\n"
    "  -f, --conf FILE  configuration instead of /etc/slurm/k8s.conf\n"
    "  -V, --version    print the version and exit\n"
    "  -h, --help       print this and exit\n"
    "\n"
    "The exit status is 0 when the agent serves, 1 when it does not, 2 for a\n"
    "wrong call. See slurmk8s(1).\n";

constexpr int wrong_call = 2;

int complain(const std::string &what)
{
    std::fprintf(stderr, "slurmk8s: %s\n", what.c_str());
    return 1;
}

Result<Json> ask_agent(const std::string &address)
{
    httplib::Client client("http://" + address);
    client.set_connection_timeout(2);
    client.set_read_timeout(10);
    auto reply = client.Get("/status");
    if (!reply)
        return fail(Code::busy, "slurmk8sd does not answer at " + address +
                                    ": is it running on this host?");
    return Json::parse(reply->body);
}

// Tabs and newlines in what users wrote must not look like columns.
std::string cell(std::string text)
{
    for (char &c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == 0x7f)
            c = ' ';
    return text.empty() ? "-" : text;
}

void print_gang(const Json &gang)
{
    auto job = gang.integer("jobId");
    std::fputs(std::format("{:<40} {:>10} {:<12} {:<20} {}\n",
                           cell(gang.text("gang")),
                           job ? std::to_string(*job) : "-",
                           cell(gang.text("state")), cell(gang.text("node")),
                           cell(gang.text("said")))
                   .c_str(),
               stdout);
}

int status(const Conf &conf)
{
    auto answer = ask_agent(conf.web_address);
    if (!answer)
        return complain(answer.error().message);
    bool serving = answer->flag("serving");
    std::puts(serving ? "slurmk8sd is serving" : "slurmk8sd is NOT serving");
    for (const auto &[what, why] : answer->members("problems"))
        std::printf("problem: %s: %s\n", cell(what).c_str(),
                    cell(why.text()).c_str());
    auto gangs = answer->items("gangs");
    if (!gangs.empty())
        std::fputs(std::format("{:<40} {:>10} {:<12} {:<20} {}\n", "GANG",
                               "JOBID", "STATE", "NODE", "WHY IT WAITS")
                       .c_str(),
                   stdout);
    for (const Json &gang : gangs)
        print_gang(gang);
    return serving ? 0 : 1;
}

int run(int argc, char **argv)
{
    static const option long_options[] = {{"conf", required_argument, {}, 'f'},
                                          {"version", no_argument, {}, 'V'},
                                          {"help", no_argument, {}, 'h'},
                                          {}};
    std::string conf_path = names::default_conf_path;
    int c;
    while ((c = getopt_long(argc, argv, "f:Vh", long_options, nullptr)) != -1) {
        switch (c) {
        case 'f':
            conf_path = optarg;
            break;
        case 'V':
            std::puts(PACKAGE_STRING);
            return 0;
        case 'h':
            std::fputs(help, stdout);
            return 0;
        default:
            std::fputs("Try 'slurmk8s --help'.\n", stderr);
            return wrong_call;
        }
    }
    if (optind + 1 != argc || std::strcmp(argv[optind], "status") != 0) {
        std::fputs(help, stderr);
        return wrong_call;
    }
    auto conf = load_conf(conf_path);
    if (!conf)
        return complain(conf.error().message);
    return status(*conf);
}

} // namespace

} // namespace bridge

int main(int argc, char **argv)
try {
    return bridge::run(argc, argv);
} catch (const std::exception &e) {
    std::fprintf(stderr, "slurmk8s: %s\n", e.what());
    return 1;
}
