// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/status.h"

#include "common/kube/http.h"
#include "common/kube/text.h"

namespace bridge {

namespace {

constexpr std::size_t max_message = 1024; // bytes

Error error_of(long status, const std::string &message)
{
    std::string text = "HTTP " + std::to_string(status);
    if (!message.empty())
        text += ": " + clean_text(message, max_message);
    return {code_of_status(status), text, {}};
}

} // namespace

Code code_of_status(long status)
{
    switch (status) {
    case 401:
    case 403:
        return Code::denied;
    case 404:
        return Code::not_found;
    case 408:
    case 429:
        return Code::busy;
    case 409:
        return Code::conflict;
    case 410:
        return Code::gone;
    default:
        break;
    }
    if (status >= 500 && status < 600)
        return Code::busy;
    return status >= 400 && status < 500 ? Code::rejected : Code::internal;
}

Error status_error(long status, std::string_view body)
{
    auto json = Json::parse(body);
    return error_of(status, json ? json->text("message") : std::string());
}

Error status_error(const Json &status)
{
    return error_of(static_cast<long>(status.integer("code").value_or(0)),
                    status.text("message"));
}

bool is_uid_mismatch(long status, std::string_view body)
{
    if (status != 422)
        return false;
    auto json = Json::parse(body);
    if (!json)
        return false;
    for (const Json &cause : json->items("details/causes"))
        if (cause.text("field") == "metadata.uid")
            return true;
    return false;
}

bool is_budget_exhausted(long status, std::string_view body)
{
    if (status != 429)
        return false;
    auto json = Json::parse(body);
    if (!json)
        return false;
    for (const Json &cause : json->items("details/causes"))
        if (cause.text("reason") == "DisruptionBudget")
            return true;
    return false;
}

Result<> check_status(const HttpReply &reply)
{
    if (reply.status >= 200 && reply.status < 300)
        return {};
    Error error = status_error(reply.status, reply.body);
    error.retry_after = reply.retry_after;
    return std::unexpected(std::move(error));
}

Result<Json> object_in(const Result<HttpReply> &reply, const std::string &what)
{
    if (!reply)
        return fail(reply.error(), what);
    if (auto said = check_status(*reply); !said)
        return fail(said.error(), what);
    auto json = Json::parse(reply->body);
    if (!json)
        return fail(Code::internal, what + ": " + json.error().message);
    return json;
}

} // namespace bridge
