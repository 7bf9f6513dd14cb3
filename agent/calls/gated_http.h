// SPDX-License-Identifier: GPL-2.0-or-later
// The connection over which KubeApi speaks to the API server. A request that
// may change something there has to say which Write it is, and passes the write
// gate; without that it does not compile. Reads pass freely. Belongs to one
// thread, as Http.
#pragma once

#include "agent/calls/write_gate.h"
#include "common/kube/http.h"

#include <string>

namespace bridge {

class GatedHttp {
  public:
    // The gate must outlive this.
    GatedHttp(HttpEndpoint endpoint, const WriteGate &gate);

    // Replies and errors are those of Http. If the gate is shut, its reason is
    // the error of a write, and nothing is sent.
    Result<HttpReply> get(const std::string &path);
    Result<HttpReply> get_metadata(const std::string &path);
    Result<HttpReply> post(Write write, const std::string &path,
                           const std::string &body);
    Result<HttpReply> put(Write write, const std::string &path,
                          const std::string &body);
    Result<HttpReply> patch(Write write, const std::string &path,
                            const std::string &content_type,
                            const std::string &body);
    Result<HttpReply> remove(Write write, const std::string &path,
                             const std::string &body);

    // A POST that the server only checks. It stores nothing, so this passes no
    // gate. path has no query.
    Result<HttpReply> try_post(const std::string &path,
                               const std::string &body);

  private:
    Http http_;
    const WriteGate &gate_;
};

} // namespace bridge
