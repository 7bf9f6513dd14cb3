// SPDX-License-Identifier: GPL-2.0-or-later
#include "common/contract/batch_template.h"

#include "common/base/json.h"
#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <fstream>

using namespace bridge;

namespace {

std::string in_spec(const std::string &members)
{
    return R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{}])" +
           (members.empty() ? "" : "," + members) + "}}";
}

std::string in_container(const std::string &members)
{
    return R"({"kind":"Pod","spec":{"volumes":[{"name":"a","emptyDir":{}}],
        "containers":[{"volumeMounts":[{"name":"a","mountPath":"/a"}],)" +
           members + "}]}}";
}

std::string in_metadata(const std::string &members)
{
    return R"({"kind":"Pod","metadata":{)" + members +
           R"(},"spec":{"containers":[{}]}})";
}

std::string with_volume(const std::string &volume, const std::string &mount)
{
    return R"({"kind":"Pod","spec":{"volumes":[)" + volume +
           R"(],"containers":[{"volumeMounts":[)" + mount + "]}]}}";
}

// What is said against it; empty: nothing.
std::string unfit_reason(const std::string &text)
{
    auto base = parse_batch_template(text);
    if (base)
        return {};
    CHECK(base.error().code == Code::rejected);
    return base.error().message;
}

} // namespace

TEST_CASE("our own template is one")
{
    CHECK(unfit_reason(default_batch_template().pod).empty());
}

TEST_CASE("a template may say what a site has")
{
    for (const std::string &text :
         {in_spec(""), in_spec(R"("tolerations":[{"key":"a","operator":"Exists",
                                  "effect":"NoSchedule"}])"),
          in_spec(R"("imagePullSecrets":[{"name":"r"}],"dnsPolicy":"Default",
                     "serviceAccountName":"jobs","hostAliases":[],
                     "terminationGracePeriodSeconds":60,
                     "enableServiceLinks":false)"),
          in_spec(R"("securityContext":{"seccompProfile":{"type":"Localhost",
                     "localhostProfile":"a"}})"),
          in_container(R"("name":"job","imagePullPolicy":"Always",
                          "env":[{"name":"A","value":"b"}],
                          "securityContext":{"readOnlyRootFilesystem":true})"),
          in_metadata(R"("labels":{"app.kubernetes.io/name":"a","site":"b"},
                         "annotations":{"example.com/x":"y"})"),
          with_volume(R"({"name":"home","hostPath":{"path":"/home"}})",
                      R"({"name":"home","mountPath":"/home","readOnly":true,
                          "mountPropagation":"HostToContainer"})"),
          with_volume(R"({"name":"c",
                          "persistentVolumeClaim":{"claimName":"d"}})",
                      R"({"name":"c","mountPath":"/c","subPath":"x"})")}) {
        CAPTURE(text);
        CHECK(unfit_reason(text).empty());
    }
}

