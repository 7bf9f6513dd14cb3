// SPDX-License-Identifier: GPL-2.0-or-later
// Slurm, Kubernetes and an agent between them, all in one thread and with a
// clock that the test moves: whole flows without a socket and without a sleep.
#pragma once

#include "agent/owner/owner.h"
#include "tests/unit/fakes/fake_kube.h"
#include "tests/unit/fakes/fake_slurm.h"
#include "tests/unit/fakes/make.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace bridge {

class World {
  public:
    FakeSlurm slurm;
    FakeKube kube;
    Conf conf;
    Clock::time_point now = Clock::now();

    World();
    ~World();

    // A new agent over the same Slurm and Kubernetes; what the old one had not
    // done yet is lost, as when it is killed.
    void start_agent();
    // The same, before the first lists have come.
    void start_agent_unlisted();
    void send_lists();
    void kill_agent();
    // A new agent, after slurmctld has lost all jobs; nobody has listed devices
    // and claims yet.
    void restart_without_jobs();
    void list_devices();
    void list_claims();

    // Until nobody has anything left to do, without the clock moving.
    void settle();
    // At most that many steps: tasks, messages. To stop in the middle.
    void step(int steps);
    // Moves the clock, a second at a time, and settles at each.
    void pass(std::chrono::seconds time);

    void cut_socket();
    void connect_socket();

    // --- the usual moves of users and kubelets, with all that follows

    Pod create(const std::string &name);
    Pod create(Pod pod);
    void run_containers(const std::string &name);
    void end_containers(const std::string &name, int exit_code);
    void delete_as_user(const std::string &name); // as kubectl delete does
    void finish_deletion(const std::string &name);

    // A write to a Node, as a kubelet's or an administrator's, and all that
    // follows.
    void change_node(const std::string &name,
                     const std::function<void(Node &)> &edit);
    const Node &node(const std::string &name) const;

    std::optional<Pod> pod(const std::string &name) const;
    std::string node_of(const std::string &name) const;
    std::string said_on(const std::string &name) const; // the condition
    // The only job, which must be the only one.
    const FakeSlurm::Record &only_job() const;
    std::size_t allocation_count() const; // jobs that hold resources
    // One job lives and runs, bound the Pod "web", and did so once.
    void check_runs_once() const;

    // What the agent counts and says, as slurmk8s asks it.
    std::string status();
    std::string metrics();
    Result<Story> story(const StoryKey &key);
    void deliver(Message message); // and all that follows
    void post(Message message);    // for a later step
    Clock::time_point next_deadline() const;
    void run_agent_until_stop(); // its own loop, on the real clock

    // Of settle(): how many turns there were in a row, with nothing to hear.
    int most_turns = 0;
    // What each decision takes, as a turn measures it.
    Clock::duration decision_time{};
    bool watch_pods = true;  // false: the watch is silent
    bool calls_hang = false; // true: no worker comes back with an answer
    std::vector<Node> nodes;
    std::vector<ForeignPod> foreign;
    std::vector<Namespace> namespaces;
    std::string scripts_dir; // of batch jobs
    std::string srun;        // the path of that program
    const Access *access = &Access::unlimited();
    // Which APIs of groups the agent watches, which of them the server has, and
    // their objects.
    std::set<GroupApi> group_apis;
    std::set<GroupApi> apis_there;
    std::vector<GroupSpec> groups;
    // A user's write, or the API server's, and all that follows.
    void put_group(GroupSpec group);
    void delete_group(const std::string &name);
    // With can_look, the agent can request a look for an API. answer_look()
    // answers as it is now, and returns how many were requested so far.
    bool can_look = false;
    GroupLooks group_looks;
    GroupLooks::Number answer_look(GroupApi api);
    void answer_look(GroupApi api, GroupLooks::Number number);
    std::string scheduled_of(const std::string &name) const; // the condition
    std::vector<ResourceSlice> resource_slices;
    std::vector<DeviceClass> device_classes;

  private:
    struct Agent;

    bool one_step();
    Result<> patch_node(const NodePatch &patch);
    Result<> patch_group(const GroupPatch &patch);
    GroupsListed list_groups(GroupApi api) const;
    std::string ask(const std::function<std::string(Owner &)> &question);

    std::unique_ptr<Agent> agent_;
    Clock::time_point turn_clock_{};
    PluginConnection connection_ = 0; // of the fake plugin, the newest
};

} // namespace bridge
