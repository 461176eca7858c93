// What stands behind the gateway's /git/: the server implements it over forge/. One request of a git client, in the
// smart HTTP protocol, served by git in a sandbox. Called on the connection's thread.
#pragma once

#include "base/result.h"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hone::broker {

struct GitCall {
    std::string run_id;
    std::string repo;
    bool pushes = false;    // git-receive-pack; else git-upload-pack
    bool advertise = false; // GET info/refs
    std::string protocol;   // the header Git-Protocol
    bool gzip = false;      // the body is compressed
    // True when the run is over: the call shall end soon.
    std::function<bool()> stopped;
};

// write* finish read* until empty.
class GitResponse {
public:
    virtual ~GitResponse() = default;
    virtual Result<> write(std::string_view bytes) = 0;
    // The request's body is complete.
    virtual Result<> finish() = 0;
    // The next piece of the response; empty at its end.
    virtual Result<std::string> read() = 0;
};

class GitService {
public:
    virtual ~GitService() = default;
    virtual Result<std::unique_ptr<GitResponse>> serve(const GitCall& call) = 0;
};

} // namespace hone::broker
