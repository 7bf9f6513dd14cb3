// SPDX-License-Identifier: GPL-2.0-or-later
// Queries to slurmdbd through libslurm.
#pragma once

#include <memory>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurmdb.h>
}

namespace bridge {

// A connection for a single query.
class SlurmDatabase {
  public:
    SlurmDatabase() : connection_(slurmdb_connection_get(nullptr)) {}
    ~SlurmDatabase()
    {
        if (connection_)
            slurmdb_connection_close(&connection_);
    }
    SlurmDatabase(const SlurmDatabase &) = delete;
    SlurmDatabase &operator=(const SlurmDatabase &) = delete;

    void *get() const { return connection_; } // null: slurmdbd does not answer

  private:
    void *connection_;
};

struct FreeSlurmList {
    void operator()(list_t *list) const { slurm_list_destroy(list); }
};
using SlurmList = std::unique_ptr<list_t, FreeSlurmList>;

template <class Record, class Visit> void each_in(list_t *list, Visit visit)
{
    std::unique_ptr<list_itr_t, decltype(&slurm_list_iterator_destroy)> next(
        slurm_list_iterator_create(list), slurm_list_iterator_destroy);
    while (auto *record = static_cast<Record *>(slurm_list_next(next.get())))
        visit(*record);
}

} // namespace bridge
