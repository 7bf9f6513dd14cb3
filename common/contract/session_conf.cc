// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/session_conf.h"

#include "common/base/conf_lines.h"
#include "common/base/host_port.h"

#include <array>

namespace bridge {

namespace {

using Setter = Result<> (*)(SessionConf &, std::string_view);

template <std::string SessionConf::*field>
Result<> set_path(SessionConf &conf, std::string_view value)
{
    auto path = absolute_path(value);
    if (!path)
        return std::unexpected(path.error());
    conf.*field = *path;
    return {};
}

template <std::string SessionConf::*field>
Result<> set_address(SessionConf &conf, std::string_view value)
{
    if (auto parts = parse_host_port(value); !parts)
        return std::unexpected(parts.error());
    conf.*field = value;
    return {};
}

Result<> set_attach(SessionConf &conf, std::string_view value)
{
    auto said = yes_or_no(value);
    if (!said)
        return std::unexpected(said.error());
    conf.attach = *said;
    return {};
}

struct Key {
    std::string_view name;
    Setter set;
};

constexpr std::array keys = {
    Key{"UserSocket", set_path<&SessionConf::socket>},
    Key{"UserAddress", set_address<&SessionConf::address>},
    Key{"UserCertificate", set_path<&SessionConf::certificate>},
    Key{"UserKey", set_path<&SessionConf::key>},
    Key{"UserServer", set_address<&SessionConf::server>},
    Key{"UserCaFile", set_path<&SessionConf::ca_file>},
    Key{"UserAttach", set_attach},
};

} // namespace

Result<SessionConf> parse_session_conf(std::string_view text)
{
    SessionConf conf;
    auto read = for_each_setting(
        text, [&](std::string_view name, std::string_view value) -> Result<> {
            const Key *key = find_key(keys, name);
            if (!key)
                return {};
            if (auto set = key->set(conf, value); !set)
                return fail(Code::rejected,
                            std::string(key->name) + " " + set.error().message);
            return {};
        });
    if (!read)
        return std::unexpected(read.error());
    if (!conf.address.empty() && (conf.certificate.empty() || conf.key.empty()))
        return fail(Code::rejected, "UserAddress needs UserCertificate and "
                                    "UserKey: there is no session without "
                                    "TLS");
    if (!conf.server.empty() && conf.ca_file.empty())
        return fail(Code::rejected, "UserServer needs UserCaFile: slurmk8s "
                                    "trusts no other certificate");
    return conf;
}

Result<SessionConf> load_session_conf(const std::string &path)
{
    auto text = read_conf_file(path);
    if (!text)
        return std::unexpected(text.error());
    auto conf = parse_session_conf(*text);
    if (!conf)
        return fail(conf.error(), path);
    return conf;
}

std::string_view session_key(std::string_view name)
{
    const Key *key = find_key(keys, name);
    return key ? key->name : std::string_view{};
}

} // namespace bridge
