// SPDX-License-Identifier: GPL-2.0-or-later
// Pods whose claims have CPU devices: how many CPUs their jobs have, and which
// devices the claims get.
#include "tests/unit/fakes/world.h"
#include "tests/unit/flows/cpus.h"

#include <doctest/doctest.h>
#include <set>

using namespace bridge;
using std::chrono::seconds;

namespace {

// Nodes kn1 and kn2 of 16 CPUs, each of which is a device.
struct CpuWorld : World {
    explicit CpuWorld(const std::vector<std::string> &with_devices = {"kn1",
                                                                      "kn2"})
    {
        conf.device_gres = {{"dra.cpu", cpu_gres, ""}};
        conf.resize_delay = seconds(1);
        conf.node_interval = seconds(1);
        conf.resync_interval = seconds(10);
        device_classes = {make_cpu_class()};
        nodes = {make_node("kn1"), make_node("kn2")};
        for (const std::string &name : with_devices)
            resource_slices.push_back(make_cpu_slice(name));
        slurm.says_cpus = true; // which CPUs they are only a look tells
    }
    void begin()
    {
        start_agent();
        pass(seconds(5)); // until the nodes have their feature
    }

    ResourceClaim claim(const std::string &name = "c") const
    {
        for (const ResourceClaim &one : kube.claims())
            if (one.key.name == name)
                return one;
        return {};
    }
    void add_claim(const std::string &name, const std::string &spec)
    {
        kube.put_claim(claim_text(name, spec));
        settle();
    }
    std::string devices_of(const std::string &name = "c") const
    {
        return bridge::devices_of(claim(name));
    }
    // No device is in two claims.
    void check_disjoint() const
    {
        std::set<DeviceId> all;
        for (const ResourceClaim &one : kube.claims())
            for (const DeviceId &device : one.devices)
                CHECK(all.insert(device).second);
    }
};

// The same nodes, of which each half of the CPUs is a device that is given in
// shares.
struct GroupWorld : CpuWorld {
    GroupWorld() : CpuWorld(std::vector<std::string>{})
    {
        conf.device_gres.clear();
        conf.capacity_gres = {
            {"dra.cpu", "cpu", cpu_gres, *Quantity::parse("1")}};
        for (const char *name : {"kn1", "kn2"})
            resource_slices.push_back(make_group_slice(name));
        begin();
    }
    void add_share(const std::string &name, int count)
    {
        add_claim(name, R"("requests":[)" +
                            cpus("cpu", 1,
                                 R"(,"capacity":{"requests":{"dra.cpu/cpu":")" +
                                     std::to_string(count) + R"("}})") +
                            "]");
    }
};

// Its one container requests as much, and names the claim.
Pod with_claim(const std::string &name, const std::string &claim = "c",
               MilliCpu cpu = {1000})
{
    Pod pod = make_pod(name, cpu);
    pod.resource_claims = {{"cpu", claim, "", false, false}};
    pod.cpus.containers = {{ContainerCpus::Kind::app, cpu, {{"cpu", ""}}}};
    return pod;
}

// Status of a claim that has a CPU of kn1, for these consumers.
std::string taken_by(const std::string &consumers)
{
    return R"({"allocation":{"devices":{"results":[{"request":"cpu",)"
           R"("driver":"dra.cpu","pool":"kn1","device":"cpudev000"}]}},)"
           R"("reservedFor":[)" +
           consumers + "]}";
}

constexpr char somebody[] = R"({"resource":"pods","name":"x","uid":"x"})";

Pod member_with_claim(const std::string &name, const std::string &claim)
{
    Pod pod = make_member(name, "2");
    pod.resource_claims = {{"cpu", claim, "", false, false}};
    pod.cpus.containers = {{ContainerCpus::Kind::app, {1000}, {{"cpu", ""}}}};
    return pod;
}

