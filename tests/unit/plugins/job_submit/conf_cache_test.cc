// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/conf_cache.h"

#include "tests/unit/fakes/temporary_directory.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>

using namespace bridge;

namespace {

struct Site {
    TemporaryDirectory directory;
    std::string path = directory.path + "/k8s.conf";
    std::string pod = directory.path + "/pod.json";
    ConfCache cache;

    // As an editor does it: another file takes the name.
    void write(const std::string &name, const std::string &text) const
    {
        std::ofstream(name + ".new") << text;
        std::filesystem::rename(name + ".new", name);
    }
    void write_template(const std::string &volume) const
    {
        write(pod, R"({"kind":"Pod","metadata":{"annotations":{
            "slurmk8s/choosable-volumes":")" +
                       volume + R"("}},"spec":{
            "volumes":[{"name":")" +
                       volume + R"(","emptyDir":{}}],
            "containers":[{"volumeMounts":[{"name":")" +
                       volume + R"(","mountPath":"/v"}]}]}})");
    }
};

} // namespace

TEST_CASE("k8s.conf is read again when it has changed, and only then")
{
    Site site;
    site.write(site.path, "SbatchNamespace=one\n");
    auto first = site.cache.get(site.path);
    REQUIRE(first.conf);
    CHECK(first.conf->batch_namespace == "one");
    CHECK(first.news.empty());

    CHECK(site.cache.get(site.path).conf == first.conf);
    site.write(site.path, "SbatchNamespace=two\n");

    CHECK(site.cache.get(site.path).conf->batch_namespace == "two");
    CHECK(first.conf->batch_namespace == "one"); // whoever has it keeps it
}

TEST_CASE("a mistake is said once, and what was read before stays")
{
    Site site;
    CHECK_FALSE(site.cache.get(site.path).conf);
    site.write(site.path, "Nonsense=1\n");
    auto bad = site.cache.get(site.path);
    CHECK_FALSE(bad.conf);
    CHECK(bad.news.contains("Nonsense"));
    site.write(site.path, "SbatchNamespace=one\n");
    auto good = site.cache.get(site.path);
    REQUIRE(good.conf);

    for (bool gone : {false, true}) {
        CAPTURE(gone);
        if (gone)
            std::filesystem::remove(site.path);
        else
            site.write(site.path, "Nonsense=2\n");
        bad = site.cache.get(site.path);
        CHECK(bad.conf == good.conf);
        CHECK_FALSE(bad.news.empty());
        bad = site.cache.get(site.path);
        CHECK(bad.conf == good.conf);
        CHECK(bad.news.empty());
    }
}

TEST_CASE("the template is read again when it has changed, or comes at last")
{
    Site site;
    site.write(site.path,
               "SbatchNamespace=one\nSbatchTemplate=" + site.pod + "\n");
    auto none = site.cache.get(site.path);
    CHECK_FALSE(none.conf);
    CHECK(none.news.contains(site.pod));

    site.write_template("data");
    auto first = site.cache.get(site.path);
    REQUIRE(first.conf);
    CHECK(first.conf->batch_pod.choosable == std::vector<std::string>{"data"});
    CHECK(site.cache.get(site.path).conf == first.conf);
    site.write_template("more");
    CHECK(site.cache.get(site.path).conf->batch_pod.choosable ==
          std::vector<std::string>{"more"});
    site.write(site.pod, "{");
    auto bad = site.cache.get(site.path);
    REQUIRE(bad.conf);
    CHECK(bad.conf->batch_pod.choosable == std::vector<std::string>{"more"});
    CHECK(bad.news.contains("pod.json"));
}
