// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/own_conf.h"

#include "common/base/backoff.h"
#include "common/base/conf_lines.h"
#include "common/base/log.h"

#include <chrono>
#include <exception>
#include <utility>

namespace bridge {

namespace {

constexpr std::chrono::seconds interval{1};

} // namespace

OwnConf::OwnConf(std::string path, std::string text,
                 std::function<Result<Conf>()> load)
    : path_(std::move(path)), text_(std::move(text)), load_(std::move(load))
{
}

bool OwnConf::changed()
{
    auto text = read_conf_file(path_);
    if (!text || *text == text_)
        return false;
    auto conf = load_();
    if (conf)
        return true;
    std::lock_guard lock(mutex_);
    if (refused_ != *text)
        log_warning("k8s.conf has changed and has a mistake, going on without "
                    "the change",
                    {{"err", conf.error().message}});
    refused_ = std::move(*text);
    return false;
}

OwnConfThread::OwnConfThread(OwnConf &own, std::function<void()> on_change)
    : own_(own), on_change_(std::move(on_change)),
      thread_([this](const std::stop_token &stop) { run(stop); })
{
}

void OwnConfThread::run(const std::stop_token &stop)
{
    while (wait_for(interval, stop)) {
        try {
            if (own_.changed())
                return on_change_();
        } catch (const std::exception &e) { // such as out of memory
            log_error("cannot look at k8s.conf, retrying", {{"err", e.what()}});
        }
    }
}

} // namespace bridge
