// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/group_watch.h"

#include "agent/daemon/watch_failures.h"
#include "common/base/backoff.h"
#include "common/kube/status.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

Feature feature_of(GroupApi api)
{
    return api == GroupApi::jobset ? Feature::jobset_size : Feature::pod_groups;
}

// Turns what the reflector reads into messages. "Not found" ends the watch,
// because the API may be gone.
class GroupSink : public ReflectorSink {
  public:
    GroupSink(GroupApi api, std::string what, Mailbox<Message> &mailbox,
              std::stop_source &over)
        : api_(api), mailbox_(mailbox), over_(over),
          failures_(std::move(what), mailbox)
    {
    }

    void list_begins() override { specs_.clear(); }
    void list_item(const Json &object) override
    {
        specs_.push_back(group_spec_from(object, api_));
    }
    void list_ends() override
    {
        mailbox_.push(GroupsListed{api_, std::exchange(specs_, {})});
    }
    void changed(const Json &object) override
    {
        mailbox_.push(Changed<GroupSpec>{group_spec_from(object, api_), false});
    }
    void deleted(const Json &object) override
    {
        mailbox_.push(Changed<GroupSpec>{group_spec_from(object, api_), true});
    }
    void failing(const Error &error) override
    {
        if (error.code == Code::not_found) {
            over_.request_stop();
            return;
        }
        failures_.failing(error);
    }
    void working() override { failures_.working(); }

  private:
    GroupApi api_;
    Mailbox<Message> &mailbox_;
    std::stop_source &over_;
    std::vector<GroupSpec> specs_;
    WatchFailures failures_;
};

} // namespace

Result<bool> has_api(Http &http, GroupApi api, std::stop_token stop)
{
    auto groups = object_in(http.get("/apis", stop), "list the API groups");
    if (!groups)
        return std::unexpected(groups.error());
    if (!groups->at("groups").is_array())
        return fail(Code::busy, "list the API groups: the answer has none");
    GroupApiPath path = path_of(api);
    for (const Json &group : groups->items("groups"))
        if (group.text("name") == path.group)
            return std::ranges::any_of(
                group.items("versions"), [&](const Json &version) {
                    return version.text("version") == path.version;
                });
    return false;
}

GroupWatch::GroupWatch(HttpEndpoint endpoint, GroupApi api,
                       const Access &access, Mailbox<Message> &mailbox,
                       GroupWatchTimes times)
    : endpoint_(std::move(endpoint)), api_(api), access_(access),
      mailbox_(mailbox), times_(times), what_("watch " + path_of(api).words())
{
}

void GroupWatch::run(std::stop_token stop)
{
    if (!access_.wait_until_answered(stop))
        return;
    while (!stop.stop_requested())
        if (wait_until_there(stop))
            watch(stop);
}

// Returns false when stop is requested, or when everything has to be asked
// again.
bool GroupWatch::wait_until_there(std::stop_token stop)
{
    if (!access_.may(feature_of(api_))) {
        report_absent();
        if (!access_.wait_until_may(feature_of(api_), stop))
            return false;
    }
    Http http(endpoint_); // asked too seldom to keep a connection
    auto there = has_api(http, api_, stop);
    if (stop.stop_requested())
        return false;
    if (!there || std::exchange(failing_, false))
        mailbox_.push(WatchState{what_, there ? "" : there.error().message});
    failing_ = !there;
    if (there && *there)
        return true;
    if (there)
        report_absent();
    wait_for(there ? times_.look : times_.retry, stop);
    return false;
}

void GroupWatch::report_absent()
{
    if (!std::exchange(said_absent_, true))
        mailbox_.push(GroupsListed{api_, std::nullopt});
}

// Watches until the API is gone or stop is requested.
void GroupWatch::watch(std::stop_token stop)
{
    std::stop_source over;
    std::stop_callback follow(stop, [&] { over.request_stop(); });
    GroupSink sink(api_, what_, mailbox_, over);
    Reflector reflector(endpoint_, path_of(api_).list(), {}, sink,
                        times_.reflector);
    said_absent_ = false;
    reflector.run(over.get_token());
}

} // namespace bridge
