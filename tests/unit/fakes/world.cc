// SPDX-License-Identifier: GPL-2.0-or-later
#include "tests/unit/fakes/world.h"

#include "common/base/log.h"

#include <algorithm>
#include <doctest/doctest.h>
#include <utility>

namespace bridge {

namespace {

constexpr int too_many = 20000; // steps: somebody runs in a circle

template <class Queue> auto take(Queue &from) -> decltype(from.pop())
{
    return from.size() == 0 ? std::nullopt : from.pop();
}

} // namespace

struct World::Agent {
    Mailbox<Message> mailbox;
    TaskQueue submits;
    TaskQueue actions;
    TaskQueue reports;
    Owner owner;

    explicit Agent(World &world)
        : owner(std::make_shared<const Conf>(world.conf),
                {world.slurm,
                 submits,
                 actions,
                 reports,
                 [&world](HookMessage m, PluginConnection to) {
                     if (world.slurm.hooks &&
                         (to == world.connection_ || to == any_plugin))
                         world.slurm.receive(m);
                 },
                 *world.access,
                 world.group_apis,
                 world.scripts_dir,
                 world.srun,
                 look(world),
                 {},
                 [&world] { return world.turn_clock_ += world.decision_time; }},
                mailbox)
    {
    }

    static std::function<GroupLooks::Number(GroupApi)> look(World &world)
    {
        if (!world.can_look)
            return {};
        return [&world](GroupApi api) { return world.group_looks.ask(api); };
    }
};

World::World()
{
    set_log_level(LogLevel::error); // faults are what these tests are about
    conf.default_user = "daemon";
    nodes = {make_node("kn1"), make_node("kn2")};
    Namespace ns;
    ns.name = "default";
    namespaces = {ns};
    // Where these are not what a test is about.
    conf.taint_nodes = false;
    conf.node_interval = std::chrono::seconds(3600);
    kube.on_node_patch = [this](const NodePatch &patch) {
        return patch_node(patch);
    };
    kube.on_group_patch = [this](const GroupPatch &patch) {
        return patch_group(patch);
    };
    kube.on_change([this](const Pod &pod, bool deleted) {
        if (agent_ && watch_pods)
            agent_->mailbox.push(Changed<Pod>{pod, deleted});
    });
    kube.on_claim = [this](const ResourceClaim &claim, bool deleted) {
        if (agent_ && watch_pods)
            agent_->mailbox.push(Changed<ResourceClaim>{claim, deleted});
    };
}

World::~World() = default;

void World::start_agent()
{
    start_agent_unlisted();
    send_lists();
    settle();
}

void World::start_agent_unlisted()
{
    kill_agent();
    agent_ = std::make_unique<Agent>(*this);
    connect_socket();
}

void World::kill_agent()
{
    agent_.reset();
    slurm.hooks = {};
}

void World::send_lists()
{
    for (const std::string &name : conf.scheduler_names) {
        Listed<Pod> pods{name, {}};
        for (const Pod &pod : kube.pods())
            if (pod.scheduler_name == name)
                pods.objects.push_back(pod);
        agent_->mailbox.push(std::move(pods));
    }
    for (GroupApi api : group_apis)
        agent_->mailbox.push(list_groups(api));
    agent_->mailbox.push(Listed<ForeignPod>{"", foreign});
    agent_->mailbox.push(Listed<Node>{"", nodes});
    agent_->mailbox.push(Listed<Namespace>{"", namespaces});
    if (device_classes.empty())
        return; // or its test lists them
    agent_->mailbox.push(Listed<ResourceSlice>{"", resource_slices});
    agent_->mailbox.push(Listed<DeviceClass>{"", device_classes});
    agent_->mailbox.push(Listed<ResourceClaim>{"", kube.claims()});
}

void World::restart_without_jobs()
{
    kill_agent();
    while (!slurm.jobs().empty())
        slurm.purge(slurm.jobs().begin()->first);
    auto classes = std::exchange(device_classes, {});
    start_agent();
    device_classes = std::move(classes);
}

void World::list_devices()
{
    deliver(Listed<ResourceSlice>{"", resource_slices});
    deliver(Listed<DeviceClass>{"", device_classes});
}

void World::list_claims()
{
    deliver(Listed<ResourceClaim>{"", kube.claims()});
}

void World::connect_socket()
{
    connection_++;
    slurm.connect([this](HookMessage m) {
        if (agent_)
            agent_->mailbox.push(HookReceived{std::move(m), connection_});
    });
}

void World::cut_socket()
{
    slurm.hooks = {};
    agent_->mailbox.push(HookLost{});
}

bool World::one_step()
{
    if (auto submit = calls_hang ? std::nullopt : take(agent_->submits))
        (*submit)(kube);
    else if (auto task = calls_hang ? std::nullopt : take(agent_->actions))
        (*task)(kube);
    else if (auto report = take(agent_->reports))
        (*report)(kube);
    else if (auto message = take(agent_->mailbox))
        agent_->owner.handle(std::move(*message), now);
    else
        return false;
    return true;
}

void World::step(int steps)
{
    while (steps-- > 0 && one_step()) {
    }
}

void World::settle()
{
    int steps = 0;
    // Gangs that were woken in one turn are decided in the next.
    for (int idle = 0; idle < 3 || next_deadline() <= now; idle++) {
        REQUIRE(++steps < too_many); // else its loop would never rest
        while (one_step()) {
            REQUIRE(++steps < too_many);
            idle = 0;
        }
        agent_->owner.handle(Ask{[] {}}, now);
        most_turns = std::max(most_turns, idle + 1);
    }
}

void World::pass(std::chrono::seconds time)
{
    for (; time.count() > 0; time -= std::chrono::seconds(1)) {
        now += std::chrono::seconds(1);
        slurm.schedule(); // as slurmctld does by itself
        slurm.backfill();
        settle();
    }
}

void World::deliver(Message message)
{
    post(std::move(message));
    settle();
}

void World::post(Message message)
{
    agent_->mailbox.push(std::move(message));
}

Clock::time_point World::next_deadline() const
{
    return agent_->owner.next_deadline();
}

void World::run_agent_until_stop()
{
    agent_->mailbox.push(Stop{});
    agent_->owner.run();
}

Pod World::create(const std::string &name)
{
    return create(make_pod(name));
}

Pod World::create(Pod pod)
{
    Pod made = kube.put(std::move(pod));
    if (agent_)
        settle();
    return made;
}

void World::run_containers(const std::string &name)
{
    kube.change({"default", name}, [](Pod &p) {
        p.phase = "Running";
        p.started = true;
    });
    if (agent_)
        settle();
}

void World::end_containers(const std::string &name, int exit_code)
{
    kube.change({"default", name}, [&](Pod &p) {
        p.phase = exit_code == 0 ? "Succeeded" : "Failed";
        p.containers = {{"main", true, exit_code, 0,
                         exit_code == 0 ? "Completed" : "Error"}};
    });
    if (agent_)
        settle();
}

void World::delete_as_user(const std::string &name)
{
    kube.change({"default", name}, [](Pod &p) { p.deleting = true; });
    if (!pod(name)->bound())
        kube.erase({"default", name});
    if (agent_)
        settle();
}

void World::finish_deletion(const std::string &name)
{
    kube.erase({"default", name});
    if (agent_)
        settle();
}

void World::change_node(const std::string &name,
                        const std::function<void(Node &)> &edit)
{
    for (Node &node : nodes)
        if (node.name == name) {
            edit(node);
            node.resource_version =
                std::to_string(std::stoi(node.resource_version) + 1);
            if (agent_)
                agent_->mailbox.push(Changed<Node>{node, false});
        }
}

const Node &World::node(const std::string &name) const
{
    auto found = std::ranges::find(nodes, name, &Node::name);
    REQUIRE(found != nodes.end());
    return *found;
}

Result<> World::patch_node(const NodePatch &patch)
{
    const Node &now_there = node(patch.node);
    if (now_there.uid != patch.uid ||
        now_there.resource_version != patch.resource_version)
        return fail(Code::conflict, "the Node has changed");
    change_node(patch.node, [&](Node &n) {
        if (patch.unschedulable)
            n.unschedulable = *patch.unschedulable;
        if (patch.taints)
            n.taints = *patch.taints;
        for (const auto &[name, value] : patch.annotations)
            if (value)
                n.annotations[name] = *value;
            else
                n.annotations.erase(name);
    });
    return {};
}

GroupsListed World::list_groups(GroupApi api) const
{
    GroupsListed listed{api, std::nullopt};
    if (apis_there.contains(api))
        listed.specs = groups;
    if (listed.specs)
        std::erase_if(*listed.specs,
                      [&](const GroupSpec &group) { return group.api != api; });
    return listed;
}

GroupLooks::Number World::answer_look(GroupApi api)
{
    GroupLooks::Number number = group_looks.begin(api, {}, {});
    answer_look(api, number);
    return number;
}

void World::answer_look(GroupApi api, GroupLooks::Number number)
{
    GroupsListed listed = list_groups(api);
    listed.look = number;
    deliver(std::move(listed));
}

void World::put_group(GroupSpec group)
{
    std::erase_if(groups, [&](const GroupSpec &known) {
        return known.key == group.key && known.api == group.api;
    });
    groups.push_back(group);
    if (agent_)
        deliver(Changed<GroupSpec>{std::move(group), false});
}

void World::delete_group(const std::string &name)
{
    auto found = std::ranges::find_if(
        groups, [&](const GroupSpec &group) { return group.key.name == name; });
    REQUIRE(found != groups.end());
    GroupSpec group = *found;
    groups.erase(found);
    deliver(Changed<GroupSpec>{std::move(group), true});
}

std::string World::scheduled_of(const std::string &name) const
{
    for (const GroupSpec &group : groups)
        if (group.key.name == name)
            return group.scheduled.status + " " + group.scheduled.reason + " " +
                   group.scheduled.message;
    return "no such group";
}

Result<> World::patch_group(const GroupPatch &patch)
{
    for (GroupSpec &group : groups) {
        if (group.key != patch.key || group.api != patch.api)
            continue;
        if (group.uid != patch.uid ||
            group.resource_version != patch.resource_version)
            return fail(Code::conflict, "the PodGroup has changed");
        if (patch.api == GroupApi::plugins) {
            group.status = patch.status;
            group.status_writer = StatusWriter::us;
        } else {
            group.scheduled = patch.condition;
        }
        group.resource_version += "1";
        if (agent_)
            agent_->mailbox.push(Changed<GroupSpec>{group, false});
        return {};
    }
    return fail(Code::not_found, "no PodGroup");
}

std::optional<Pod> World::pod(const std::string &name) const
{
    return kube.find({"default", name});
}

std::string World::node_of(const std::string &name) const
{
    auto there = pod(name);
    return there ? there->node_name : std::string();
}

std::string World::said_on(const std::string &name) const
{
    auto there = pod(name);
    return there ? there->scheduled.message : std::string();
}

const FakeSlurm::Record &World::only_job() const
{
    REQUIRE(slurm.jobs().size() == 1);
    return slurm.jobs().begin()->second;
}

void World::check_runs_once() const
{
    REQUIRE(slurm.living().size() == 1);
    const Job job = slurm.living()[0].job;
    CHECK(kube.count("bind") == 1);
    CHECK(node_of("web") != "");
    CHECK(pod("web")->annotation(names::sluid_annotation) ==
          job.ref.sluid.str());
    CHECK(job.state == JobState::running);
}

std::size_t World::allocation_count() const
{
    std::size_t count = 0;
    for (const auto &[id, record] : slurm.jobs())
        count += is_allocated(record.job.state);
    return count;
}

std::string World::ask(const std::function<std::string(Owner &)> &question)
{
    std::string answer;
    Owner &owner = agent_->owner;
    owner.handle(Ask{[&] { answer = question(owner); }}, now);
    return answer;
}

std::string World::status()
{
    return ask([](Owner &owner) { return owner.status_json(); });
}

Result<Story> World::story(const StoryKey &key)
{
    Result<Story> answer = fail(Code::busy, "not asked");
    Owner &owner = agent_->owner;
    owner.handle(Ask{[&] { answer = owner.story(key); }}, now);
    return answer;
}

std::string World::metrics()
{
    return ask([](Owner &owner) {
        return owner.metrics(MetricFormat::prometheus).finish();
    });
}

} // namespace bridge
