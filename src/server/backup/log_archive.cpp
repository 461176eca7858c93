#include "server/backup/log_archive.h"

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"

#include <cerrno>
#include <fcntl.h>

namespace hone::server {

namespace {

// Shows that a store is the one that parts were sent to: one that lacks it has not lost them.
constexpr std::string_view marker = "here";

Error server_stops() {
    return unavailable("the server stops");
}

} // namespace

Result<std::string> LogArchive::put(const std::string& name, const std::string& path, const IsStopped& is_stopped) {
    if (!m_has_marker) TRY(m_objects.put(m_folder + std::string(marker), objects::pieces_of("span log\n")));
    m_has_marker = true;
    const objects::Pieces pieces = TRY(objects::pieces_of_file(path));
    const objects::Stored stored = TRY(m_objects.put(m_folder + name, [&]() -> Result<std::string> {
        if (is_stopped()) return server_stops();
        return pieces();
    }));
    return stored.sha256;
}

Result<> LogArchive::check_marker() {
    const auto found = m_objects.head(m_folder + std::string(marker));
    if (!found.ok()) return unavailable(found.error().message);
    if (found.value()) return {};
    return unavailable("the object store has no part of the span log of this server: set object_store to the one that "
                       "was set before");
}

Result<> LogArchive::get(const std::string& name, const std::string& sha256, const std::string& path,
                         const IsStopped& is_stopped) {
    const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!file.is_open()) return system_error("create " + path, errno);
    crypto::Sha256 hash;
    const auto got = m_objects.get(m_folder + name, {}, [&](std::string_view piece) -> Result<> {
        if (is_stopped()) return server_stops();
        hash.add(piece);
        return write_all(file.get(), piece);
    });
    if (!got.ok() && got.error().code == Code::not_found) TRY(check_marker());
    TRY(got);
    if (to_hex(hash.finish()) != sha256)
        return corrupt("object " + m_folder + name + " has other content than was sent");
    return sync_file(path);
}

} // namespace hone::server
