// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/workers/conf_keeper.h"
#include "tests/unit/fakes/fake_slurm.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <string>

using namespace bridge;
using namespace std::chrono_literals;

namespace {

using Time = std::chrono::sys_seconds;

class FakePod : public WorkerKube {
  public:
    Result<> patch(const WorkerPod &pod, const WorkerPatch &patch) override
    {
        if (away)
            return fail(Code::busy, "away");
        CHECK(pod.uid == "u");
        for (const auto &[type, condition] : patch.conditions)
            said = type + " " + condition.status + " " + condition.message;
        writes++;
        return {};
    }

    bool away = false;
    int writes = 0;
    std::string said;
};

// A volume as a kubelet makes it: links to the files of one directory.
struct MountedConf {
    TemporaryDirectory directory;
    std::filesystem::path path = directory.path;

    void replace(const std::string &hash)
    {
        auto data = path / ("..of_" + hash);
        std::filesystem::create_directory(data);
        std::ofstream(data / "config-hash") << hash << "\n";
        std::filesystem::create_symlink(data.filename(), path / "..data_tmp");
        std::filesystem::rename(path / "..data_tmp", path / "..data");
        if (!std::filesystem::exists(path / "config-hash"))
            std::filesystem::create_symlink("..data/config-hash",
                                            path / "config-hash");
    }
    std::string file() const { return (path / "config-hash").string(); }
    Time replaced() const { return read_conf_mark(file())->replaced; }
};

struct Bed {
    MountedConf volume;
    FakeSlurm slurm;
    FakePod pod;
    ConfKeeper keeper;

    Bed() : keeper(slurm, pod, volume.file(), own_pod())
    {
        volume.replace("h1");
    }
    static WorkerPod own_pod()
    {
        WorkerPod made;
        made.key = {"slurm", "slurm-controller-0"};
        made.uid = "u";
        return made;
    }
    // slurmctld's start, in seconds after the files were replaced.
    void starts(int seconds)
    {
        slurm.started = static_cast<std::uint64_t>(
            (volume.replaced() + std::chrono::seconds(seconds))
                .time_since_epoch()
                .count());
    }
    Result<> turn(int seconds)
    {
        return keeper.turn(volume.replaced() + std::chrono::seconds(seconds));
    }
    std::size_t times() { return slurm.count("reconfigure"); }
};

} // namespace

TEST_CASE("what slurmctld has read follows from when it was started")
{
    Time replaced{1000s};
    CHECK(plan_conf(replaced, 1001, replaced) == ConfStep::none);
    CHECK(plan_conf(replaced, 1000, replaced + 1s) == ConfStep::wait);
    CHECK(plan_conf(replaced, 1000, replaced + 2s) == ConfStep::reconfigure);
    CHECK(plan_conf(replaced, 0, replaced + 1s) == ConfStep::wait);
}

TEST_CASE("the time of a volume is that of its exchange, not of the file")
{
    MountedConf volume;
    CHECK_FALSE(read_conf_mark(volume.file()));
    volume.replace("h1");
    CHECK(read_conf_mark(volume.file())->hash == "h1");
    std::ofstream(volume.path / "plain") << "word more\n";
    CHECK(read_conf_mark((volume.path / "plain").string())->hash == "word");
}

TEST_CASE("a slurmctld that was started later has read it")
{
    Bed bed;
    bed.starts(1);
    CHECK(bed.turn(5));
    CHECK(bed.times() == 0);
    CHECK(bed.pod.said == "slurmk8s/Configured True h1");
    CHECK(bed.turn(6));
    CHECK(bed.pod.writes == 1);
    CHECK(bed.slurm.count("load_cluster") == 1);
}

TEST_CASE("files that are replaced: reconfigured once, told before and after")
{
    Bed bed;
    bed.starts(1);
    CHECK(bed.turn(5));
    bed.volume.replace("h2");
    bed.starts(-5);
    CHECK(bed.turn(1));
    CHECK(bed.times() == 0); // in the same second nobody knows
    CHECK(bed.turn(2));
    CHECK(bed.times() == 1);
    CHECK(bed.pod.said == "slurmk8s/Configured False h2");
    CHECK(bed.turn(3));
    CHECK(bed.times() == 1);
    bed.starts(3);
    CHECK(bed.turn(4));
    CHECK(bed.pod.said == "slurmk8s/Configured True h2");
    CHECK(bed.times() == 1);
}

TEST_CASE("a slurmctld that did not reconfigure is asked again")
{
    Bed bed;
    bed.starts(-5);
    CHECK(bed.turn(2));
    CHECK(bed.turn(11));
    CHECK(bed.times() == 1);
    CHECK(bed.turn(12));
    CHECK(bed.times() == 2);
}

TEST_CASE("files that come back before slurmctld has read the others")
{
    Bed bed;
    bed.starts(1);
    CHECK(bed.turn(5));
    bed.volume.replace("h2");
    bed.starts(-5);
    CHECK(bed.turn(2));
    CHECK(bed.times() == 1);
    std::filesystem::remove_all(bed.volume.path / "..of_h1");
    bed.volume.replace("h1");
    bed.starts(0); // it was started with h2 in the same second
    CHECK(bed.turn(12));
    CHECK(bed.times() == 2);
}

TEST_CASE("nobody answers: it is tried again")
{
    Bed bed;
    bed.starts(1);
    bed.slurm.fail_next("load_cluster", Code::busy);
    CHECK_FALSE(bed.turn(2));
    bed.pod.away = true;
    CHECK_FALSE(bed.turn(3));
    bed.pod.away = false;
    CHECK(bed.turn(4));
    CHECK(bed.pod.said == "slurmk8s/Configured True h1");
}

TEST_CASE("without the key nothing happens")
{
    FakeSlurm slurm;
    FakePod pod;
    ConfKeeper keeper(slurm, pod, "", {});
    CHECK(keeper.turn(Time{5s}));
    CHECK(slurm.count("load_cluster") == 0);
}
