// Any text as a kubeconfig: rejected, or an access with an https address and a credential, without reading a file.
#include "crypto/crypto.h"
#include "kubernetes/api/credentials.h"

#include <cstdlib>

using namespace hone;
using namespace hone::kubernetes;

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    crypto::start();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto access = parse_kubeconfig(std::string_view(reinterpret_cast<const char*>(data), size), "", "");
    if (!access.ok()) return 0;
    const ClusterAccess& read = access.value();
    if (!read.server.starts_with("https://") || read.server.ends_with('/') || read.name_space.empty()) std::abort();
    if (read.name_space.find_first_of("/.?#%") != std::string::npos) std::abort();
    if (read.server_name.find_first_of("/?#%@") != std::string::npos) std::abort();
    if (!read.token_file.empty() || (read.token.empty() && read.client_key.empty())) std::abort();
    return 0;
}
