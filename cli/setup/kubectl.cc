// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/setup/kubectl.h"

#include "cli/setup/program.h"
#include "common/base/text.h"

#include <openssl/evp.h>

namespace bridge {

namespace {

// Every request of kubectl ends after this long, also where nobody answers.
constexpr char patience[] = "--request-timeout=60s";

// The lines of stderr as one message.
std::string one_line(std::string_view text)
{
    std::string line;
    for (std::string_view part : all_parts(text, '\n'))
        if (!part.empty())
            line += (line.empty() ? "" : "; ") + std::string(part);
    return line.empty() ? "it failed and said nothing" : line;
}

// Decodes padded Base64; "" for anything else.
std::string decoded(const std::string &text)
{
    std::string bytes(text.size(), '\0');
    int size =
        EVP_DecodeBlock(reinterpret_cast<unsigned char *>(bytes.data()),
                        reinterpret_cast<const unsigned char *>(text.data()),
                        static_cast<int>(text.size()));
    if (size < 0)
        return {};
    bytes.resize(static_cast<std::size_t>(size));
    // OpenSSL counts the padding as zero bytes, and PEM has none.
    bytes.erase(bytes.find_last_not_of('\0') + 1);
    return bytes;
}

} // namespace

Result<KubeCluster> cluster_from(const Json &config)
{
    Json found = config.at("clusters/0/cluster");
    KubeCluster cluster;
    cluster.server = found.text("server");
    while (cluster.server.ends_with('/'))
        cluster.server.pop_back();
    if (!cluster.server.starts_with("https://"))
        return fail(Code::rejected,
                    "the kubeconfig names no https:// API server");
    cluster.ca = decoded(found.text("certificate-authority-data"));
    for (const char *name : {"tls-server-name", "proxy-url"})
        cluster.odd = cluster.odd || !found.text(name).empty();
    return cluster;
}

Words Kubectl::command(Words words) const
{
    Words all = {"kubectl"};
    if (!kubeconfig_.empty())
        all.push_back("--kubeconfig=" + kubeconfig_);
    all.emplace_back(patience);
    all.insert(all.end(), words.begin(), words.end());
    return all;
}

Result<std::string> Kubectl::run(Words words, std::string_view input) const
{
    const std::string what = "kubectl " + words[0];
    auto end = run_program(command(std::move(words)), input);
    if (!end)
        return fail(end.error().code, end.error().message +
                                          ": kubectl must be installed on "
                                          "this host");
    if (end->status != 0)
        return fail(Code::rejected, what + ": " + one_line(end->err));
    return std::move(end->out);
}

Result<Json> Kubectl::json(Words words) const
{
    words.insert(words.end(), {"-o", "json"});
    auto text = run(std::move(words));
    if (!text)
        return std::unexpected(text.error());
    return text->empty() ? Result<Json>(Json()) : Json::parse(*text);
}

Result<int> Kubectl::status(Words words, std::string_view input) const
{
    auto end = run_program(command(std::move(words)), input);
    if (!end)
        return std::unexpected(end.error());
    return end->status;
}

Result<bool> Kubectl::may(const std::string &verb,
                          const std::string &resource) const
{
    auto end = run_program(
        command({"auth", "can-i", verb, resource, "--all-namespaces"}));
    if (!end)
        return std::unexpected(end.error());
    if (end->out.starts_with("yes"))
        return true;
    if (end->out.starts_with("no"))
        return false;
    return fail(Code::rejected, "kubectl auth: " + one_line(end->err));
}

Result<KubeCluster> Kubectl::cluster() const
{
    auto config = json({"config", "view", "--raw", "--minify", "--flatten"});
    if (!config)
        return fail(config.error(),
                    "no kubeconfig of an administrator: name one by "
                    "--kubeconfig FILE");
    return cluster_from(*config);
}

} // namespace bridge
