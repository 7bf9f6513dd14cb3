// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/watches.h"

#include "agent/daemon/watch_failures.h"
#include "agent/objects/foreign_pods.h"
#include "common/base/log.h"

#include <algorithm>
#include <array>
#include <exception>
#include <string_view>
#include <utility>

namespace bridge {

namespace {

// For Namespaces and Nodes. An empty list of these is never believed: every
// cluster has Namespaces, and every cluster with an agent has Nodes.
ReflectorTimes never_empty()
{
    ReflectorTimes times;
    times.doubt = std::chrono::days(365);
    return times;
}

// For ResourceClaims: while they are gone all devices seem free. Pods of other
// schedulers may have some, of which nothing else tells.
ReflectorTimes seldom_empty()
{
    ReflectorTimes times;
    times.doubt = std::chrono::minutes(10);
    return times;
}

// Escapes JSON as the API server, that is Go's encoding/json, does: parameters
// are copied into claims, and are compared there byte by byte. These characters
// occur in strings only.
std::string as_go_writes(const std::string &json)
{
    static const std::array<std::pair<std::string_view, std::string_view>, 5>
        escapes{{{"<", "\\u003c"},
                 {">", "\\u003e"},
                 {"&", "\\u0026"},
                 {"\xe2\x80\xa8", "\\u2028"},
                 {"\xe2\x80\xa9", "\\u2029"}}};
    std::string text;
    for (std::size_t i = 0; i < json.size();) {
        auto escape = std::ranges::find_if(escapes, [&](const auto &one) {
            return json.compare(i, one.first.size(), one.first) == 0;
        });
        bool plain = escape == escapes.end();
        text += plain ? std::string_view(json).substr(i, 1) : escape->second;
        i += plain ? 1 : escape->first.size();
    }
    return text;
}

// Writes the class's configuration as compact JSON again, which is how the API
// server stores it.
DeviceClass read_class(const Json &json)
{
    return device_class_from(json, as_go_writes(json.dump()));
}

// Turns what a reflector reads into messages for the owner thread.
template <class Object> class MailSink : public ReflectorSink {
  public:
    using Parse = Object (*)(const Json &);

    MailSink(std::string what, std::string source, Parse parse,
             Mailbox<Message> &mailbox)
        : source_(std::move(source)), parse_(parse), mailbox_(mailbox),
          failures_(std::move(what), mailbox)
    {
    }

    void list_begins() override { objects_.clear(); }

    void list_item(const Json &object) override
    {
        objects_.push_back(parse_(object));
    }

    void list_ends() override
    {
        mailbox_.push(Listed<Object>{source_, std::move(objects_)});
        objects_ = {};
    }

    void changed(const Json &object) override
    {
        mailbox_.push(Changed<Object>{parse_(object), false});
    }

    void deleted(const Json &object) override
    {
        mailbox_.push(Changed<Object>{parse_(object), true});
    }

    void failing(const Error &error) override { failures_.failing(error); }

    void working() override { failures_.working(); }

  private:
    std::string source_;
    Parse parse_;
    Mailbox<Message> &mailbox_;
    std::vector<Object> objects_;
    WatchFailures failures_;
};

} // namespace

Watches::Watches(const HttpEndpoint &endpoint, const Conf &conf,
                 const Access &access, GroupLooks &looks,
                 Mailbox<Message> &mailbox)
{
    for (const std::string &name : conf.scheduler_names)
        add(endpoint, "/api/v1/pods", "spec.schedulerName=" + name,
            std::make_unique<MailSink<Pod>>("watch Pods of " + name, name,
                                            pod_from, mailbox));
    add(endpoint, "/api/v1/nodes", {},
        std::make_unique<MailSink<Node>>("watch Nodes", "", node_from, mailbox),
        never_empty());
    add(endpoint, "/api/v1/namespaces", {},
        std::make_unique<MailSink<Namespace>>("watch Namespaces", "",
                                              namespace_from, mailbox),
        never_empty());
    add(endpoint, "/api/v1/pods", foreign_selector(conf.scheduler_names),
        std::make_unique<MailSink<ForeignPod>>("watch Pods of others", "",
                                               foreign_pod_from, mailbox));
    for (GroupApi api : group_apis)
        group_watches_.push_back(std::make_unique<GroupWatch>(
            endpoint, api, access, looks, mailbox));
    if (!conf.device_gres.empty() || !conf.capacity_gres.empty())
        add_devices(endpoint, mailbox);
    for (Watch &watch : watches_)
        start([&watch, &access](std::stop_token stop) {
            if (watch.needs == Feature::base ||
                access.wait_until_may(watch.needs, stop))
                watch.reflector->run(stop);
        });
    for (auto &watch : group_watches_)
        start([&watch](std::stop_token stop) { watch->run(stop); });
}

template <class Work> void Watches::start(Work work)
{
    threads_.emplace_back([work](std::stop_token stop) {
        try {
            work(stop);
        } catch (const std::exception &e) { // such as out of memory
            log_error("a watch ended for good, restart the agent",
                      {{"err", e.what()}});
        }
    });
}

Watches::~Watches()
{
    for (std::jthread &thread : threads_)
        thread.request_stop();
}

void Watches::add(const HttpEndpoint &endpoint, const std::string &path,
                  const std::string &selector,
                  std::unique_ptr<ReflectorSink> sink,
                  const ReflectorTimes &times, Feature needs)
{
    auto reflector =
        std::make_unique<Reflector>(endpoint, path, selector, *sink, times);
    watches_.push_back({std::move(sink), std::move(reflector), needs});
}

void Watches::add_devices(const HttpEndpoint &endpoint,
                          Mailbox<Message> &mailbox)
{
    add(endpoint, "/apis/resource.k8s.io/v1/resourceslices", {},
        std::make_unique<MailSink<ResourceSlice>>("watch ResourceSlices", "",
                                                  resource_slice_from, mailbox),
        {}, Feature::devices);
    add(endpoint, "/apis/resource.k8s.io/v1/deviceclasses", {},
        std::make_unique<MailSink<DeviceClass>>("watch DeviceClasses", "",
                                                read_class, mailbox),
        {}, Feature::devices);
    add(endpoint, "/apis/resource.k8s.io/v1/resourceclaims", {},
        std::make_unique<MailSink<ResourceClaim>>("watch ResourceClaims", "",
                                                  watched_claim, mailbox),
        seldom_empty(), Feature::devices);
}

} // namespace bridge