// On the one node a Pod without a claim has all CPUs; what comes now has a job
// that waits.
struct BusyCpuWorld : CpuWorld {
    BusyCpuWorld() : CpuWorld({"kn1"})
    {
        nodes = {make_node("kn1")};
        begin();
        create(make_pod("big", {16000}));
        run_containers("big");
        for (const char *name : {"c", "d"})
            add_claim(name, request_cpus(4));
    }
    void somebody_takes(const std::string &name)
    {
        kube.put_claim(
            claim_text(name, request_cpus(4), "", taken_by(somebody)));
        settle();
    }
    // The claim of job 2 is taken while that waits, and then it gets its node.
    void check_given_back(const std::string &claim)
    {
        REQUIRE(slurm.job(2).job.state == JobState::pending);
        somebody_takes(claim);
        pass(seconds(30));
        CHECK(slurm.job(2).job.state ==
              JobState::pending); // it keeps its place

        end_containers("big", 0);
        pass(seconds(2));
        CHECK(slurm.job(2).job.state == JobState::cancelled);
        CHECK(allocation_count() == 0);
        pass(seconds(120));
        CHECK(slurm.count("submit") == 2); // no other is asked for meanwhile

        add_claim(claim, request_cpus(4)); // as when that Pod has ended
        pass(seconds(5));
        CHECK(slurm.count("submit") == 3);
        CHECK(slurm.job(3).job.state == JobState::running);
    }
};

} // namespace

TEST_CASE("a Pod's job has a CPU for each CPU device of its claim")
{
    CpuWorld world;
    world.begin();
    world.add_claim("c", request_cpus(3));

    world.create(with_claim("web"));

    CHECK(world.only_job().asked.cpus_per_task == 3);
    CHECK(world.only_job().asked.gres_per_task == "");
    CHECK(world.only_job().asked.features.contains("k8s-cpus"));
    CHECK(world.node_of("web") == "kn1");
    CHECK(world.devices_of() == "kn1/cpudev000 kn1/cpudev001 kn1/cpudev002");
    CHECK(world.claim().is_reserved_for("uid-web"));
    CHECK(world.claim().has_finalizer);
    world.check_runs_once();
}

TEST_CASE("a Pod that requests more than its claims has gets that")
{
    CpuWorld world;
    world.begin();
    world.add_claim("c", request_cpus(2));
    world.create(with_claim("web", "c", {4500}));

    CHECK(world.only_job().asked.cpus_per_task == 5);
    CHECK(world.devices_of() == "kn1/cpudev000 kn1/cpudev001");
}

TEST_CASE("two Pods get different CPUs, those of their jobs")
{
    CpuWorld world;
    world.begin();
    world.add_claim("c", request_cpus(2));
    world.add_claim("d", request_cpus(2));
    world.create(with_claim("web"));
    world.create(make_pod("plain", {3000}));
    world.create(with_claim("next", "d"));

    CHECK(world.devices_of("c") == "kn1/cpudev000 kn1/cpudev001");
    CHECK(world.devices_of("d") == "kn1/cpudev005 kn1/cpudev006");
    CHECK_FALSE(world.slurm.job(2).asked.features.contains("k8s-cpus"));
}

TEST_CASE("only nodes with CPU devices get such jobs")
{
    CpuWorld world({"kn2"});
    world.begin();
    world.add_claim("c", request_cpus(1));
    world.create(with_claim("web"));

    CHECK(world.node_of("web") == "kn2");
    CHECK(world.slurm.count("submit") == 1);
}

TEST_CASE("without CPU devices a Pod waits, and goes on when they come")
{
    CpuWorld world({});
    world.begin();
    world.add_claim("c", request_cpus(1));
    world.create(with_claim("web"));

    CHECK(world.said_on("web").contains("no external node in Slurm"));
    CHECK(world.slurm.count("submit") == 0);

    world.deliver(Changed<ResourceSlice>{make_cpu_slice("kn2"), false});
    world.pass(seconds(5));

    CHECK(world.node_of("web") == "kn2");
    CHECK(world.slurm.count("submit") == 1); // no feature that no node has
}

