// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/session_request.h"

#include "common/base/json.h"
#include "common/contract/session_frame.h"

#include <limits>

namespace bridge {

namespace {

constexpr std::size_t most_words = 1024; // of a command

std::unexpected<Error> odd(const char *what)
{
    return fail(Code::rejected, std::string("the other side sent ") + what +
                                    " that is not understood");
}

std::uint16_t size_in(const Json &json, const char *name)
{
    std::int64_t value = json.integer(name).value_or(0);
    bool fits = value > 0 && value <= std::numeric_limits<std::uint16_t>::max();
    return fits ? static_cast<std::uint16_t>(value) : std::uint16_t{0};
}

WindowSize window_in(const Json &json)
{
    return {size_in(json, "rows"), size_in(json, "columns")};
}

// Tells whether the words are a command. A word with a null character would end
// there in the container.
bool is_command(const std::vector<std::string> &words)
{
    if (words.empty() || words.size() > most_words || words.front().empty())
        return false;
    for (const std::string &word : words)
        if (word.contains('\0'))
            return false;
    return true;
}

// Returns the words of the command; an item that is not a string is "".
std::vector<std::string> command_in(const Json &json)
{
    std::vector<std::string> words;
    for (const Json &item : json.items("command"))
        words.push_back(item.text());
    return words;
}

JsonValue window_value(JsonValue value, const WindowSize &window)
{
    value.add("rows", std::uint32_t{window.rows});
    value.add("columns", std::uint32_t{window.columns});
    return value;
}

} // namespace

Result<std::string> encode(const SessionRequest &request)
{
    bool attach = request.what == SessionRequest::What::attach;
    auto value = JsonValue::object(
        {{"do", attach ? "attach" : "logs"}, {"job", request.job}});
    if (!request.login.empty())
        value.add("login", request.login);
    if (attach) {
        JsonValue::Array words;
        for (const std::string &word : request.command)
            words.emplace_back(word);
        value.add("command", JsonValue::array(std::move(words)));
        value.add("input", request.input);
        value.add("terminal", request.terminal);
        value = window_value(std::move(value), request.window);
    } else {
        value.add("follow", request.follow);
    }
    std::string text = value.dump();
    if (text.size() > max_frame)
        return fail(Code::rejected, "the command is too long");
    // Bytes that are not UTF-8 were replaced above, which would change the
    // command.
    if (attach && decode_session_request(text) != request)
        return fail(Code::rejected,
                    "the command must not be empty and must be UTF-8 text");
    return text;
}

std::string encode(const SessionEnd &end)
{
    if (end.refused.empty())
        return JsonValue::object({{"exit", end.exit}}).dump();
    return JsonValue::object({{"refused", end.refused},
                              {"unknown", end.unknown},
                              {"later", end.later}})
        .dump();
}

std::string encode(const WindowSize &window)
{
    return window_value(JsonValue::object({}), window).dump();
}

Result<SessionRequest> decode_session_request(std::string_view text)
{
    auto json = Json::parse(text);
    if (!json)
        return odd("a request");
    SessionRequest request;
    std::string what = json->text("do");
    std::int64_t job = json->integer("job").value_or(0);
    if ((what != "logs" && what != "attach") || job <= 0 ||
        job > std::numeric_limits<std::uint32_t>::max())
        return odd("a request");
    request.job = static_cast<std::uint32_t>(job);
    request.login = json->text("login");
    request.follow = json->flag("follow");
    if (what == "logs")
        return request;
    request.what = SessionRequest::What::attach;
    request.command = command_in(*json);
    request.input = json->flag("input");
    request.terminal = json->flag("terminal");
    request.window = window_in(*json);
    if (!is_command(request.command))
        return odd("a command");
    return request;
}

Result<SessionEnd> decode_session_end(std::string_view text)
{
    auto json = Json::parse(text);
    if (!json)
        return odd("an outcome");
    SessionEnd end;
    end.refused = json->text("refused");
    end.unknown = json->flag("unknown");
    end.later = json->flag("later");
    auto exit = json->integer("exit");
    if (end.refused.empty() && (!exit || *exit < 0 || *exit > 255))
        return odd("an outcome");
    end.exit = static_cast<int>(exit.value_or(0));
    return end;
}

Result<WindowSize> decode_window_size(std::string_view text)
{
    auto json = Json::parse(text);
    if (!json)
        return odd("a window's size");
    return window_in(*json);
}

} // namespace bridge
