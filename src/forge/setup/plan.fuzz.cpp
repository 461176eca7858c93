#include "forge/setup/plan.h"

#include "base/text.h"

// A devcontainer and a listing of a hostile repository: read within bounds, and its names become words only.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size > (64 << 10)) return 0;
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    const auto command = hone::forge::post_create_command(text);
    if (command.ok() && command.value().find('\0') != std::string::npos) __builtin_trap();
    if (hone::forge::without_comments(text).size() > text.size() + 2) __builtin_trap();
    const auto files = hone::forge::parse_tree(text);
    if (!files.ok()) return 0;
    if (files.value().size() > hone::forge::most_setup_files) __builtin_trap();
    (void)hone::forge::plan_setup("auto", files.value(), "{}").ok();
    return 0;
}
