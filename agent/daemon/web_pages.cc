// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/web_pages.h"

#include "agent/owner/owner.h"

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <string>

namespace bridge {

namespace {

constexpr std::chrono::seconds patience{5}; // with the owner thread

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

} // namespace

WebPages pages_of(Owner &owner, Mailbox<Message> &mailbox, Slurm &slurm,
                  const SlurmMetrics &metrics)
{
    using Text = std::string;
    auto explain_page = std::make_shared<ExplainPage>(
        [&](const StoryKey &key) { return ask_story(key, owner, mailbox); },
        slurm);
    auto problems = [&owner] {
        return owner.health().failures(!owner.standby().empty());
    };
    return {[=, &mailbox] {
                return ask<Text>(mailbox, problems, Text(silent) + "\n");
            },
            [&](MetricFormat format) {
                auto text = ask<MetricText>(
                    mailbox, [&, format] { return owner.metrics(format); },
                    MetricText(format));
                metrics.write(text);
                return text;
            },
            [&](MetricFormat format) {
                MetricText text(format);
                metrics.write_detail(text);
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
