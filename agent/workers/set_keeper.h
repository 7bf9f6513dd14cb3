// SPDX-License-Identifier: GPL-2.0-or-later
// The NodeSets of the namespaces in WorkerNamespace that follow Slurm's queue.
// Each turn slurmctld gets the nodes of the workers that there may be
// (potential.h), and each NodeSet the number of replicas that the waiting jobs
// need (demand.h). Nothing is remembered that a restart would miss: since when
// a worker is idle is in slurmctld's record of its node. If slurmctld does not
// answer, nothing is changed. Used by one thread; calls to slurmctld block, and
// writes of replicas do not.
#pragma once

#include "agent/workers/demand.h"
#include "agent/workers/keeper.h"
#include "agent/workers/potential.h"
#include "agent/workers/worker_set.h"
#include "common/base/backoff.h"
#include "common/base/mailbox.h"
#include "common/slurm/api.h"
#include "common/slurm/queue.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace bridge {

// How often partitions are read while jobs wait, and the queue anew even if
// slurmctld says that no job has changed.
inline constexpr std::chrono::seconds queue_refresh_interval{10};

struct SetScale {
    ObjectKey key;
    std::string uid;
    std::uint32_t replicas = 0;
};

// Sets the replicas. Tests replace it by a fake.
class SetScaler {
  public:
    virtual ~SetScaler() = default;

    // Does not wait. SetKeeper::scaled() hears what has become of it.
    virtual void begin(SetScale scale) = 0;
};

class SetKeeper {
  public:
    // All must outlive this. controller: as for WorkerKeeper.
    SetKeeper(Slurm &slurm, SlurmQueue &slurm_queue, SetScaler &scaler,
              WorkerKeeper &workers, std::string controller = {})
        : slurm_(slurm), slurm_queue_(slurm_queue), scaler_(scaler),
          workers_(workers), controller_(std::move(controller))
    {
    }

    // All NodeSets of this namespace.
    void list(const std::string &ns, std::vector<WorkerSet> sets);
    void change(WorkerSet set);
    void remove(const ObjectKey &key);

    // A write that was begun is over.
    void scaled(const SetScale &scale, const Result<> &done,
                Clock::time_point now);

    // Does what is due. Call it after WorkerKeeper::turn(). Returns an error if
    // slurmctld does not answer, or refuses something; a later turn tries it
    // again. wall: the time of slurmctld's clock.
    Result<> turn(Clock::time_point now, std::chrono::sys_seconds wall);

    // Why replicas cannot be set, or "": it is tried again with pauses.
    std::string failure() const;

  private:
    // What is being written, or rests after a failure.
    struct Writing {
        bool under_way = false;
        std::string error;
        Clock::time_point rests_until{};
        Backoff backoff{std::chrono::seconds(1), std::chrono::seconds(15)};
    };

    bool is_of_others(const WorkerSet &set) const;
    std::vector<const WorkerSet *> followers() const;
    std::set<std::string> known_namespaces() const;
    Result<> keep_records(const std::vector<const WorkerSet *> &sets,
                          Clock::time_point now);
    Result<> remove_records(const std::vector<std::string> &names);
    Result<> create_records(const WorkerSet &set,
                            const std::vector<std::string> &names);
    Result<> read_queue(Clock::time_point now);
    Result<std::vector<SetFacts>>
    find_facts(const std::vector<const WorkerSet *> &sets,
               std::chrono::sys_seconds wall);
    SetFacts facts_of(const WorkerSet &set,
                      std::chrono::sys_seconds wall) const;
    void count_worker(SetFacts &facts, const WorkerPod &pod,
                      std::chrono::sys_seconds wall) const;
    std::map<std::string, std::uint32_t>
    idle_elsewhere(const std::vector<const WorkerSet *> &sets) const;
    void scale(const WorkerSet &set, std::uint32_t wanted,
               Clock::time_point now);

    Slurm &slurm_;
    SlurmQueue &slurm_queue_;
    SetScaler &scaler_;
    WorkerKeeper &workers_;
    const std::string controller_;
    std::map<ObjectKey, WorkerSet> sets_;
    std::set<std::string> listed_; // namespaces
    // There may be records without a NodeSet, or of other parameters.
    bool records_left_ = false;
    Clock::time_point records_due_{};
    std::optional<JobQueue> queue_; // nothing: never read
    Clock::time_point queue_due_{};
    Clock::time_point queue_old_{}; // when it is read whole again
    IdleTimes idle_since_;          // may be old
    std::vector<Partition> partitions_;
    Clock::time_point partitions_due_{};
    std::map<ObjectKey, Writing> writing_;
    std::minstd_rand random_{std::random_device{}()};
};

} // namespace bridge
