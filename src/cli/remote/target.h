// Which server a command talks to and with which key: flags first, then the environment, then what login stored.
#pragma once

#include "cli/remote/context.h"
#include "cli/remote/credentials.h"

#include <string>
#include <vector>

namespace hone::cli {

struct Target {
    std::string url;         // canonical, without a trailing slash
    bool plain_text = false; // http to another machine: keys and passwords can be read on the way
    std::string api_key;
    std::string ca_file;
    Duration timeout{};
    std::string proxy;
    std::vector<std::string> no_proxy;
};

// "HTTPS://Example.com/" -> "https://example.com". Refuses user names, queries and anything but http and https.
Result<std::string> canonical_url(const std::string& text);

Result<Target> find_target(const Context& context);

} // namespace hone::cli