TEST_CASE("claims get no CPUs of a node with a slurmd")
{
    CpuWorld world({"kn1"});
    world.slurm.add_real_node("kn1");
    world.begin();
    world.add_claim("c", request_cpus(1));
    world.create(with_claim("web"));

    CHECK(world.said_on("web").contains("slurmd"));
    CHECK(world.slurm.count("submit") == 0);
    CHECK(world.status().contains("has CPU devices and a slurmd"));
}

TEST_CASE("a CPU that another claim has is swapped, and no job is given back")
{
    CpuWorld world;
    world.begin();
    world.kube.put_claim(claim_text("theirs", request_cpus(1), "",
                                    R"({"allocation":{"devices":{"results":[{
        "request":"cpu","driver":"dra.cpu","pool":"kn1",
        "device":"cpudev000"}]}}})"));
    world.add_claim("c", request_cpus(2));
    world.create(with_claim("web"));

    CHECK(world.devices_of() == "kn1/cpudev001 kn1/cpudev015");
    CHECK(world.slurm.count("submit") == 1);
    world.check_disjoint();
}

TEST_CASE("CPUs of one NUMA node, whichever Slurm chose")
{
    CpuWorld world;
    world.begin();
    world.create(make_pod("plain", {6000}));
    world.add_claim("c", request_cpus(4) + same_numa());
    world.create(with_claim("web"));

    CHECK(world.devices_of() ==
          "kn1/cpudev006 kn1/cpudev007 kn1/cpudev005 kn1/cpudev004");
    CHECK(world.slurm.count("submit") == 2);
}

TEST_CASE("a Pod whose job is lost keeps its CPUs, and others swap theirs")
{
    CpuWorld world({"kn1"});
    world.nodes = {make_node("kn1")};
    world.begin();
    world.add_claim("c", request_cpus(3));
    world.create(with_claim("web"));
    world.run_containers("web");
    std::string before = world.devices_of();

    world.slurm.purge(1);
    world.create(make_pod("plain", {2000})); // has the first CPUs now
    world.pass(seconds(30));
    world.add_claim("d", request_cpus(3));
    world.create(with_claim("next", "d"));
    world.pass(seconds(5));

    CHECK(world.devices_of() == before);
    CHECK(world.node_of("next") == "kn1");
    CHECK(world.claim("d").devices.size() == 3);
    world.check_disjoint();
    for (JobId id = 2; id <= 4; id++)
        if (world.slurm.job(id).asked.tag.uid == "uid-web")
            CHECK(world.slurm.job(id).asked.cpus_per_task == 3);
}

TEST_CASE("so it does when the agent starts, and claims are listed late")
{
    CpuWorld world;
    world.begin();
    world.add_claim("c", request_cpus(3));
    world.create(with_claim("web"));
    world.run_containers("web");

    world.restart_without_jobs();
    world.pass(seconds(10));
    CHECK(world.slurm.count("submit") == 1);
    world.list_devices();
    world.list_claims();
    world.pass(seconds(10));

    CHECK(world.only_job().asked.cpus_per_task == 3);
    CHECK(world.only_job().job.state == JobState::running);
}

TEST_CASE("the agent is killed between any two writes: each claim its own CPUs")
{
    for (int steps = 1; steps < 60; steps++) {
        CAPTURE(steps);
        CpuWorld world;
        world.begin();
        for (const char *name : {"c", "d"})
            world.add_claim(name, request_cpus(2));
        world.kube.put(with_claim("web"));
        world.kube.put(with_claim("next", "d"));
        world.step(steps);
        world.start_agent();
        world.pass(seconds(5));

        CHECK(world.node_of("web") != "");
        CHECK(world.node_of("next") != "");
        CHECK(world.claim("c").devices.size() == 2);
        CHECK(world.claim("d").devices.size() == 2);
        world.check_disjoint();
        CHECK(world.allocation_count() == 2);
    }
}

