// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/srun/hosts_file.h"

#include "common/base/text.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cctype>

namespace bridge {

namespace {

bool is_address(const std::string &text)
{
    in6_addr address;
    return inet_pton(AF_INET, text.c_str(), &address) == 1 ||
           inet_pton(AF_INET6, text.c_str(), &address) == 1;
}

bool is_node_name(std::string_view text)
{
    return !text.empty() && text.size() <= 255 &&
           std::ranges::all_of(text, [](unsigned char c) {
               return std::isalnum(c) || c == '-' || c == '.' || c == '_';
           });
}

} // namespace

Result<std::vector<StepHost>> parse_hosts_file(std::string_view text,
                                               std::uint32_t count)
{
    std::vector<StepHost> hosts(std::min(count, max_step_hosts));
    auto missing = hosts.size();
    for (unsigned line_number = 1; !text.empty(); line_number++) {
        std::string_view line = next_part(text, '\n');
        if (line.empty())
            continue;
        auto rank = whole_number<std::uint32_t>(next_part(line, ' '));
        std::string_view name = next_part(line, ' ');
        std::string address(line);
        if (!rank || *rank >= max_step_hosts || !is_node_name(name) ||
            !is_address(address))
            return fail(Code::rejected, "line " + std::to_string(line_number) +
                                            " is not \"RANK NODENAME IP\"");
        if (*rank >= hosts.size())
            continue;
        StepHost host{std::string(name), std::move(address)};
        if (!hosts[*rank].name.empty() && hosts[*rank] != host)
            return fail(Code::rejected, "line " + std::to_string(line_number) +
                                            " repeats a rank");
        missing -= hosts[*rank].name.empty();
        hosts[*rank] = std::move(host);
    }
    if (missing > 0)
        return fail(Code::not_found, std::to_string(missing) + " of " +
                                         std::to_string(hosts.size()) +
                                         " Pods have no address yet");
    return hosts;
}

} // namespace bridge
