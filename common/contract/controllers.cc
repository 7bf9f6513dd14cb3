// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/controllers.h"

#include "common/base/read_file.h"

#include <algorithm>
#include <cstdint>

namespace bridge {

namespace {

constexpr std::size_t word = sizeof(std::uint64_t);

std::uint64_t number_in(std::string_view bytes)
{
    std::uint64_t number = 0;
    for (char c : bytes)
        number = number << 8 | static_cast<unsigned char>(c);
    return number;
}

std::string short_name(const std::string &host)
{
    return host.substr(0, host.find('.'));
}

} // namespace

Result<std::size_t> find_controller(const Controllers &controllers,
                                    const std::string &host_name)
{
    auto ours = [&](const std::string &host) {
        return host == host_name || host == short_name(host_name);
    };
    auto found = std::ranges::find_if(controllers.hosts, ours);
    if (found == controllers.hosts.end())
        return fail(Code::rejected,
                    "this host, " + host_name +
                        ", is not a SlurmctldHost in slurm.conf");
    return static_cast<std::size_t>(found - controllers.hosts.begin());
}

Result<Heartbeat> parse_heartbeat(std::string_view contents)
{
    if (contents.size() != 2 * word)
        return fail(Code::rejected, "is not a heartbeat of slurmctld");
    return Heartbeat{
        static_cast<std::int64_t>(number_in(contents.substr(0, word))),
        number_in(contents.substr(word))};
}

Result<Heartbeat> read_heartbeat(const Controllers &controllers)
{
    auto contents =
        read_file(controllers.state_save_location + "/heartbeat", 2 * word);
    if (!contents)
        return std::unexpected(contents.error());
    return parse_heartbeat(*contents);
}

Control last_in_control(const Controllers &controllers, std::size_t us)
{
    if (controllers.hosts.size() < 2)
        return Control::ours;
    auto heartbeat = read_heartbeat(controllers);
    if (!heartbeat)
        return Control::unknown;
    return heartbeat->index == us ? Control::ours : Control::others;
}

} // namespace bridge
