// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/kube/request_kind.h"

#include <doctest/doctest.h>

using namespace bridge;

TEST_CASE("requests are named as RBAC names them")
{
    struct Case {
        const char *method;
        const char *path;
        const char *verb;
        const char *resource;
    };
    for (const Case &one : {
             Case{"GET", "/api/v1/pods?limit=500", "list", "pods"},
             Case{"GET", "/api/v1/pods?watch=true&resourceVersion=7", "watch",
                  "pods"},
             Case{"GET", "/api/v1/namespaces/a/pods/b", "get", "pods"},
             Case{"GET", "/api/v1/namespaces/a/pods", "list", "pods"},
             Case{"GET", "/api/v1/namespaces/a", "get", "namespaces"},
             Case{"GET", "/api/v1/namespaces", "list", "namespaces"},
             Case{"GET", "/api/v1/nodes/n1", "get", "nodes"},
             Case{"POST", "/api/v1/namespaces/a/pods/b/binding", "create",
                  "pods/binding"},
             Case{"POST", "/apis/events.k8s.io/v1/namespaces/a/events",
                  "create", "events"},
             Case{"PATCH", "/api/v1/namespaces/a/pods/b/status", "patch",
                  "pods/status"},
             Case{"PUT",
                  "/apis/coordination.k8s.io/v1/namespaces/s/leases/slurmk8sd",
                  "update", "leases"},
             Case{"DELETE", "/api/v1/namespaces/a/pods/b", "delete", "pods"},
             Case{"DELETE", "/api/v1/namespaces/a/pods", "deletecollection",
                  "pods"},
             Case{"GET", "/version", "get", "other"},
             Case{"GET", "/apis", "get", "other"},
             Case{"GET", "/apis/apps/v1", "get", "other"},
             Case{"GET", "", "get", "other"},
         }) {
        CAPTURE(one.path);
        CHECK(request_kind(one.method, one.path) ==
              RequestKind{one.verb, one.resource});
    }
}
