// SPDX-License-Identifier: GPL-2.0-or-later
#include "plugins/job_submit/batch_wish.h"
#include "tests/unit/flows/batch_desc.h"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace bridge;

namespace {

auto wish_in(std::vector<std::string> texts)
{
    std::vector<char *> entries{nullptr};
    for (std::string &entry : texts)
        entries.push_back(entry.data());
    return batch_wish(entries);
}

} // namespace

TEST_CASE("only a job with spank/k8s's entry is a batch job for Kubernetes")
{
    CHECK(wish_in({}).value() == std::nullopt);
    CHECK(wish_in({"A=1", "XK8S_IMAGE=a"}).value() == std::nullopt);
    // Slurm's own copy of the option, and the mark of the agent's jobs
    CHECK(wish_in({"_SLURM_SPANK_OPTION_k8s_k8s_image=a"}).value() ==
          std::nullopt);
    CHECK(wish_in({"K8S_GANG=x"}).value() == std::nullopt);
    CHECK(wish_in({"A=1", "K8S_IMAGE=busybox:1"}).value() ==
          BatchWish{"busybox:1"});
    // --k8s-no-burst, which asks for no Pod
    CHECK(wish_in({"K8S_NO_BURST=yes"}).value() == std::nullopt);
    CHECK(wish_in({"K8S_NO_BURST=yes", "K8S_IMAGE=a"}).value() ==
          BatchWish{"a"});
}

TEST_CASE("each option comes as it was given, in order")
{
    auto wish = wish_in({"K8S_ENV_0=A=b=c", "K8S_IMAGE=a", "K8S_ENV_1=B=",
                         "K8S_VOLUME_0=data,home", "K8S_VOLUME_1=home,x",
                         "K8S_SERVICE_ACCOUNT=spark", "K8S_NAMESPACE=jobs"});

    CHECK(wish.value() ==
          BatchWish{
              "a", {"A=b=c", "B="}, {"data", "home", "x"}, "spark", "jobs"});
    CHECK(wish_in({"K8S_VOLUME_0=data"}).value()->image.empty());
}

TEST_CASE("nobody gives an option without end")
{
    std::vector<std::string> entries;
    for (int i = 0; i < 1000; i++)
        entries.push_back("K8S_ENV_" + std::to_string(i) + "=A=b");
    CHECK_FALSE(wish_in(entries));

    std::string names;
    for (int i = 0; i < 101; i++)
        names += (i ? ",v" : "v") + std::to_string(i);
    CHECK_FALSE(wish_in({"K8S_VOLUME_0=" + names}));
    names.resize(names.rfind(','));
    CHECK(wish_in({"K8S_VOLUME_0=" + names, "K8S_VOLUME_1=" + names}));
}

TEST_CASE("a partition's batch jobs have its image, and others do not")
{
    Conf burst = conf();
    burst.default_images = {{"burst", "a:1"}, {"more", "a:1"}, {"gpu", "b"}};
    auto image = [&](const char *partition, std::optional<BatchWish> wish =
                                                std::nullopt) -> std::string {
        Desc desc = batch_job();
        std::string name = partition;
        desc.partition = name.empty() ? nullptr : name.data();
        auto now = with_default_image(wish, desc, burst, "gpu");
        if (!now)
            return "refused";
        return *now ? (*now)->image : "none";
    };

    CHECK(image("burst") == "a:1");
    CHECK(image("burst,more") == "a:1");
    CHECK(image("") == "b"); // the cluster's default partition
    CHECK(image("native") == "none");
    CHECK(image("burst,gpu") == "refused");
    CHECK(image("burst,native") == "refused");
    CHECK(image("burst", BatchWish{"mine"}) == "mine");
    CHECK(image("burst", BatchWish{.image = "", .service_account = "x"}) ==
          "a:1");
    CHECK(image("native", BatchWish{.image = "", .service_account = "x"})
              .empty());
    Desc interactive = batch_job();
    interactive.script = nullptr;
    CHECK(with_default_image({}, interactive, burst, "gpu").value() ==
          std::nullopt);
}

TEST_CASE("what is not understood is refused at submission, with the reason")
{
    for (std::vector<std::string> entries :
         {std::vector<std::string>{"K8S_IMAGE="},
          {"K8S_IMAGE"},
          {"K8S_IMAGE=a b"},
          {"K8S_IMAGE=a", "K8S_IMAGE=b"},
          {"K8S_IMAGE=a", "K8S_COLOUR=red"},
          {"K8S_TEMPLATE=x"},
          {"K8S_IMAGE_0=a"},
          {"K8S_ENV=A=b"},
          {"K8S_ENV_=A=b"},
          {"K8S_ENV_x=A=b"},
          {"K8S_ENV_0=A"},
          {"K8S_ENV_0=SLURM_JOB_ID=1"},
          {"K8S_ENV_0=A=b", "K8S_ENV_0=A=c"},
          {"K8S_VOLUME_0=a b"},
          {"K8S_SERVICE_ACCOUNT=A"},
          {"K8S_NAMESPACE=../a"}}) {
        CAPTURE(entries.front());
        auto wish = wish_in(entries);
        REQUIRE_FALSE(wish);
        CHECK_FALSE(wish.error().empty());
    }
}
