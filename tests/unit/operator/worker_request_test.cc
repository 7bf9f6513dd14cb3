// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/worker_request.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("a request to a slurmd Pod is read as it is written")
{
    WorkerRequest drain{3, true};
    WorkerRequest keep{4, false};
    CHECK(drain.text() == "drain 3");
    CHECK(read_worker_request(drain.text()) == drain);
    CHECK(read_worker_request(keep.text()) == keep);
}

TEST_CASE("what is no request is none")
{
    for (const char *text :
         {"", "drain", "drain ", "drain 0", "drain -1", "drain 3 ", " drain 3",
          "Drain 3", "drain 3x", "drain 18446744073709551616", "3", "keep"})
        CHECK_MESSAGE(!read_worker_request(text), text);
}

TEST_CASE("an answer is read as it is written, and nothing else is one")
{
    DrainAnswer answer{"u-1", 3, 1800000000, 5};
    CHECK(answer.text() == "uid=u-1 request=3 slurmctld=1800000000 read=5");
    CHECK(read_drain_answer(answer.text()) == answer);
    for (const char *text : {"", "uid=u-1 request=3 slurmctld=1",
                             "uid= request=3 slurmctld=1 read=5",
                             "uid=u-1 request= slurmctld=1 read=5",
                             "uid=u-1 request=3 slurmctld=1 read=5 x",
                             "request=3 uid=u-1 slurmctld=1 read=5",
                             "uid=u-1 request=3 slurmctld=-1 read=5",
                             "uid=u-1  request=3 slurmctld=1 read=5",
                             "uid=u-1 request=3 slurmctld=1 read=",
                             "uidx=u request=3 slurmctld=1 read=5"})
        CHECK_MESSAGE(!read_drain_answer(text), text);
}
