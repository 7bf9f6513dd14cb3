// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/check/check.h"

#include "agent/calls/endpoint.h"
#include "cli/check/check_reach.h"
#include "cli/commands.h"
#include "cli/slurm_here.h"
#include "common/base/printable.h"
#include "common/kube/token_file.h"

#include <cstdio>
#include <curl/curl.h>
#include <format>
#include <iterator>
#include <optional>
#include <unistd.h>

namespace bridge {

namespace {

constexpr std::chrono::seconds kube_patience{10}; // for each answer

std::optional<SlurmFacts> ask_slurm(Unchecked &unchecked)
{
    if (!has_slurm_conf()) {
        unchecked.push_back("Slurm: there is no slurm.conf on this host");
        return std::nullopt;
    }
    SlurmApi slurm;
    auto facts = load_slurm_facts(slurm);
    if (!facts) {
        unchecked.push_back("Slurm: " + facts.error().message);
        return std::nullopt;
    }
    if (facts->accounting && !facts->qos)
        unchecked.push_back("QoS: slurmdbd does not answer");
    return std::move(*facts);
}

// Returns why no request is worth while; nothing: one is. Nobody answers at an
// address for examples, after a long time.
std::optional<KubeFacts> reach_before_asking(const HttpEndpoint &endpoint)
{
    using Reach = KubeFacts::Reach;
    KubeFacts facts;
    if (is_example_server(endpoint.server)) {
        facts.reach = Reach::example;
        facts.reach_reason = endpoint.server;
        return facts;
    }
    auto token = TokenFile(endpoint.token_file).read(TokenFile::Clock::now());
    if (token)
        return std::nullopt;
    // Whoever runs the check may have fewer rights than the agent.
    bool readable = access(endpoint.token_file.c_str(), R_OK) == 0;
    facts.reach = readable ? Reach::no_token : Reach::not_asked;
    facts.reach_reason = token.error().message;
    return facts;
}

KubeFacts ask_kube(const Conf &conf, const Result<HttpEndpoint> &endpoint,
                   Unchecked &unchecked)
{
    if (!endpoint) {
        unchecked.push_back("Kubernetes: " + endpoint.error().message);
        KubeFacts facts;
        facts.reach = KubeFacts::Reach::no_server;
        facts.reach_reason = endpoint.error().message;
        return facts;
    }
    if (auto without = reach_before_asking(*endpoint)) {
        unchecked.push_back("Kubernetes: " + without->reach_reason);
        return *without;
    }
    HttpEndpoint patient = *endpoint;
    patient.timeout = kube_patience;
    Http http(patient);
    return load_kube_facts(http, conf, unchecked);
}

Facts collect(const Conf &conf, const std::string &conf_path,
              Unchecked &unchecked)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    auto endpoint = endpoint_of(conf);
    Facts facts;
    facts.conf = conf;
    facts.host =
        load_host_facts(conf, conf_path,
                        endpoint ? endpoint->token_file : conf.kube_token_file);
    facts.slurm = ask_slurm(unchecked);
    if (facts.slurm)
        facts.host.state_save =
            read_file_facts(facts.slurm->state_save_location);
    facts.kube = ask_kube(conf, endpoint, unchecked);
    return facts;
}

// The template is a file on the host of the agent and slurmctld.
void check_template(Conf &conf, Findings &findings, Unchecked &unchecked)
{
    auto read = read_batch_template(conf);
    if (read)
        return;
    if (read.error().code == Code::not_found)
        unchecked.push_back(read.error().message);
    else
        findings.push_back({Severity::error, "k8s.conf", read.error().message,
                            "k8s.conf(5) says what a template may have"});
}

void print(const std::string &text)
{
    std::puts(printable(text).c_str());
}

void print_all(const Findings &findings, const Unchecked &unchecked)
{
    for (auto at = findings.begin(); at != findings.end(); ++at) {
        print(std::format("{}: {}: {}", severity_name(at->severity), at->about,
                          at->says));
        auto next = std::next(at);
        bool again = next != findings.end() && next->change == at->change &&
                     next->about == at->about;
        if (!at->change.empty() && !again)
            print("    change: " + at->change);
    }
    for (const std::string &sentence : unchecked)
        print("not checked: " + sentence);
    print(std::format("{} errors, {} warnings, {} notes, {} not checked",
                      count(findings, Severity::error),
                      count(findings, Severity::warning),
                      count(findings, Severity::note), unchecked.size()));
}

} // namespace

int check(const std::string &conf_path, bool json)
{
    Findings findings;
    Unchecked unchecked;
    if (auto conf = load_conf(conf_path); conf) {
        findings = check_all(collect(*conf, conf_path, unchecked));
        check_template(*conf, findings, unchecked);
    } else if (conf.error().code == Code::not_found)
        unchecked.push_back(conf.error().message);
    else
        findings.push_back(
            {Severity::error, "k8s.conf", conf.error().message, ""});
    if (json)
        std::puts(printable_json(findings_json(findings, unchecked)).c_str());
    else
        print_all(findings, unchecked);
    return verdict(findings, unchecked);
}

} // namespace bridge
