#include "kubernetes/provider/pod_layers.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/image/layer.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::kubernetes {

namespace {

constexpr size_t layer_piece_bytes = 256 << 10;
constexpr Duration layer_progress_every = std::chrono::seconds(1);
constexpr size_t longest_image = 4096;

// The pieces of a file, and what they were.
class HashedFile {
public:
    explicit HashedFile(const std::string& path) : m_file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)) {}

    bool is_open() const { return m_file.is_open(); }
    // Empty at the end.
    Result<std::string> next() {
        std::string piece(layer_piece_bytes, '\0');
        for (;;) {
            const ssize_t got = ::read(m_file.get(), piece.data(), piece.size());
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) return system_error("read a layer", errno);
            piece.resize(static_cast<size_t>(got));
            m_hash.add(piece);
            return piece;
        }
    }
    // Once, after the end.
    std::string sha256() { return to_hex(m_hash.finish()); }

private:
    const Fd m_file;
    crypto::Sha256 m_hash;
};

// The pieces of an archive, of which the last byte is withheld until the hash of all is right: without it an archive is
// cut, and the pod makes nothing final of it.
class VerifiedArchive {
public:
    VerifiedArchive(const std::string& path, std::string sha256) : m_file(path), m_sha256(std::move(sha256)) {}

    Result<std::string> next() {
        if (!m_file.is_open()) return corrupt("it has no contents");
        while (!m_is_over) {
            std::string piece = TRY(m_file.next());
            if (piece.empty()) {
                m_is_over = true;
                if (m_file.sha256() != m_sha256) return corrupt("its contents have another SHA-256");
                return std::exchange(m_last, {});
            }
            piece.insert(0, m_last);
            m_last = piece.substr(piece.size() - 1);
            piece.pop_back();
            if (!piece.empty()) return piece;
        }
        return std::string();
    }

private:
    HashedFile m_file;
    const std::string m_sha256;
    std::string m_last;
    bool m_is_over = false;
};

// At the first step of a loop, and then once a second.
class EverySecond {
public:
    bool is_due() {
        const Duration now = SystemClock().steady();
        if (m_last != Duration{} && now - m_last < layer_progress_every) return false;
        m_last = now;
        return true;
    }

private:
    Duration m_last{};
};

} // namespace

sandbox::LayerLimits limits_of_home(const sandbox::Limits& limits) {
    sandbox::LayerLimits allowed = sandbox::home_limits;
    allowed.most_bytes = std::min(allowed.most_bytes, *limits.disk_bytes);
    allowed.most_entries = std::min(allowed.most_entries, *limits.disk_inodes);
    return allowed;
}

Result<> PodLayers::save(PodConnection& connection, const std::string& directory, const std::string& image,
                         const sandbox::LayerLimits& limits, const std::function<bool()>& cancelled) const {
    const std::string path = directory + "/upper/home";
    EverySecond second;
    {
        const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
        if (!file.is_open()) return system_error("create " + path, errno);
        TRY(connection.receive("home", sandbox::most_archive_bytes(limits), [&](std::string_view bytes) -> Result<> {
            if (second.is_due() && cancelled && cancelled())
                return conflict("the preparation of the layer was cancelled");
            return write_all(file.get(), bytes);
        }));
    }
    HashedFile written(path);
    if (!written.is_open()) return system_error("open " + path, errno);
    if (const auto found = sandbox::check_home(limits, [&] { return written.next(); }); !found.ok())
        return unavailable("what the script left in the home cannot be kept: " + found.error().message);
    TRY(write_file(directory + "/upper/sha256", written.sha256()));
    return write_file(directory + "/upper/image", image);
}

Result<> PodLayers::send(PodConnection& connection, const std::vector<std::string>& layers, bool is_kept,
                         const std::string& image, const sandbox::StartProgress& progress) const {
    if (layers.empty()) return {};
    const std::string& key = layers.back();
    const std::string place = m_store.layers() + "/" + key;
    if (!sandbox::is_plain_name(key) || !file_exists(place + "/upper")) return not_found("prepared layer " + key);
    if (is_kept) {
        std::string state;
        TRY(connection.receive("home-state", 16, [&](std::string_view bytes) -> Result<> {
            state += bytes;
            return {};
        }));
        if (state == "made") return {};
    }
    const auto sent = [&]() -> Result<> {
        const Fd held = TRY(m_store.hold(place)); // it is not removed meanwhile
        return stream(connection, place, is_kept, image, progress);
    }();
    if (sent.ok() || sent.error().code != Code::corrupt) return sent;
    log(Level::warning, "a prepared layer of pods cannot be used and was removed",
        {{"layer", key}, {"why", sent.error().message}});
    TRY(sandbox::remove_layer(m_store, key));
    return corrupt("the prepared layer cannot be used and was removed: " + sent.error().message);
}

Result<> PodLayers::stream(PodConnection& connection, const std::string& place, bool is_kept, const std::string& image,
                           const sandbox::StartProgress& progress) const {
    const auto sha256 = read_file(place + "/upper/sha256", 100);
    const auto built_on = read_file(place + "/upper/image", longest_image);
    if (!sha256.ok() || !built_on.ok()) return corrupt("it is not complete");
    if (built_on.value() != image)
        return corrupt("it was built on the image " + built_on.value() + ", and the node of the pod runs " + image +
                       ": name kubernetes_image by its digest, so that all nodes run the same");
    VerifiedArchive archive(place + "/upper/home", sha256.value());
    EverySecond second;
    // What the pod reports about the archive is no proof that it is damaged here.
    std::optional<Error> damage;
    const auto sent = connection.send_home(is_kept, [&]() -> Result<std::string> {
        if (second.is_due() && progress && !progress("")) return conflict("the start was cancelled");
        auto piece = archive.next();
        if (!piece.ok() && piece.error().code == Code::corrupt) damage = piece.error();
        return piece;
    });
    if (damage) return *damage;
    if (sent.ok()) return {};
    Error failed = sent.error();
    if (failed.code == Code::corrupt) failed.code = Code::unavailable;
    failed.message = "the prepared layer could not be made in the pod: " + failed.message;
    return failed;
}

} // namespace hone::kubernetes
