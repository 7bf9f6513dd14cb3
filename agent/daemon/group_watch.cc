// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/group_watch.h"

#include "agent/daemon/watch_failures.h"
#include "common/base/backoff.h"
#include "common/kube/status.h"

#include <algorithm>
#include <utility>

namespace bridge {

namespace {

// Turns what the reflector reads into messages. "Not found" ends the watch,
// because the API may be gone.
class GroupSink : public ReflectorSink {
  public:
    GroupSink(GroupApi api, const GroupApiPath &path, GroupLooks::Number look,
              std::string what, Mailbox<Message> &mailbox,
              std::stop_source &over)
        : api_(api), path_(path), look_(look), mailbox_(mailbox), over_(over),
          failures_(std::move(what), mailbox)
    {
    }

    void list_begins() override { specs_.clear(); }
    void list_item(const Json &object) override
    {
        specs_.push_back(read(object));
    }
    void list_ends() override
    {
        mailbox_.push(
            GroupsListed{api_, std::exchange(specs_, {}), &path_, look_});
    }
    void changed(const Json &object) override
    {
        mailbox_.push(Changed<GroupSpec>{read(object), false});
    }
    void deleted(const Json &object) override
    {
        mailbox_.push(Changed<GroupSpec>{read(object), true});
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
    GroupSpec read(const Json &object) const
    {
        return group_spec_from(object, api_, path_);
    }

    GroupApi api_;
    const GroupApiPath &path_;
    GroupLooks::Number look_;
    Mailbox<Message> &mailbox_;
    std::stop_source &over_;
    std::vector<GroupSpec> specs_;
    WatchFailures failures_;
};

// Returns the list at this path, of which items is the name of its array.
Result<Json> list_at(Http &http, const std::string &path, const char *items,
                     const std::stop_token &stop)
{
    auto list = object_in(http.get(path, stop), "get " + path);
    if (list && !list->at(items).is_array())
        return fail(Code::busy, "get " + path + ": the answer is no list");
    return list;
}

bool serves_version(const Json &groups, const GroupApiPath &path)
{
    return std::ranges::any_of(groups.items("groups"), [&](const Json &group) {
        return group.text("name") == path.group &&
               std::ranges::any_of(
                   group.items("versions"), [&](const Json &version) {
                       return version.text("version") == path.version;
                   });
    });
}

// Whether the version has these objects: its group may have others only.
Result<bool> serves_resource(Http &http, const GroupApiPath &path,
                             const std::stop_token &stop)
{
    auto resources = list_at(http, path.version_path(), "resources", stop);
    if (!resources)
        return std::unexpected(resources.error());
    return std::ranges::any_of(
        resources->items("resources"), [&](const Json &resource) {
            return resource.text("name") == path.resource;
        });
}

// Whether the objects themselves can be listed.
Result<bool> can_list(Http &http, const GroupApiPath &path,
                      const std::stop_token &stop)
{
    auto list = list_at(http, path.list() + "?limit=1", "items", stop);
    if (!list && list.error().code == Code::not_found)
        return false;
    if (!list)
        return std::unexpected(list.error());
    return true;
}

} // namespace

Result<const GroupApiPath *> find_api(Http &http, GroupApi api, bool wanted,
                                      const std::stop_token &stop)
{
    auto groups = list_at(http, "/apis", "groups", stop);
    if (!groups)
        return std::unexpected(groups.error());
    for (const GroupApiPath &path : paths_of(api)) {
        if (!serves_version(*groups, path))
            continue;
        auto serves = serves_resource(http, path, stop);
        if (!serves)
            return std::unexpected(serves.error());
        if (*serves)
            return &path;
    }
    if (!wanted || api == GroupApi::workload) // which is no CRD
        return nullptr;
    const GroupApiPath &path = path_of(api);
    return can_list(http, path, stop).transform([&](bool there) {
        return there ? &path : nullptr;
    });
}

GroupWatch::GroupWatch(HttpEndpoint endpoint, GroupApi api,
                       const Access &access, GroupLooks &looks,
                       Mailbox<Message> &mailbox, GroupWatchTimes times)
    : endpoint_(std::move(endpoint)), api_(api), access_(access), looks_(looks),
      mailbox_(mailbox), times_(times), path_(&path_of(api))
{
    what_ = std::string("watch ") + path_->resource + "." + path_->group;
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
bool GroupWatch::wait_until_there(const std::stop_token &stop)
{
    GroupLooks::Number last = look_;
    look_ = looks_.begin(api_, times_.distance, stop);
    if (!access_.may(feature_of(api_))) {
        report_absent();
        access_.wait_until_may(feature_of(api_), stop);
        return false;
    }
    Http http(endpoint_); // asked too seldom to keep a connection
    auto found = find_api(http, api_, look_ != last, stop);
    if (stop.stop_requested())
        return false;
    if (!found || std::exchange(failing_, false))
        mailbox_.push(WatchState{what_, found ? "" : found.error().message});
    failing_ = !found;
    if (!found) {
        look_ = last; // it has no answer yet
        return false;
    }
    if (*found) {
        path_ = *found;
        return true;
    }
    report_absent();
    looks_.wait(api_, times_.look, stop);
    return false;
}

// Says it once, and once for each look that was requested.
void GroupWatch::report_absent()
{
    if (said_absent_ == look_)
        return;
    said_absent_ = look_;
    mailbox_.push(GroupsListed{api_, std::nullopt, path_, look_});
}

// Watches until the API is gone or stop is requested.
void GroupWatch::watch(const std::stop_token &stop)
{
    std::stop_source over;
    std::stop_callback follow(stop, [&] { over.request_stop(); });
    GroupSink sink(api_, *path_, look_, what_, mailbox_, over);
    Reflector reflector(endpoint_, path_->list(), {}, sink, times_.reflector);
    said_absent_.reset();
    reflector.run(over.get_token());
}

} // namespace bridge
