// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/hook_files.h"

#include "common/contract/batch_names.h"
#include "common/contract/session_conf.h"

#include <exception>
#include <pthread.h>
#include <utility>

namespace bridge {

HookFiles::HookFiles(Settings settings, Log log)
    : settings_(std::move(settings)), log_(std::move(log)),
      scripts_(settings_.state_save_location + "/" + names::scripts_dir),
      logins_(settings_.state_save_location + "/" + names::logins_dir)
{
}

HookFiles::~HookFiles()
{
    thread_.request_stop();
}

void HookFiles::start()
{
    constexpr std::chrono::seconds longest{5}; // slurmctld starts meanwhile
    thread_ = std::jthread([this](const std::stop_token &stop) {
        pthread_setname_np(pthread_self(), "k8s_files");
        run(stop);
    });
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, longest,
                      [this] { return looked_ != Clock::time_point(); });
}

std::shared_ptr<const Conf> HookFiles::conf()
{
    std::lock_guard lock(mutex_);
    return conf_;
}

std::expected<std::string, std::string>
HookFiles::store_script(std::string text)
{
    std::string name = new_script_name();
    if (name.empty())
        return std::unexpected(
            "slurmctld's host has no random numbers: try again later.");
    std::lock_guard lock(mutex_);
    if (std::string reason = reason_not_to_write(text.size()); !reason.empty())
        return std::unexpected("slurmctld cannot store the script: " + reason);
    enqueue({.name = name, .text = std::move(text)});
    return name;
}

std::optional<std::string> HookFiles::record_login(const std::string &login,
                                                   std::uint32_t user,
                                                   LoginDir::Time now)
{
    std::lock_guard lock(mutex_);
    if (session_address_.empty())
        return "slurmk8sd serves no users here: slurmctld's k8s.conf has no "
               "UserAddress.";
    std::optional<std::string> reason;
    if (std::string trouble = reason_not_to_write(0); !trouble.empty())
        reason = trouble;
    else
        reason = book_.enter(login, user, now);
    if (reason)
        return "slurmctld could not tell slurmk8sd who you are: " + *reason;
    enqueue({.name = login, .is_login = true, .user = user, .time = now});
    return std::nullopt;
}

void HookFiles::finish(std::chrono::milliseconds longest)
{
    std::unique_lock lock(mutex_);
    changed_.notify_all();
    changed_.wait_for(lock, longest, [this] { return queue_.empty(); });
}

// With the mutex. Returns words for users, who see no path.
std::string HookFiles::reason_not_to_write(std::size_t bytes) const
{
    if (settings_.state_save_location.empty())
        return "it has no StateSaveLocation.";
    const auto now = Clock::now();
    if (now - looked_ > settings_.patience ||
        (!queue_.empty() && now - queue_.front().since > settings_.patience))
        return "its file system does not answer. Try again later.";
    if (!trouble_.empty())
        return "see its log. Try again later.";
    if (queue_.size() >= settings_.most_files ||
        bytes > settings_.most_bytes - queued_bytes_)
        return "it has too many others to write. Try again later.";
    return {};
}

void HookFiles::enqueue(File file)
{
    queued_bytes_ += file.text.size();
    queue_.push_back(std::move(file));
    changed_.notify_all();
}

void HookFiles::run(const std::stop_token &stop)
{
    while (!stop.stop_requested()) {
        try {
            write_queue();
            look();
        } catch (const std::exception &e) { // such as no memory
            try {
                set_trouble(e.what());
            } catch (...) { // again: nothing is accepted until a look is done
                std::lock_guard lock(mutex_);
                looked_ = {};
            }
        }
        std::unique_lock lock(mutex_);
        changed_.wait_for(lock, stop, settings_.look, [this] {
            return trouble_.empty() && !queue_.empty();
        });
    }
}

void HookFiles::look()
{
    Clock::time_point now = Clock::now();
    read_conf();
    if (!settings_.state_save_location.empty()) {
        auto room = scripts_.check_room();
        bool waits = false;
        {
            std::lock_guard lock(mutex_);
            waits = !queue_.empty() && !trouble_.empty();
        }
        if (!room || !waits) // what waits has the better answer
            set_trouble(room ? "" : room.error().message);
    }
    std::lock_guard lock(mutex_);
    looked_ = now;
    changed_.notify_all();
}

void HookFiles::read_conf()
{
    auto [conf, news] = cache_.get(settings_.conf_path);
    if (!news.empty())
        log_("cannot read the settings for batch jobs: " + news +
             (conf ? "; the previous settings are used" : ""));
    // Sessions need none of what is for batch jobs, mistakes included.
    auto sessions = load_session_conf(settings_.conf_path);
    std::lock_guard lock(mutex_);
    conf_ = conf;
    if (sessions)
        session_address_ = sessions->address;
}

// For as long as until the next look.
void HookFiles::write_queue()
{
    const auto until = Clock::now() + settings_.look;
    while (Clock::now() < until) {
        File *next = nullptr; // stays where it is while others are added
        {
            std::lock_guard lock(mutex_);
            if (queue_.empty())
                return;
            next = &queue_.front();
        }
        if (!write(*next))
            return;
        std::lock_guard lock(mutex_);
        queued_bytes_ -= next->text.size();
        queue_.pop_front();
        if (queue_.empty())
            changed_.notify_all();
    }
}

// Returns false if it is to be tried again.
bool HookFiles::write(const File &file)
{
    if (file.is_login) { // its user can send another one
        auto put = logins_.put(file.name, file.user, file.time);
        if (!put)
            log_("cannot note a login: " + put.error().message);
        return true;
    }
    auto put = scripts_.put(file.name, file.text);
    set_trouble(put ? "" : put.error().message);
    return put.has_value();
}

// Logs each new trouble once.
void HookFiles::set_trouble(const std::string &trouble)
{
    {
        std::lock_guard lock(mutex_);
        if (trouble == trouble_)
            return;
        trouble_ = trouble;
    }
    if (!trouble.empty())
        log_("cannot store scripts, jobs with --k8s-image are refused: " +
             trouble);
}

} // namespace bridge
