#include "forge/push/push_commands.h"
#include "forge/push/ref_list.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

// A push's head is the same whether it comes at once or piece by piece; every answer to it is made of whole packets.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace hone::forge;
    const std::string_view bytes(reinterpret_cast<const char*>(data), size);
    const auto whole = read_push_head(bytes, true);
    if (whole.ok()) {
        if (whole.value().state != PushReading::done || whole.value().head.used > size) std::abort();
        const auto again = read_push_head(bytes, false);
        if (!again.ok() || again.value().head.commands.size() != whole.value().head.commands.size()) std::abort();
        const std::string reason = check_push(whole.value().head, "refs/heads/hone/run_1/");
        if (refuse_push(whole.value().head, reason).size() < 8) std::abort();
    }
    const RefList list = parse_for_each_ref(bytes);
    const auto back = parse_packed_refs(write_packed_refs(list.refs));
    if (!back.ok() || back.value() != list.refs) std::abort();
    (void)parse_packed_refs(bytes).ok();
    (void)parse_head(bytes);
    return 0;
}
