// SPDX-License-Identifier: GPL-2.0-or-later
// Lists and watches one kind of object for ever, as client-go's Reflector does:
// a streaming list (or pages, if the server refuses that), then a watch from
// its resourceVersion, which every event and bookmark moves forward. An expired
// version or a silent server means: list again. Everything else means: watch
// again, after a back-off of 0.8 s to 30 s, or as long as the server asks. Runs
// on a thread of its own, which blocks.
#pragma once

#include "common/base/json.h"
#include "common/base/result.h"
#include "common/kube/http.h"

#include <chrono>
#include <map>
#include <optional>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>

namespace bridge {

// Receives what the reflector reads. Called on the reflector's thread.
class ReflectorSink {
  public:
    virtual ~ReflectorSink() = default;

    // A list begins, perhaps for the second time: forget the items of an
    // unfinished one.
    virtual void list_begins() = 0;
    // An object may occur twice in one list; the later one is newer.
    virtual void list_item(const Json &object) = 0;
    // The list is complete: it replaces all that was known.
    virtual void list_ends() = 0;

    virtual void changed(const Json &object) = 0; // added or modified
    virtual void deleted(const Json &object) = 0; // the last state of the
                                                  // object

    // Nothing can be read at the moment; the reflector keeps trying.
    virtual void failing(const Error &error) = 0;
    // The server answers, though there may be nothing to report.
    virtual void working() = 0;
};

// The delays and limits. Tests use shorter ones.
struct ReflectorTimes {
    std::chrono::milliseconds first_delay{800};
    std::chrono::milliseconds longest_delay{30'000};
    // A watch that has lived this long was a success.
    std::chrono::milliseconds success{60'000};
    // A bookmark arrives every minute, except if the resourceVersion lies in
    // the future, as after a restore of etcd: such a watch is silent for ever.
    std::chrono::milliseconds silence{150'000};
    // An empty list where there were objects before is not accepted at once: a
    // server that lost its data, or a proxy in front of it, may have sent it.
    // The list is repeated for this long, and then once a minute until it is
    // not empty.
    std::chrono::milliseconds doubt{10'000};
};

class Reflector {
  public:
    // path is for example "/api/v1/pods"; selector is a fieldSelector or empty,
    // and labels a labelSelector or empty.
    Reflector(HttpEndpoint endpoint, std::string path, std::string selector,
              ReflectorSink &sink, ReflectorTimes times = {},
              std::string labels = {});

    // Returns soon after a stop is requested, even during a watch.
    void run(std::stop_token stop);

  private:
    Result<> round(const std::stop_token &stop);
    Result<> stream_list(const std::stop_token &stop);
    Result<> page_list(const std::stop_token &stop);
    Result<std::string> read_page(const std::string &token,
                                  const std::stop_token &stop);
    Result<> watch(const std::stop_token &stop);
    Result<> stream(const std::string &query, const std::stop_token &stop);

    Result<> on_line(std::string_view line);
    void begin_list();
    Result<> on_list_event(const std::string &type, const Json &object);
    void on_event(const std::string &type, const Json &object);
    bool doubtful();
    Result<> end_list(const std::string &version);
    std::string url(const std::string &query) const;

    Http http_;
    std::string path_;
    std::string selector_;
    std::string labels_;
    ReflectorSink &sink_;
    ReflectorTimes times_;
    std::minstd_rand random_{std::random_device{}()};

    std::string resource_version_; // empty: a list is due
    bool listing_ = false;         // a streaming list is not complete yet
    bool streams_lists_ = true;    // the server has not refused one
    std::size_t events_ = 0;       // of the current stream
    // Objects that were deleted while the list that contains them was still
    // coming, by uid.
    std::map<std::string, Json> deleted_; // by uid
    std::size_t items_ = 0;               // of the current list
    std::size_t objects_ = 0; // known objects: the last list plus later changes
    std::optional<std::chrono::steady_clock::time_point> empty_since_;
    bool emptied_ = false; // the last list was empty and earlier ones were not
};

} // namespace bridge
