#include "server/adapters/layer_objects.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "sandbox/image/tree.h"
#include "sandbox/wall/enter.h"
#include "telemetry/transfer/unpack_stream.h"

#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <unistd.h>
#include <zstd.h>

namespace hone::server {

namespace {

constexpr size_t most_offered = 100;
constexpr size_t packed_piece = 4 << 10; // zeros become thousands of times as much when they are unpacked
constexpr size_t longest_manifest = 1024;
constexpr std::string_view manifest_title = "hone-layer 1";

std::string folder_of(const std::string& key) {
    return "layers/" + key;
}

Fd open_folder(const std::string& path) {
    return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Writes compressed bytes to a file and hashes them.
class PackedFile {
public:
    explicit PackedFile(const std::string& path)
        : m_file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600)),
          m_stream(ZSTD_createCCtx(), ZSTD_freeCCtx) {
        ZSTD_CCtx_setParameter(m_stream.get(), ZSTD_c_compressionLevel, 3);
    }
    Result<> add(std::string_view bytes, bool is_last) {
        if (!m_file.is_open()) return internal("the file for a layer cannot be created");
        ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
        for (bool is_over = bytes.empty() && !is_last; !is_over;) {
            std::string out(ZSTD_CStreamOutSize(), '\0');
            ZSTD_outBuffer buffer{out.data(), out.size(), 0};
            const size_t left =
                ZSTD_compressStream2(m_stream.get(), &buffer, &in, is_last ? ZSTD_e_end : ZSTD_e_continue);
            if (ZSTD_isError(left) != 0) return internal("compress a layer", ZSTD_getErrorName(left));
            out.resize(buffer.pos);
            m_hash.add(out);
            m_bytes += static_cast<int64_t>(out.size());
            TRY(write_all(m_file.get(), out));
            is_over = is_last ? left == 0 : in.pos == in.size;
        }
        return {};
    }
    std::string sha256() { return to_hex(m_hash.finish()); }
    int64_t bytes() const { return m_bytes; }

private:
    const Fd m_file;
    const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> m_stream;
    crypto::Sha256 m_hash;
    int64_t m_bytes = 0;
};

// The pieces of a compressed file, as they are after it is unpacked.
class PackedReader {
public:
    PackedReader(const std::string& path, std::unique_ptr<telemetry::UnpackStream> stream)
        : m_file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)),
          m_stream(std::move(stream)) {}

    Result<std::string> next() {
        std::string out;
        const auto take = [&](std::string_view piece) -> Result<> {
            out += piece;
            return {};
        };
        std::string packed(packed_piece, '\0');
        while (out.empty() && !m_is_over) {
            const ssize_t got = ::read(m_file.get(), packed.data(), packed.size());
            if (got < 0) return system_error("read a layer", errno);
            m_is_over = got == 0;
            if (m_is_over)
                TRY(m_stream->finish());
            else
                TRY(m_stream->add(std::string_view(packed).substr(0, static_cast<size_t>(got)), take));
        }
        return out;
    }

private:
    const Fd m_file;
    const std::unique_ptr<telemetry::UnpackStream> m_stream;
    bool m_is_over = false;
};

// Removes a file at the end of a scope.
struct Leftover {
    std::string path;
    ~Leftover() { ::unlink(path.c_str()); }
};

} // namespace

LayerObjects::LayerObjects(objects::ObjectStore& objects, sandbox::Store store, std::string key)
    : m_objects(objects),
      m_store(std::move(store)),
      m_key(std::move(key)),
      m_duty({.name = "layers for the object store", .period = std::chrono::minutes(1)}, [this] { return step(); }) {}

std::string LayerObjects::manifest_of(const std::string& key, const std::string& sha256, int64_t bytes) const {
    const std::string text =
        std::string(manifest_title) + "\n" + key + "\n" + sha256 + "\n" + std::to_string(bytes) + "\n";
    return text + to_hex(crypto::keyed_hash(m_key, text)) + "\n";
}

