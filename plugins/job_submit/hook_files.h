// SPDX-License-Identifier: GPL-2.0-or-later
// The files of job_submit's hooks. slurmctld holds its locks while it calls a
// hook, so no hook waits for a file: a thread of its own reads k8s.conf and
// asks the file system for room, each second, and writes what hooks hand over.
//
//   hooks, slurmctld's locks held             the thread, no lock held
//   conf(), record_login()     ◀─────────────  k8s.conf, SbatchTemplate
//   store_script(), record_login() ──queue──▶  StateSaveLocation
//
// What a hook has handed over is written within milliseconds. A slurmctld that
// is killed in this time loses it, as it loses the job itself, which it saves
// later. A script that cannot be written is kept and tried again, and meanwhile
// hooks take no others. The agent waits two minutes for a job's file. One that
// is not written when slurmctld is started anew by `scontrol reconfigure` is
// lost while its job is not; the job fails then, with the reason.
#pragma once

#include "common/contract/conf.h"
#include "common/contract/login_dir.h"
#include "common/contract/script_dir.h"
#include "plugins/job_submit/conf_cache.h"
#include "plugins/job_submit/login_book.h"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace bridge {

class HookFiles {
  public:
    struct Settings {
        std::string conf_path{};
        std::string state_save_location{}; // empty: nothing is written
        std::chrono::milliseconds look{1000};
        // So long after the last look, or while a file waits for so long, the
        // file system counts as one that does not answer.
        std::chrono::milliseconds patience{10'000};
        std::size_t most_bytes = 64 << 20; // of all scripts in the queue
        std::size_t most_files = 10'000;   // in the queue
    };
    // log: writes an error to slurmctld's log. Called by the thread.
    using Log = std::function<void(const std::string &)>;

    HookFiles(Settings settings, Log log);
    ~HookFiles(); // only tests get here

    // Starts the thread, and waits until it has read k8s.conf, for some seconds
    // at most. Throws if there is no thread: then nothing is ever accepted.
    void start();

    // All of these may be called by any thread, and never wait for a file.

    // Returns k8s.conf as it was a second ago, or as it was when it last had no
    // mistake; null if it never had none.
    std::shared_ptr<const Conf> conf();

    // Hands over a script. Returns the name that its file gets, or a message
    // for the user.
    std::expected<std::string, std::string> store_script(std::string text);

    // Hands over that this user has sent this login. Returns the reason of a
    // failure as a message for the user, or nothing.
    std::optional<std::string> record_login(const std::string &login,
                                            std::uint32_t user,
                                            LoginDir::Time now);

    // Waits until all is written, for this long at most: slurmctld ends.
    void finish(std::chrono::milliseconds longest);

  private:
    using Clock = std::chrono::steady_clock;
    struct File {
        std::string name;
        std::string text{};    // of a script
        bool is_login = false; // then:
        std::uint32_t user = 0;
        LoginDir::Time time{};
        Clock::time_point since = Clock::now(); // in the queue
    };

    void run(const std::stop_token &stop);
    void look();
    void read_conf();
    void write_queue();
    bool write(const File &file);
    void set_trouble(const std::string &trouble);
    std::string reason_not_to_write(std::size_t bytes) const;
    void enqueue(File file);

    const Settings settings_;
    const Log log_;
    const ScriptDir scripts_;
    const LoginDir logins_;
    ConfCache cache_; // only used by the thread

    std::mutex mutex_; // guards the members down to the next blank line
    std::condition_variable_any changed_;
    std::shared_ptr<const Conf> conf_;
    std::string session_address_; // empty: the agent serves no users
    Clock::time_point looked_{};  // epoch: not yet
    std::string trouble_;         // why nothing can be written
    std::deque<File> queue_;      // only the thread takes from it
    std::size_t queued_bytes_ = 0;
    LoginBook book_;

    std::jthread thread_; // last: it uses all of the above
};

} // namespace bridge
