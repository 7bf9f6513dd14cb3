// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/decide/end_status.h"
#include "tests/unit/fakes/make.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

Pod failed_pod(std::vector<ContainerEnd> containers)
{
    Pod pod = with_end(make_pod("web"), "Failed");
    pod.containers = std::move(containers);
    return pod;
}

} // namespace

TEST_CASE("the end of a Pod is a wait status as Slurm has it")
{
    struct Row {
        std::vector<ContainerEnd> containers;
        int status;
        const char *reason;
    };
    const Row rows[] = {
        {{{"c", true, 7, 0, "Error"}}, 7 << 8, ""},
        {{{"c", true, 1, 0, ""}}, 1 << 8, ""},
        {{{"c", true, 255, 0, "Error"}}, 255 << 8, ""},
        {{{"c", true, 137, 0, "Error"}}, 137 << 8, ""}, // 128+n stays a code
        {{{"c", true, 143, 0, "Error"}}, 143 << 8, ""},
        {{{"c", true, 137, 9, "Error"}}, 9, ""},
        {{{"c", true, 0, 15, "Error"}}, 15, ""},
        {{{"c", true, 137, 0, "OOMKilled"}}, 253, "OOMKilled"},
        {{{"c", true, 128, 0, "ContainerCannotRun"}},
         128 << 8,
         "ContainerCannotRun"},
        {{{"a", true, 0, 0, "Completed"}, {"b", true, 3, 0, "Error"}},
         3 << 8,
         ""},
        {{{"a", true, 4, 0, "Error"}, {"b", true, 3, 0, "Error"}}, 4 << 8, ""},
        {{{"a", false, 0, 0, ""}, {"b", true, 3, 0, "Error"}}, 3 << 8, ""},
        {{{"c", true, 256, 0, "Error"}}, 255 << 8, ""},
        {{{"c", true, -1, 0, "Error"}}, 1 << 8, ""},
        {{{"c", false, 0, 0, ""}}, 1 << 8, ""},
        {{}, 1 << 8, ""}, // evicted, or refused by its kubelet
    };
    for (const Row &row : rows) {
        End end = end_of(make_gang(failed_pod(row.containers)));
        CAPTURE(row.status);
        CHECK(end.status == row.status);
        CHECK(end.reason == row.reason);
    }
}

TEST_CASE("a batch job is out of memory whatever its script exited with")
{
    Pod pod = failed_pod({{"job", true, 0, 0, "OOMKilled"}});
    pod.phase = "Succeeded";
    Gang gang = make_gang(pod);
    CHECK(end_of(gang) == End{}); // as Kubernetes has it
    gang.batch = true;

    CHECK(end_of(gang) == End{253, "OOMKilled"});

    pod.containers[0].terminated = false;
    pod.containers.push_back({"beside", true, 0, 0, "Completed"});
    gang = make_gang(pod);
    gang.batch = true;
    CHECK(end_of(gang) == End{});
}

TEST_CASE("a Pod that failed is never completed as a success")
{
    for (int signal : {1, 64, 127, 128, 256, 512, INT32_MAX, -1, -128})
        for (int code : {0, 1, 256, -1, INT32_MIN, INT32_MAX}) {
            CAPTURE(signal);
            CAPTURE(code);
            Pod pod = failed_pod({{"c", true, code, signal, ""}});
            End end = end_of(make_gang(pod));
            CHECK(end.status > 0);
            CHECK(end.status <= 255 << 8);
            CHECK((end.status & 0x7f) != 0x7f); // it is no stop either
        }
}

TEST_CASE("a kubelet's reason says why the job failed")
{
    Pod evicted = failed_pod({});
    evicted.reason = "Evicted";
    evicted.message = "The node was low on resource: memory.";
    Pod refused = failed_pod({});
    refused.reason = "OutOfcpu";

    CHECK(end_of(make_gang(evicted)) ==
          End{1 << 8, "Evicted: The node was low on resource: memory."});
    CHECK(end_of(make_gang(refused)) == End{1 << 8, "OutOfcpu"});
}

TEST_CASE("the first failing Pod tells how a gang ended")
{
    Gang gang = make_gang(with_end(make_pod("web-0"), "Succeeded"));
    CHECK(end_of(gang) == End{});

    Pod second = failed_pod({{"c", true, 2, 0, "Error"}});
    Pod third = failed_pod({{"c", true, 3, 0, "Error"}});
    gang.pods.push_back(share(second));
    gang.pods.push_back(share(third));
    CHECK(end_of(gang).status == 2 << 8);
}
