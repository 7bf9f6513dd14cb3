// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/calls/gated_http.h"

#include <utility>

namespace bridge {

GatedHttp::GatedHttp(HttpEndpoint endpoint, const WriteGate &gate)
    : http_(std::move(endpoint)), gate_(gate)
{
}

Result<HttpReply> GatedHttp::get(const std::string &path)
{
    return http_.get(path);
}

Result<HttpReply> GatedHttp::get_metadata(const std::string &path)
{
    return http_.get_metadata(path);
}

Result<HttpReply> GatedHttp::post(Write write, const std::string &path,
                                  const std::string &body)
{
    return gate_.pass(write, [&] { return http_.post(path, body); });
}

Result<HttpReply> GatedHttp::put(Write write, const std::string &path,
                                 const std::string &body)
{
    return gate_.pass(write, [&] { return http_.put(path, body); });
}

Result<HttpReply> GatedHttp::patch(Write write, const std::string &path,
                                   const std::string &content_type,
                                   const std::string &body)
{
    return gate_.pass(write,
                      [&] { return http_.patch(path, content_type, body); });
}

Result<HttpReply> GatedHttp::remove(Write write, const std::string &path,
                                    const std::string &body)
{
    return gate_.pass(write, [&] { return http_.remove(path, body); });
}

Result<HttpReply> GatedHttp::try_post(const std::string &path,
                                      const std::string &body)
{
    return http_.post(path + "?dryRun=All", body);
}

} // namespace bridge
