// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/web_pages.h"

#include "agent/daemon/metrics_access.h"
#include "agent/owner/owner.h"
#include "common/base/read_file.h"
#include "common/kube/token_claims.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

namespace bridge {

namespace {

constexpr std::chrono::seconds patience{5};     // with the owner thread
constexpr std::size_t longest_token = 1U << 16; // bytes

// Asks the owner thread from another thread. Returns otherwise when it does not
// answer.
template <class Answer>
Answer ask(Mailbox<Message> &mailbox, std::function<Answer()> what,
           Answer otherwise)
{
    auto promise = std::make_shared<std::promise<Answer>>();
    auto answer = promise->get_future();
    mailbox.push(Ask{[promise, what] { promise->set_value(what()); }});
    if (answer.wait_for(patience) != std::future_status::ready)
        return otherwise;
    return answer.get();
}

constexpr char silent[] = "the owner thread does not answer";

Result<Story> ask_story(const StoryKey &key, Owner &owner,
                        Mailbox<Message> &mailbox)
{
    return ask<Result<Story>>(
        mailbox, [key, &owner] { return owner.story(key); },
        fail(Code::busy, silent));
}

// The file is read anew: somebody else may renew the token.
void write_token(const std::string &file, MetricText &text)
{
    auto token = read_file(file, longest_token);
    if (!token)
        return;
    auto claims = token_claims(without_end_blanks(std::move(*token)));
    if (claims.expires)
        text.gauge("slurmk8sd_token_expiry_timestamp_seconds",
                   "When the token for the API server expires.",
                   claims.expires->time_since_epoch().count());
}

} // namespace

WebPages pages_of(Owner &owner, Mailbox<Message> &mailbox, Slurm &slurm,
                  const MetricSources &metrics)
{
    using Text = std::string;
    auto explain_page = std::make_shared<ExplainPage>(
        [&](const StoryKey &key) { return ask_story(key, owner, mailbox); },
        slurm);
    auto access = std::make_shared<MetricsAccess>(metrics.readers_token_file);
    auto problems = [&owner] {
        return owner.health().failures(!owner.standby().empty());
    };
    return {[=, &mailbox] {
                return ask<Text>(mailbox, problems, Text(silent) + "\n");
            },
            [access](const Text &authorization) {
                return access->reader(authorization);
            },
            [&, metrics](MetricFormat format, MetricsReader reader) {
                auto text = ask<MetricText>(
                    mailbox, [&, format] { return owner.metrics(format); },
                    MetricText(format));
                metrics.calls.write(text);
                write_token(metrics.token_file, text);
                metrics.slurm.write(text, reader);
                return text;
            },
            [metrics](MetricFormat format, MetricsReader reader) {
                MetricText text(format);
                metrics.slurm.write_detail(text, reader);
                return text;
            },
            [&] {
                return ask<Text>(
                    mailbox, [&] { return owner.status_json(); }, "{}");
            },
            [explain_page](const Text &pod, const Text &job) {
                return explain_page->answer(pod, job);
            }};
}

} // namespace bridge
