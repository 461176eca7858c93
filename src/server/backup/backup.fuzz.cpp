// `hone restore` reads a file that somebody else may have made. The input is the archive inside the compression, or
// with a leading 'z' the file as it is.
#include "server/backup/backup.h"
#include "base/file.h"
#include "crypto/crypto.h"

#include <cstdlib>
#include <filesystem>
#include <zstd.h>

namespace {

std::string make_folder() {
    hone::crypto::start();
    char folder[] = "/tmp/hone-fuzz-XXXXXX";
    CHECK_OR_ABORT(::mkdtemp(folder) != nullptr);
    return folder;
}

std::string compressed(std::string_view content) {
    std::string out(ZSTD_compressBound(content.size()), '\0');
    const size_t size = ZSTD_compress(out.data(), out.size(), content.data(), content.size(), 1);
    CHECK_OR_ABORT(ZSTD_isError(size) == 0);
    out.resize(size);
    return out;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string folder = make_folder();
    const std::string_view content(reinterpret_cast<const char*>(data), size);
    const std::string file = folder + "/backup";
    const std::string target = folder + "/data";
    CHECK_OR_ABORT(
        hone::write_file(file, content.starts_with('z') ? std::string(content.substr(1)) : compressed(content)).ok());
    const auto restored = hone::server::restore_backup(file, target);
    // All of it or nothing.
    CHECK_OR_ABORT(hone::file_exists(target + "/hone.db") == restored.ok());
    CHECK_OR_ABORT(!hone::file_exists(target + "/restoring"));
    std::filesystem::remove(target + "/hone.db");
    return 0;
}
