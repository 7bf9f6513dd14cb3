// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/daemon/access_watch.h"

#include "common/base/backoff.h"
#include "common/base/log.h"

#include <exception>
#include <optional>
#include <random>
#include <utility>

namespace bridge {

namespace {

std::string remedy(Feature feature)
{
    return "; \"kubectl apply -k " + feature_manifest(feature) + "\" gives it";
}

std::string component_remedy(Feature feature)
{
    return "; " + feature_manifest(feature) + " gives it";
}

} // namespace

AccessNews access_news(const Result<AccessReview> &review)
{
    AccessNews news;
    if (!review) {
        news.problem = review.error().message;
        return news;
    }
    for (Feature feature : all_features) {
        std::string missing_rights = review->missing_rights(feature);
        if (missing_rights.empty())
            continue;
        if (feature == Feature::base)
            news.problem =
                "slurmk8sd may not " + missing_rights + remedy(feature);
        else
            news.off[feature_name(feature)] = "slurmk8sd may not " +
                                              missing_rights +
                                              component_remedy(feature);
    }
    return news;
}

AccessWatch::AccessWatch(HttpEndpoint endpoint, const Conf &conf,
                         Access &access, std::function<void(AccessNews)> news)
    : endpoint_(std::move(endpoint)), conf_(conf), access_(access),
      news_(std::move(news)),
      thread_([this](std::stop_token stop) { run(stop); })
{
}

void AccessWatch::run(std::stop_token stop)
{
    endpoint_.give_up = stop;
    std::mt19937 random(std::random_device{}());
    Backoff backoff(std::chrono::seconds(1), access_interval_lacking);
    std::optional<AccessNews> told;
    while (!stop.stop_requested()) {
        std::chrono::milliseconds delay = access_interval;
        try {
            Http http(endpoint_); // asked too seldom to keep a connection
            auto review = review_access(http, conf_);
            if (stop.stop_requested())
                return;
            AccessNews news = access_news(review);
            if (review) {
                backoff.reset();
                access_.set(*review);
                if (!review->missing.empty())
                    delay = access_interval_lacking;
            } else { // the former result still holds
                if (told)
                    news.off = told->off;
                delay = backoff.next(random);
            }
            if (told != news)
                news_(*(told = std::move(news)));
        } catch (const std::exception &e) { // such as out of memory
            log_error("cannot ask for the agent's rights, retrying",
                      {{"err", e.what()}});
            delay = access_interval_lacking;
        }
        wait(delay, stop);
    }
}

void AccessWatch::ask_now()
{
    std::lock_guard lock(mutex_);
    now_ = true;
    changed_.notify_all();
}

void AccessWatch::wait(std::chrono::milliseconds delay,
                       const std::stop_token &stop)
{
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, stop, delay, [this] { return now_; });
    now_ = false;
}

} // namespace bridge
