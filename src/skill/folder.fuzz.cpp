#include "skill/folder.h"
#include "crypto/crypto.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const bool started = (hone::crypto::start(), true);
    (void)started;
    if (size == 0) return 0;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (data[0] % 3 == 0) {
        (void)hone::skill::parse_front_matter(bytes);
        return 0;
    }
    auto files = data[0] % 3 == 1 ? hone::skill::read_tar(bytes) : hone::skill::read_tar_gz(bytes);
    if (!files.ok()) return 0;
    if (hone::skill::check_folder(files.value()).ok())
        for (const auto& file : files.value())
            if (file.path.empty() || file.path.front() == '/' || file.path.starts_with("../")) __builtin_trap();
    return 0;
}