Result<bool> LayerObjects::fetch(const std::string& key, const std::string& directory) {
    const auto manifest = objects::get_text(m_objects, folder_of(key) + "/manifest", longest_manifest);
    if (!manifest.ok() && manifest.error().code == Code::not_found) return false;
    if (!manifest.ok()) return manifest.error();
    const auto lines = split(manifest.value(), '\n');
    const auto bytes = lines.size() == 6 ? parse_integer(lines[3]) : Result<int64_t>(corrupt("too short"));
    if (!bytes.ok() || !crypto::equal(manifest_of(key, std::string(lines[2]), bytes.value()), manifest.value()))
        return corrupt("its manifest is not signed by this installation");
    const std::string sha256(lines[2]);
    const Leftover packed{directory + "/packed"};
    {
        const Fd file(::open(packed.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
        if (!file.is_open()) return system_error("create " + packed.path, errno);
        crypto::Sha256 hash;
        int64_t received = 0;
        const auto got = m_objects.get(folder_of(key) + "/" + sha256, {}, [&](std::string_view piece) -> Result<> {
            received += static_cast<int64_t>(piece.size());
            if (received > bytes.value()) return corrupt("it is longer than its manifest states");
            hash.add(piece);
            return write_all(file.get(), piece);
        });
        if (!got.ok() && got.error().code == Code::not_found) return false; // its contents were deleted
        if (!got.ok()) return got.error();
        if (to_hex(hash.finish()) != sha256)
            return corrupt("its contents have another SHA-256 than its manifest states");
    }
    const Fd upper = open_folder(directory + "/upper");
    if (!upper.is_open()) return system_error("open " + directory + "/upper", errno);
    PackedReader reader(packed.path, TRY(telemetry::UnpackStream::make("zstd")));
    const std::optional<uid_t> owner =
        ::geteuid() == 0 ? std::optional<uid_t>(sandbox::inside_uid) : std::optional<uid_t>();
    TRY(sandbox::unpack_layer(upper.get(), owner, {}, [&] { return reader.next(); }));
    log(Level::info, "prepared layer fetched", {{"layer", key}, {"bytes", bytes.value()}});
    return true;
}

void LayerObjects::offer(const std::string& key) {
    {
        const Lock lock(m_mutex);
        if (m_offered.size() >= most_offered) return; // other servers build it themselves
        m_offered.push_back(key);
    }
    m_duty.wake();
}

Result<Duration> LayerObjects::step() {
    std::string key;
    {
        const Lock lock(m_mutex);
        if (m_offered.empty()) return Duration(std::chrono::minutes(1));
        key = m_offered.front();
        m_offered.pop_front();
    }
    if (const auto sent = send(key); !sent.ok())
        log(Level::warning, "a prepared layer was not sent to the object store; other servers build it themselves",
            {{"layer", key}, {"why", sent.error().message}});
    return Duration::zero();
}

Result<> LayerObjects::send(const std::string& key) {
    const std::string place = m_store.layers() + "/" + key;
    const Fd held = TRY(m_store.hold(place)); // it is not removed meanwhile
    const Fd upper = open_folder(place + "/upper");
    if (!upper.is_open()) return {}; // it was removed before
    const Leftover packed{m_store.layers() + "/.packed-" + key};
    PackedFile file(packed.path);
    TRY(sandbox::pack_layer(upper.get(), {}, [&](std::string_view bytes) { return file.add(bytes, false); }));
    TRY(file.add({}, true));
    const std::string sha256 = file.sha256(), contents = folder_of(key) + "/" + sha256;
    if (!TRY(m_objects.head(contents))) TRY(m_objects.put(contents, TRY(objects::pieces_of_file(packed.path)), sha256));
    TRY(m_objects.put(folder_of(key) + "/manifest", objects::pieces_of(manifest_of(key, sha256, file.bytes()))));
    log(Level::info, "prepared layer sent to the object store", {{"layer", key}, {"bytes", file.bytes()}});
    return {};
}

Result<std::string> share_layer_key(sql::Database& database, const secret::Vault& vault, const sandbox::Store& store) {
    const std::string owner = "layers", name = "key";
    const std::string own = TRY(store.key(store.layers()));
    TRY(database.write([&](sql::Transaction& transaction) -> Result<> {
        if (!TRY(vault.kept_names(transaction, owner)).empty()) return {};
        return vault.keep(transaction, secret::Scope{}, owner, name, crypto::SecretBytes(own));
    }));
    const auto kept = TRY(vault.reveal(secret::Scope{}, owner, name, "keys of prepared layers"));
    const std::string shared(kept.reveal());
    if (shared.size() != own.size()) return corrupt("the shared key of layers has another length");
    if (shared != own) TRY(write_file(store.layers() + "/key", shared));
    return shared;
}

} // namespace hone::server
