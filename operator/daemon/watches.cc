// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/daemon/watches.h"

#include "common/base/log.h"
#include "common/contract/worker_names.h"
#include "operator/decide/made.h"

#include <exception>
#include <format>
#include <type_traits>
#include <utility>

namespace bridge::slinky {

namespace {

template <class Object> class MailSink : public ReflectorSink {
  public:
    using Parse = Object (*)(const Json &);

    MailSink(Listed<Object> about, Parse read, Mailbox<News> &mailbox)
        : about_(std::move(about)), read_(read), mailbox_(mailbox)
    {
    }

    void list_begins() override { about_.objects.clear(); }

    void list_item(const Json &object) override
    {
        about_.objects.push_back(parse(object));
    }

    void list_ends() override
    {
        mailbox_.push(about_);
        about_.objects = {};
    }

    void changed(const Json &object) override
    {
        mailbox_.push(Changed<Object>{parse(object), false});
    }

    void deleted(const Json &object) override
    {
        mailbox_.push(Changed<Object>{parse(object), true});
    }

    void failing(const Error &error) override
    {
        // Without Nodes only some things are not done, and conditions say so.
        if constexpr (std::is_same_v<Object, KubeNode>) {
            log_debug("Nodes cannot be watched", {{"err", error.message}});
            return;
        }
        failing_ = true;
        mailbox_.push(WatchSays{about_.watch, error.message});
    }

    void working() override
    {
        if (std::exchange(failing_, false))
            mailbox_.push(WatchSays{about_.watch, {}});
    }

  private:
    // The items of a list in pages have no kind.
    Object parse(const Json &json) const
    {
        Object object = read_(json);
        if constexpr (requires { object.kind; })
            object.kind = about_.kind;
        return object;
    }

    Listed<Object> about_;
    Parse read_;
    Mailbox<News> &mailbox_;
    bool failing_ = false;
};

} // namespace

Watches::Watches(const HttpEndpoint &endpoint,
                 const std::vector<std::string> &namespaces,
                 Mailbox<News> &mailbox)
    : endpoint_(endpoint), mailbox_(mailbox)
{
    for (const std::string &ns : namespaces)
        add_all(endpoint, ns, mailbox);
    if (namespaces.empty())
        add_all(endpoint, {}, mailbox);
    count_ = watches_.size();
    add(endpoint, "/api/v1", "nodes", {}, mailbox, kube_node_from);
    for (Watch &watch : watches_)
        start(watch);
}

void Watches::start(Watch &watch)
{
    watch.thread = std::jthread(
        [&reflector = *watch.reflector](const std::stop_token &stop) {
            try {
                reflector.run(stop);
            } catch (const std::exception &e) { // such as out of memory
                log_error("a watch ended for good, restart the operator",
                          {{"err", e.what()}});
            }
        });
}

void Watches::watch_files(const std::string &ns)
{
    if (!file_namespaces_.insert(ns).second)
        return;
    add(endpoint_, "/api/v1", "configmaps", ns, mailbox_, file_map_from);
    start(watches_.back());
}

Watches::~Watches()
{
    for (Watch &watch : watches_)
        watch.thread.request_stop();
}

void Watches::add_all(const HttpEndpoint &endpoint, const std::string &ns,
                      Mailbox<News> &mailbox)
{
    const std::string slinky = std::string("/apis/") + names::slinky_version;
    const std::string workers = std::string(names::app_label) + "=slurmd";
    const std::string daemons =
        std::string(names::app_label) + " in (slurmctld,slurmdbd)";
    const std::string slurmctlds = std::format(
        "{} in ({},{})", names::app_label, slurmctld_app, trial_app);
    add(endpoint, slinky, "controllers", ns, mailbox, controller_from);
    add(endpoint, slinky, "nodesets", ns, mailbox, node_set_from);
    for (auto [kind, plural] : {std::pair("LoginSet", "loginsets"),
                                {"RestApi", "restapis"},
                                {"Accounting", "accountings"},
                                {"Token", "tokens"}})
        add(endpoint, slinky, plural, ns, mailbox, unserved_from, kind);
    add(endpoint, "/api/v1", "pods", ns, mailbox, worker_from, {}, workers);
    add(endpoint, "/api/v1", "pods", ns, mailbox, daemon_from, {}, slurmctlds);
    add(endpoint, "/api/v1", "services", ns, mailbox, service_from, {},
        workers);
    add(endpoint, "/apis/apps/v1", "controllerrevisions", ns, mailbox,
        revision_from, {}, workers);
    add(endpoint, "/apis/policy/v1", "poddisruptionbudgets", ns, mailbox,
        budget_from, {}, workers);
    add(endpoint, "/api/v1", "persistentvolumeclaims", ns, mailbox, claim_from,
        {}, workers);
    for (const MadeKind &made : made_kinds)
        add(endpoint, made.api, made.plural, ns, mailbox, made_from, made.kind,
            daemons);
}

template <class Object>
void Watches::add(const HttpEndpoint &endpoint, const std::string &api,
                  const std::string &plural, const std::string &ns,
                  Mailbox<News> &mailbox, Object (*parse)(const Json &),
                  const std::string &kind, const std::string &labels)
{
    std::string path =
        api + (ns.empty() ? "" : "/namespaces/" + ns) + "/" + plural;
    auto sink = std::make_unique<MailSink<Object>>(
        Listed<Object>{path + " " + labels, kind, ns, {}}, parse, mailbox);
    auto reflector = std::make_unique<Reflector>(endpoint, path, "", *sink,
                                                 ReflectorTimes{}, labels);
    watches_.push_back({std::move(sink), std::move(reflector), {}});
}

} // namespace bridge::slinky
