// SPDX-License-Identifier: GPL-2.0-or-later
// Lists and watches one kind of object for ever, as client-go's Reflector does:
// a streaming list (or pages, where the server refuses that), then a watch from
// its resourceVersion, moved on by every event and bookmark. An expired version
// or a silent server means list again; everything else means watch again, with
// a back-off from 0.8 s to 30 s, or as long as the server asks for. Runs on a
// thread of its own, which blocks.
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

// Receives what the reflector reads, on the reflector's thread.
class ReflectorSink {
  public:
    virtual ~ReflectorSink() = default;

    // A list begins, again perhaps: forget the items of an unfinished one.
    virtual void list_begins() = 0;
    // An object may come twice in one list: the later one is the newer.
    virtual void list_item(const Json &object) = 0;
    // The list is complete: it replaces all that was known.
    virtual void list_ends() = 0;

    virtual void changed(const Json &object) = 0; // added or modified
    virtual void deleted(const Json &object) = 0; // its last state

    // Nothing can be read at the moment; it is being tried again.
    virtual void failing(const Error &error) = 0;
    // The server answers, though it may have nothing to tell.
    virtual void working() = 0;
};

// Tests have shorter ones.
struct ReflectorTimes {
    std::chrono::milliseconds first_delay{800};
    std::chrono::milliseconds longest_delay{30'000};
    // A watch that lived as long as this was a success.
    std::chrono::milliseconds success{60'000};
    // A bookmark comes every minute, except where the resourceVersion lies in
    // the future, as after etcd was restored: that watch is silent for ever.
    std::chrono::milliseconds silence{150'000};
    // An empty list where there was something is not believed at once: a server
    // that lost its data, or a proxy before it, may have made it up. It is
    // asked again for so long, and then once a minute until there is something.
    std::chrono::milliseconds doubt{10'000};
};

class Reflector {
  public:
    // path: such as "/api/v1/pods"; selector: a fieldSelector or empty.
    Reflector(HttpEndpoint endpoint, std::string path, std::string selector,
              ReflectorSink &sink, ReflectorTimes times = {});

    // Returns soon after stop is requested, also in the middle of a watch.
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
    ReflectorSink &sink_;
    ReflectorTimes times_;
    std::minstd_rand random_{std::random_device{}()};

    std::string resource_version_; // empty: a list is due
    bool listing_ = false;         // a streaming list has not come to its end
    bool streams_lists_ = true;    // the server has not refused one
    std::size_t events_ = 0;       // of the stream under way
    // What was deleted while the list that holds it was still coming.
    std::map<std::string, Json> deleted_; // by uid
    std::size_t items_ = 0;               // of the list under way
    std::size_t objects_ = 0; // that are there, by the last list and since
    std::optional<std::chrono::steady_clock::time_point> empty_since_;
    bool emptied_ = false; // the last list was empty, those before were not
};

} // namespace bridge