TEST_CASE("what it may not say is refused, with the field")
{
    struct {
        std::string text;
        const char *field;
    } rows[] = {
        {in_spec(R"("nodeName":"n")"), "spec.nodeName: "},
        {in_spec(R"("nodeSelector":{"a":"b"})"), "spec.nodeSelector: "},
        {in_spec(R"("affinity":{})"), "spec.affinity: "},
        {in_spec(R"("hostNetwork":false)"), "spec.hostNetwork: "},
        {in_spec(R"("hostPID":true)"), "spec.hostPID: "},
        {in_spec(R"("shareProcessNamespace":true)"),
         "spec.shareProcessNamespace: "},
        {in_spec(R"("automountServiceAccountToken":true)"),
         "spec.automountServiceAccountToken: "},
        {in_spec(R"("schedulerName":"x")"), "spec.schedulerName: "},
        {in_spec(R"("restartPolicy":"Always")"), "spec.restartPolicy: "},
        {in_spec(R"("initContainers":[{}])"), "spec.initContainers: "},
        {in_spec(R"("activeDeadlineSeconds":5)"),
         "spec.activeDeadlineSeconds: "},
        {in_spec(R"("resources":{})"), "spec.resources: "},
        {in_spec(R"("tolerance":[])"), "spec.tolerance: "},
        {in_spec(R"("tolerations":{})"), "spec.tolerations: must be an array"},
        {in_spec(R"("tolerations":[1])"), "spec.tolerations[0]: "},
        {in_spec(R"("tolerations":[{"keys":"a"}])"),
         "spec.tolerations[0].keys: "},
        {in_spec(R"("terminationGracePeriodSeconds":0)"),
         "spec.terminationGracePeriodSeconds: "},
        {in_spec(R"("terminationGracePeriodSeconds":3601)"),
         "spec.terminationGracePeriodSeconds: "},
        {in_spec(R"("terminationGracePeriodSeconds":1.5)"),
         "spec.terminationGracePeriodSeconds: "},
        {in_spec(R"("securityContext":{"runAsUser":0})"),
         "spec.securityContext.runAsUser: "},
        {in_spec(R"("securityContext":{"fsGroup":5})"),
         "spec.securityContext.fsGroup: "},
        {in_spec(R"("securityContext":{"supplementalGroups":[0]})"),
         "spec.securityContext.supplementalGroups: "},
        {in_spec(R"("securityContext":{"seccompProfile":
                    {"type":"Unconfined"}})"),
         "spec.securityContext.seccompProfile.type: "},
        {in_spec(R"("nodeName":"a","nodeName":"b")"),
         "spec.nodeName: occurs twice"},
        {in_container(R"("image":"evil")"), "spec.containers[0].image: "},
        {in_container(R"("command":["x"])"), "spec.containers[0].command: "},
        {in_container(R"("resources":{"limits":{"cpu":"99"}})"),
         "spec.containers[0].resources: "},
        {in_container(R"("lifecycle":{})"), "spec.containers[0].lifecycle: "},
        {in_container(R"("securityContext":{"privileged":true})"),
         "spec.containers[0].securityContext.privileged: "},
        {in_container(R"("securityContext":{"capabilities":{}})"),
         "spec.containers[0].securityContext.capabilities: "},
        {in_container(R"("securityContext":{"runAsUser":5})"),
         "spec.containers[0].securityContext.runAsUser: "},
        {in_container(R"("env":[{"name":"SLURM_JOB_ID","value":"1"}])"),
         "spec.containers[0].env[0].name: "},
        {in_metadata(R"("name":"x")"), "metadata.name: "},
        {in_metadata(R"("namespace":"x")"), "metadata.namespace: "},
        {in_metadata(R"("labels":{"slurmk8s/gang":"x"})"),
         "metadata.labels.slurmk8s/gang: "},
        {in_metadata(R"("labels":{"a\"b":"c"})"), "metadata.labels.a\"b: "},
        {in_metadata(R"("labels":{"a":1})"), "metadata.labels.a: "},
        {in_metadata(R"("annotations":{"slurmk8s/sbatch":"x"})"),
         "metadata.annotations.slurmk8s/sbatch: "},
        {in_metadata(
             R"("annotations":{"slurmjob.slinky.slurm.net/user-id":"0"})"),
         "metadata.annotations.slurmjob.slinky.slurm.net/user-id: "},
        {in_metadata(R"("labels":{"scheduling.x-k8s.io/pod-group":"x"})"),
         "metadata.labels.scheduling.x-k8s.io/pod-group: "},
        {in_metadata(R"("annotations":{"slurmk8s/choosable-volumes":"x"})"),
         "metadata.annotations.slurmk8s/choosable-volumes: \"x\""},
        {with_volume(R"({"name":"a","emptyDir":{}},{"name":"a","emptyDir":{}})",
                     R"({"name":"a","mountPath":"/a"})"),
         "spec.volumes[1].name: "},
        {with_volume(R"({"name":"slurmk8s-x","emptyDir":{}})", ""),
         "spec.volumes[0].name: "},
        {with_volume(R"({"name":"a","emptyDir":{},"hostPath":{}})", ""),
         "spec.volumes[0]: "},
        {with_volume(R"({"name":"a","hostPath":{"path":"/"}})", ""),
         "spec.volumes[0].hostPath.path: "},
        {with_volume(R"({"name":"a","hostPath":{"path":"/a/../etc"}})", ""),
         "spec.volumes[0].hostPath.path: "},
        {with_volume(R"({"name":"a","projected":{"sources":[
                         {"serviceAccountToken":{"path":"t"}}]}})",
                     R"({"name":"a","mountPath":"/a"})"),
         "spec.volumes[0].projected.sources[0].serviceAccountToken: "},
        {with_volume(R"({"name":"a","emptyDir":{}})", ""),
         "spec.volumes: \"a\" is not mounted"},
        {with_volume("", R"({"name":"b","mountPath":"/b"})"),
         "spec.containers[0].volumeMounts[0].name: "},
        {with_volume(R"({"name":"a","emptyDir":{}})",
                     R"({"name":"a","mountPath":"/slurmk8s/x"})"),
         "spec.containers[0].volumeMounts[0].mountPath: "},
        {with_volume(R"({"name":"a","emptyDir":{}})",
                     R"({"name":"a","mountPath":"relative"})"),
         "spec.containers[0].volumeMounts[0].mountPath: "},
        {with_volume(R"({"name":"a","emptyDir":{}})",
                     R"({"name":"a","mountPath":"/a",
                         "mountPropagation":"Bidirectional"})"),
         "spec.containers[0].volumeMounts[0].mountPropagation: "},
        {R"({"kind":"Job","spec":{"containers":[{}]}})", "kind: must be Pod"},
        {R"({"kind":"Pod"})", "spec.containers: must be one container"},
        {R"({"kind":"Pod","spec":{"containers":[{},{}]}})",
         "spec.containers: must be one container"},
        {R"({"kind":"Pod","spec":{"containers":[1]}})",
         "spec.containers[0]: must be an object"},
        {R"({"kind":"Pod","spec":5})", "spec: must be an object"},
        {R"({"kind":"Pod","status":{},"spec":{"containers":[{}]}})",
         "status: "},
        {"[]", "is not a JSON object"},
        {"kind: Pod\n", "must be a Pod in JSON"},
        {"", "must be a Pod in JSON"},
    };
    for (const auto &row : rows) {
        CAPTURE(row.text);
        CHECK(unfit_reason(row.text).starts_with(row.field));
    }
}

TEST_CASE("deep nesting and large files are refused before they are looked at")
{
    std::string deep = R"({"kind":"Pod","spec":)" + std::string(20000, '[') +
                       std::string(20000, ']') + "}";
    CHECK(unfit_reason(deep).contains("nested too deeply"));
    CHECK(unfit_reason(std::string(70000, ' ')).contains("65536"));
}

TEST_CASE("the error of a file has its name")
{
    TemporaryDirectory directory;
    std::string path = directory.path + "/pod.json";

    CHECK(load_batch_template(path).error().code == Code::not_found);
    std::ofstream(path) << in_spec(R"("hostNetwork":true)");

    auto base = load_batch_template(path);
    REQUIRE_FALSE(base);
    CHECK(base.error().message.starts_with(path + ": spec.hostNetwork: "));
}