TEST_CASE("the Pods of a gang split their job's CPUs on each node")
{
    CpuWorld world;
    world.begin();
    for (int i = 0; i < 4; i++) {
        std::string name = "c-" + std::to_string(i);
        world.kube.put_claim(claim_text(name, request_cpus(6)));
        Pod pod = make_member("t-" + std::to_string(i), "4");
        pod.resource_claims = {{"cpu", name, "", false, false}};
        pod.cpus.containers = {
            {ContainerCpus::Kind::app, {1000}, {{"cpu", ""}}}};
        world.kube.put(pod);
    }
    world.settle();

    CHECK(world.only_job().asked.cpus_per_task == 6);
    CHECK(world.devices_of("c-0").starts_with("kn1/cpudev000 "));
    CHECK(world.devices_of("c-1").starts_with("kn1/cpudev006 "));
    CHECK(world.devices_of("c-2").starts_with("kn2/cpudev000 "));
    CHECK(world.devices_of("c-3").starts_with("kn2/cpudev006 "));
    for (int i = 0; i < 4; i++)
        CHECK(world.claim("c-" + std::to_string(i)).devices.size() == 6);
    world.check_disjoint();
}

TEST_CASE("a claim for more CPUs than any node has devices: Slurm says it")
{
    CpuWorld world;
    world.begin();
    world.add_claim("c", request_cpus(20));
    world.create(with_claim("web"));

    CHECK(world.node_of("web") == "");
    CHECK_FALSE(world.claim().allocated);
}

TEST_CASE("shares of groups of CPUs are CPUs of the job, too")
{
    GroupWorld world;
    world.add_share("c", 6);
    world.create(with_claim("web"));

    CHECK(world.only_job().asked.cpus_per_task == 6);
    CHECK(world.only_job().asked.gres_per_task == "");
    CHECK(world.only_job().asked.features.contains("k8s-cpus"));
    CHECK(world.devices_of() == "kn1/cpudevnuma000");
    CHECK(world.slurm.created("kn1")->gres == "");

    world.add_share("d", 6);
    world.create(with_claim("next", "d"));
    CHECK(world.devices_of("d") == "kn1/cpudevnuma001");

    world.add_share("e", 6); // four are left there, two in each group
    world.create(with_claim("last", "e"));
    CHECK(world.devices_of("e") == "kn2/cpudevnuma000");
    CHECK(world.slurm.count("submit") == 3);
}

TEST_CASE("a Pod whose job is lost gets as many CPUs as its shares have")
{
    GroupWorld world;
    world.add_share("c", 5);
    world.create(with_claim("web"));
    world.run_containers("web");

    world.slurm.purge(1);
    world.pass(seconds(30));

    CHECK(world.slurm.job(2).asked.cpus_per_task == 5);
    CHECK(world.slurm.job(2).asked.gres_per_task == "");
    CHECK(world.slurm.job(2).job.state == JobState::running);
}

TEST_CASE(
    "two Pods with one claim: one after the other has its CPUs, and its job "
    "counts them")
{
    CpuWorld world;
    world.begin();
    world.add_claim("c", request_cpus(4));
    world.create(with_claim("web"));
    world.create(with_claim("next"));
    world.pass(seconds(5));

    CHECK(world.node_of("web") == "kn1");
    CHECK(world.node_of("next") == "");
    CHECK(world.said_on("next") == "The ResourceClaim c has CPUs, which only "
                                   "one Pod at a time can use, and "
                                   "another Pod has them.");
    CHECK(world.slurm.count("submit") == 1);

    world.run_containers("web");
    world.end_containers("web", 0);
    world.add_claim("c", request_cpus(4)); // as when its last Pod has ended
    world.pass(seconds(5));

    CHECK(world.node_of("next") != "");
    CHECK(world.claim().reserved_for.size() == 1);
    for (JobId id = 1; id <= 2; id++)
        CHECK(world.slurm.job(id).asked.cpus_per_task == 4);
}

