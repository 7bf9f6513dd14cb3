// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/reflector.h"

#include "common/base/backoff.h"
#include "common/kube/status.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int relist_empty = 60; // seconds

bool ends_the_list(const Json &bookmark)
{
    return bookmark.at("metadata/annotations")
               .member("k8s.io/initial-events-end")
               .text() == "true";
}

std::string version_of(const Json &object)
{
    return object.text("metadata/resourceVersion");
}

} // namespace

Reflector::Reflector(HttpEndpoint endpoint, std::string path,
                     std::string selector, ReflectorSink &sink,
                     ReflectorTimes times, std::string labels)
    : http_(std::move(endpoint)), path_(std::move(path)),
      selector_(std::move(selector)), labels_(std::move(labels)), sink_(sink),
      times_(times)
{
}

void Reflector::run(std::stop_token stop)
{
    Backoff backoff(times_.first_delay, times_.longest_delay);
    while (!stop.stop_requested()) {
        auto begun = Clock::now();
        auto ended = round(stop);
        if (stop.stop_requested())
            return;
        if (Clock::now() - begun >= times_.success)
            backoff.reset();
        if (ended)
            continue;
        if (ended.error().code == Code::gone)
            resource_version_.clear();
        sink_.failing(ended.error());
        wait_for(std::max<std::chrono::milliseconds>(backoff.next(random_),
                                                     ended.error().retry_after),
                 stop);
    }
}

// Lists if a list is due, otherwise watches until the server ends the watch.
Result<> Reflector::round(const std::stop_token &stop)
{
    if (resource_version_.empty() && !streams_lists_)
        return page_list(stop);
    auto ended = resource_version_.empty() ? stream_list(stop) : watch(stop);
    if (ended && emptied_)
        resource_version_.clear();
    if (ended || ended.error().code != Code::rejected || !listing_)
        return ended;
    // The server refuses it, for example because its WatchList is off.
    streams_lists_ = false;
    return page_list(stop);
}

// A streaming list continues as a watch when the list is complete.
Result<> Reflector::stream_list(const std::stop_token &stop)
{
    listing_ = true;
    begin_list();
    auto ended = stream("sendInitialEvents=true"
                        "&resourceVersionMatch=NotOlderThan",
                        stop);
    if (ended && listing_ && !stop.stop_requested())
        return fail(Code::busy,
                    "list " + path_ + ": the server ended it early");
    return ended;
}

Result<> Reflector::watch(const std::stop_token &stop)
{
    listing_ = false;
    return stream("resourceVersion=" + url_encode(resource_version_), stop);
}

Result<> Reflector::stream(const std::string &query,
                           const std::stop_token &stop)
{
    // 5 to 10 minutes, as in client-go, so that not all watches end at once.
    std::uniform_int_distribution<int> some(300, 600);
    int seconds = emptied_ || empty_since_ ? relist_empty : some(random_);
    auto begun = Clock::now();
    events_ = 0;
    auto ended = http_.stream(
        url("watch=true&allowWatchBookmarks=true&timeoutSeconds=" +
            std::to_string(seconds) + "&" + query),
        [this](std::string_view line) { return on_line(line); }, times_.silence,
        stop, [this] { sink_.working(); });
    if (!ended)
        return fail(ended.error(), "watch " + path_);
    bool again = events_ == 0 || emptied_; // the same, without a pause
    if (again && Clock::now() - begun < times_.first_delay)
        return fail(Code::busy,
                    "watch " + path_ + ": the server ended it at once");
    return {};
}

// Handles one line, which is one event. Code::gone means: list again.
Result<> Reflector::on_line(std::string_view line)
{
    auto event = Json::parse(line);
    if (!event)
        return fail(Code::busy, event.error().message);
    std::string type = event->text("type");
    Json object = event->at("object");
    if (type == "ERROR")
        return std::unexpected(status_error(object));
    events_++;
    if (listing_)
        return on_list_event(type, object);
    on_event(type, object);
    return {};
}

