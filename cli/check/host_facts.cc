// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/host_facts.h"

#include "cli/agent_client.h"
#include "cli/check/token_expiry.h"
#include "common/base/json.h"
#include "common/base/read_file.h"
#include "common/base/replace_file.h"
#include "common/base/user_name.h"
#include "common/contract/worker_names.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace bridge {

namespace {

AgentFacts ask(const Conf &conf)
{
    AgentFacts facts;
    auto reply = ask_agent(conf.web_address, "/status");
    if (!reply || reply->status != 200)
        return facts;
    auto answer = Json::parse(reply->body);
    if (!answer)
        return facts;
    facts.answers = true;
    facts.serving = answer->flag("serving");
    facts.standby = answer->text("standby");
    facts.problems = answer->texts("problems");
    return facts;
}

} // namespace

FileFacts read_file_facts(const std::string &path)
{
    FileFacts facts;
    facts.path = path;
    struct stat found{};
    if (stat(path.c_str(), &found) != 0) {
        facts.reason = std::strerror(errno);
        return facts;
    }
    facts.there = true;
    facts.owner = found.st_uid;
    facts.owner_name = user_name(found.st_uid);
    facts.mode = found.st_mode & 07777U;
    facts.directory = S_ISDIR(found.st_mode);
    facts.socket = S_ISSOCK(found.st_mode);
    return facts;
}

HostFacts load_host_facts(const Conf &conf, const std::string &conf_path,
                          const std::string &token_path)
{
    HostFacts facts;
    facts.user_id = geteuid();
    facts.in_pod = std::getenv(names::pod_uid_variable) != nullptr;
    facts.conf = read_file_facts(conf_path);
    facts.token = read_file_facts(token_path);
    facts.socket_directory = read_file_facts(directory_of(conf.socket_path));
    facts.socket = read_file_facts(conf.socket_path);
    facts.token_expires =
        token_expiry(read_file(token_path, any_size).value_or(""));
    facts.now = std::chrono::floor<std::chrono::seconds>(
        std::chrono::system_clock::now());
    facts.agent = ask(conf);
    return facts;
}

} // namespace bridge