TEST_CASE(
    "a job that waited while another Pod took its claim is given back as soon "
    "as it has a node, until the claim is free")
{
    BusyCpuWorld world;
    world.create(with_claim("web"));
    world.check_given_back("c");

    CHECK(world.node_of("web") == "kn1");
    CHECK(world.claim().is_reserved_for("uid-web"));
}

TEST_CASE("so is a gang's, where one of its claims is taken")
{
    BusyCpuWorld world;
    world.kube.put(member_with_claim("t-0", "c"));
    world.create(member_with_claim("t-1", "d"));
    world.check_given_back("d");

    CHECK(world.node_of("t-0") == "kn1");
    CHECK(world.node_of("t-1") == "kn1");
    world.check_disjoint();
}

TEST_CASE("a Pod whose claim is taken while its job waits says so")
{
    BusyCpuWorld world;
    world.create(with_claim("web"));
    world.somebody_takes("c");
    world.end_containers("big", 0);
    world.pass(seconds(2));

    CHECK(world.said_on("web") == "The ResourceClaim c has CPUs, which only "
                                  "one Pod at a time can use, and another "
                                  "Pod has them.");
}

TEST_CASE(
    "two Pods of a gang that name one claim with CPUs are refused, whoever "
    "has it")
{
    CpuWorld world;
    world.begin();
    std::string status = "{}";
    SUBCASE("nobody") {}
    SUBCASE("it has its devices, and no consumer")
    {
        status = taken_by("");
    }
    SUBCASE("another Pod")
    {
        status = taken_by(somebody);
    }
    world.kube.put_claim(claim_text("c", request_cpus(1), "", status));
    world.kube.put(member_with_claim("t-0", "c"));
    world.create(member_with_claim("t-1", "c"));
    world.pass(seconds(5));

    CHECK(world.said_on("t-0").contains(
        "Pods t-0 and t-1 share the ResourceClaim c, but only one Pod at a "
        "time can have its CPUs"));
    CHECK(world.said_on("t-1") == world.said_on("t-0"));
    CHECK(world.slurm.count("submit") == 0);
}

TEST_CASE("firstAvailable, and all CPUs of a node")
{
    CpuWorld world;
    world.begin();
    auto choice = [](const std::string &name, const std::string &how) {
        return R"({"name":")" + name + R"(","deviceClassName":"dra.cpu",)" +
               how + "}";
    };
    world.add_claim("c", R"("requests":[{"name":"cpu","firstAvailable":[)" +
                             choice("many", R"("count":20)") + "," +
                             choice("few", R"("count":2)") + "]}]");
    world.create(with_claim("web"));
    CHECK(world.slurm.job(1).asked.cpus_per_task == 2);
    CHECK(world.devices_of("c") == "kn1/cpudev000 kn1/cpudev001");

    world.add_claim("all", R"("requests":[{"name":"cpu","exactly":{)"
                           R"("deviceClassName":"dra.cpu",)"
                           R"("allocationMode":"All"}}])");
    world.create(with_claim("next", "all"));
    CHECK(world.slurm.job(2).asked.cpus_per_task == 16);
    CHECK(world.node_of("next") == "kn2");
    CHECK(world.claim("all").devices.size() == 16);
    world.check_disjoint();
}

TEST_CASE("after a restart one job asks for the CPUs of a shared claim still")
{
    CpuWorld world;
    world.begin();
    for (const char *name : {"full-1", "full-2"})
        world.create(make_pod(name, MilliCpu{16000}));
    world.add_claim("c", R"("requests":[)" + cpus("cpu", 2) + "]");
    Pod asks = with_claim("asks"), follows = with_claim("follows");
    asks.uid = "uid-z";
    follows.uid = "uid-a"; // which is decided first
    world.create(asks);
    world.pass(seconds(3));
    world.create(follows);
    world.pass(seconds(3));
    REQUIRE(world.slurm.jobs().size() == 3);

    world.start_agent();
    world.pass(seconds(5));

    CHECK(world.slurm.jobs().size() == 3);
    CHECK(world.said_on("follows") == "The ResourceClaim c is about to get its "
                                      "devices for another Pod.");
}
