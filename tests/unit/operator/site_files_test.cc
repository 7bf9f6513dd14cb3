// SPDX-License-Identifier: GPL-2.0-or-later
#include "operator/decide/configuration.h"
#include "operator/decide/site_files.h"
#include "tests/unit/operator/make_cluster.h"

#include <doctest/doctest.h>

using namespace bridge;
using namespace bridge::slinky;

namespace {

constexpr char references[] = R"(, "extraConf": "KillWait=47",
    "configFileRefs": [{"name": "files"}],
    "prologScriptRefs": [{"name": "prologs"}],
    "epilogSlurmctldScriptRefs": [{"name": "ends"}])";

void give(Known &known, const std::string &name, const TextMap &texts,
          const TextMap &binaries = {})
{
    FileMap made;
    made.meta.key = {"ns", name};
    made.texts = texts;
    made.binaries = binaries;
    known.file_maps[made.meta.key] = made;
    known.file_namespaces.insert("ns");
}

Known complete()
{
    Known known = with(inside(references, held));
    give(known, "files", {{"gres.conf", "A"}, {"cgroup.conf", "B"}},
         {{"blob", "AAEC"}});
    give(known, "prologs", {{"10-a.sh", "#!a"}, {"20-b.sh", "#!b"}});
    give(known, "ends", {{"end.sh", "#!c"}});
    return known;
}

Configuration configuration_in(const Known &known)
{
    return configuration_of(known, known.controllers.begin()->second);
}

} // namespace

TEST_CASE("files by reference are copied, scripts are named in slurm.conf")
{
    Configuration made = configuration_in(complete());
    CHECK(made.problem == "");
    CHECK(made.texts.at("gres.conf") == "A");
    CHECK(made.texts.at("cgroup.conf") == "B"); // the site's wins
    CHECK(made.binaries.at("blob") == "AAEC");
    CHECK(made.texts.at("20-b.sh") == "#!b");
    CHECK(made.texts.at("config-hash") == made.hash + "\n");
    // slurmctld sends a script without directory to slurmd.
    CHECK(made.texts.at("slurm.conf")
              .ends_with("\n# Scripts\nProlog=10-a.sh\nProlog=20-b.sh\n"
                         "EpilogSlurmctld=/etc/slurm/end.sh\n"
                         "\n# extraConf\nKillWait=47\n"));
}

TEST_CASE("the keys of an identity provider are a file that slurm.conf names")
{
    Known known = with(inside(R"(, "jwksKeyRef": {"name": "ids",
        "key": "keys"})",
                              held));
    CHECK(names_files(known.controllers.begin()->second));
    known.file_namespaces.insert("ns");
    CHECK(configuration_in(known).problem.contains("jwksKeyRef"));
    give(known, "ids", {{"other", "{}"}});
    CHECK(configuration_in(known).problem.contains("\"keys\""));
    give(known, "ids", {{"keys", R"({"keys":[]})"}});
    Configuration made = configuration_in(known);
    CHECK(made.problem == "");
    CHECK(made.texts.at("jwks.json") == R"({"keys":[]})");
    CHECK(made.texts.at("slurm.conf")
              .contains("\nAuthAltParameters=jwt_key=/etc/slurm/jwt.key,"
                        "jwks=/etc/slurm/jwks.json\n"));
    give(known, "ids", {{"keys", R"({"keys":[{}]})"}});
    CHECK(configuration_in(known).hash != made.hash);
    CHECK_FALSE(
        configuration_in(complete()).texts.at("slurm.conf").contains("jwks"));
}

TEST_CASE("a change of any file is another configuration")
{
    Known known = complete();
    std::string before = configuration_in(known).hash;
    CHECK(configuration_in(known).hash == before);
    known.file_maps[{"ns", "ends"}].texts["end.sh"] = "#!d";
    CHECK(configuration_in(known).hash != before);
    known = complete();
    known.file_maps[{"ns", "files"}].binaries["blob"] = "AAED";
    CHECK(configuration_in(known).hash != before);
}

TEST_CASE("the ConfigMaps are awaited; one that is missing is told")
{
    Known known = complete();
    known.file_namespaces.clear();
    CHECK_FALSE(configuration_in(known).known);
    auto steps = decided(known);
    CHECK_FALSE(whats(steps).contains("trial"));
    CHECK(said(steps, "ConfigValid") == "");

    known = complete();
    settle(known);
    known.file_maps.erase({"ns", "prologs"});
    steps = decided(known);
    CHECK(whats(steps) == "");
    CHECK(said(steps, "ConfigValid") ==
          "False: There is no ConfigMap \"prologs\" in this namespace, which "
          "prologScriptRefs names. slurmctld goes on with the one before.");
}

TEST_CASE("two files of one name: a script is refused, of files the last wins")
{
    Known known = complete();
    give(known, "ends", {{"10-a.sh", "#!c"}});
    CHECK(configuration_in(known).problem ==
          "The script 10-a.sh of ConfigMap ends (epilogSlurmctldScriptRefs) "
          "has the name of another file.");
    give(known, "ends", {{"slurm.conf", "#!c"}});
    CHECK(configuration_in(known).problem.contains("The script slurm.conf"));

    known = complete();
    known.controllers.begin()->second =
        inside(R"(, "configFileRefs": [{"name": "a"}, {"name": "b"}])", held);
    give(known, "a", {{"x", "text"}, {"config-hash", "forged"}});
    give(known, "b", {}, {{"x", "AA=="}});
    Configuration made = configuration_in(known);
    CHECK_FALSE(made.texts.contains("x"));
    CHECK(made.binaries.at("x") == "AA==");
    CHECK(made.texts.at("config-hash") == made.hash + "\n");
}

TEST_CASE("who names no ConfigMap waits for none")
{
    CHECK_FALSE(names_files(inside()));
    CHECK_FALSE(names_files(inside(R"(, "configFileRefs": null)")));
    CHECK(configuration_in(with(inside({}, held))).known);
}