void Reflector::begin_list()
{
    items_ = 0;
    deleted_.clear();
    sink_.list_begins();
}

// Changes may be mixed with the list's items. The sink does not notice:
// deletions are reported after the end of the list.
Result<> Reflector::on_list_event(const std::string &type, const Json &object)
{
    // By uid, because a name may be deleted and created again within one list.
    std::string key = object.text("metadata/uid");
    if (type == "ADDED" || type == "MODIFIED") {
        deleted_.erase(key);
        items_ += type == "ADDED";
        sink_.list_item(object);
    } else if (type == "DELETED") {
        deleted_.insert_or_assign(key, object);
    } else if (type == "BOOKMARK" && ends_the_list(object)) {
        return end_list(version_of(object));
    }
    return {};
}

// Tells whether an empty list must not be accepted yet: see ReflectorTimes.
bool Reflector::doubtful()
{
    if (items_ > 0 || objects_ == 0) {
        empty_since_.reset();
        return false;
    }
    if (!empty_since_)
        empty_since_ = Clock::now();
    return Clock::now() - *empty_since_ < times_.doubt;
}

Result<> Reflector::end_list(const std::string &version)
{
    if (doubtful())
        return fail(Code::gone, "the list is empty but was not empty before");
    listing_ = false;
    resource_version_ = version;
    emptied_ = items_ == 0 && (objects_ > 0 || emptied_);
    objects_ = items_ - std::min(items_, deleted_.size());
    sink_.list_ends();
    for (const auto &[key, object] : std::exchange(deleted_, {}))
        sink_.deleted(object);
    return {};
}

// The object of a bookmark has nothing but its resourceVersion.
void Reflector::on_event(const std::string &type, const Json &object)
{
    if (type == "ADDED" || type == "MODIFIED") {
        objects_ += type == "ADDED";
        sink_.changed(object);
    } else if (type == "DELETED") {
        objects_ -= std::min<std::size_t>(objects_, 1);
        sink_.deleted(object);
    }
    if (auto version = version_of(object); !version.empty())
        resource_version_ = version;
}

// Reads all pages, which share one resourceVersion. Code::gone if the token
// expires meanwhile: start again with the first page.
Result<> Reflector::page_list(const std::stop_token &stop)
{
    listing_ = false;
    begin_list();
    std::string token;
    do {
        auto next = read_page(token, stop);
        if (stop.stop_requested())
            return {};
        if (!next)
            return fail(next.error(), "list " + path_);
        token = *next;
    } while (!token.empty());
    return {};
}

// Reads one page. Returns the token of the next one; empty after the last page.
Result<std::string> Reflector::read_page(const std::string &token,
                                         const std::stop_token &stop)
{
    std::string query = std::string("limit=") + page_size;
    if (!token.empty())
        query += "&continue=" + url_encode(token);
    auto reply = http_.get(url(query), stop);
    if (!reply)
        return std::unexpected(reply.error());
    if (auto said = check_status(*reply); !said)
        return std::unexpected(said.error());
    auto page = Json::parse(reply->body);
    if (!page)
        return fail(Code::busy, page.error().message);
    for (const Json &item : page->items("items")) {
        items_++;
        sink_.list_item(item);
    }
    std::string next = page->text("metadata/continue");
    if (next.empty()) {
        if (version_of(*page).empty())
            return fail(Code::busy, "the list has no resourceVersion");
        if (auto ended = end_list(version_of(*page)); !ended)
            return std::unexpected(ended.error());
    }
    return next;
}

std::string Reflector::url(const std::string &query) const
{
    std::string whole = path_ + "?" + query;
    if (!selector_.empty())
        whole += "&fieldSelector=" + url_encode(selector_);
    if (!labels_.empty())
        whole += "&labelSelector=" + url_encode(labels_);
    return whole;
}

} // namespace bridge
