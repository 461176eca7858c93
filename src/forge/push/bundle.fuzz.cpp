#include "forge/push/bundle.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// Whatever is read as a bundle gives branches of the run and of no other, and the report of a push is read to its end.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::forge;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    constexpr std::string_view prefix = "refs/heads/hone/run_1/";
    const auto head = read_bundle_head(bytes);
    if (head.ok()) {
        if (head.value().used > size || head.value().refs.empty()) std::abort();
        const auto branches = branches_of(head.value(), prefix);
        if (branches.ok())
            for (const BundleRef& branch : branches.value())
                if (!branch.name.starts_with(prefix) || branch.name.find("..") != std::string::npos) std::abort();
    }
    (void)read_push_report(bytes);
    return 0;
}
