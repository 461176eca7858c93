#include "server/backup/backup.h"

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "server/backup/backup_files.h"
#include "sql/directory_lock.h"
#include "telemetry/transfer/span_snapshot.h"
#include "json/json.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <map>
#include <set>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

namespace hone::server {

namespace {

constexpr size_t block = 512; // of a tar file
constexpr size_t piece = 256 << 10;
constexpr int64_t newest_format = 3;
constexpr size_t largest_manifest = 64 << 20;

struct BackupFile {
    std::string name;
    int64_t bytes = 0;
    std::string blake2b;
    static constexpr Pack fields{Field{"name", &BackupFile::name, ""}, Field{"bytes", &BackupFile::bytes, ""},
                                 Field{"blake2b", &BackupFile::blake2b, ""}};
};

struct FileHash {
    std::string name;
    std::string blake2b;
    static constexpr Pack fields{Field{"name", &FileHash::name, ""}, Field{"blake2b", &FileHash::blake2b, ""}};
};

struct Manifest {
    int64_t format = newest_format;
    std::string hone_version;
    int64_t schema_version = 0;
    Time created_at{};
    std::vector<BackupFile> files;
    static constexpr Pack fields{
        Field{"format", &Manifest::format, ""},
        Field{"hone_version", &Manifest::hone_version, ""},
        Field{"schema_version", &Manifest::schema_version, ""},
        Field{"created_at", &Manifest::created_at, ""},
        Field{"files", &Manifest::files, ""},
    };
};

// A POSIX ustar header; sizes up to 8 GiB in octal, beyond that in base 256 as GNU tar reads it.
std::string tar_header(const std::string& name, int64_t size) {
    std::array<char, block> header{};
    const auto put = [&](size_t offset, const std::string& text) {
        std::memcpy(header.data() + offset, text.data(), text.size());
    };
    const auto octal = [](int64_t value, int width) {
        char text[24];
        std::snprintf(text, sizeof text, "%0*llo", width, static_cast<unsigned long long>(value));
        return std::string(text);
    };
    // Longer names are split at a slash, as ustar has it.
    const size_t slash = name.size() > 100 ? name.rfind('/', 150) : std::string::npos;
    put(0, slash == std::string::npos ? name : name.substr(slash + 1));
    if (slash != std::string::npos) put(345, name.substr(0, slash));
    put(100, octal(0600, 7));
    put(108, octal(0, 7));
    put(116, octal(0, 7));
    if (size < int64_t{1} << 33) {
        put(124, octal(size, 11));
    } else {
        header[124] = static_cast<char>(0x80);
        for (size_t i = 0; i < 8; ++i) header[135 - i] = static_cast<char>(size >> (8 * i));
    }
    put(136, octal(0, 11));
    put(148, "        ");
    header[156] = '0';
    put(257, std::string("ustar\0"
                         "00",
                         8));
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    put(148, octal(sum, 6) + std::string("\0 ", 2));
    return std::string(header.data(), header.size());
}

std::string padding(int64_t size) {
    return std::string(static_cast<size_t>((block - static_cast<size_t>(size) % block) % block), '\0');
}

struct Entry {
    std::string name;
    std::string path;
    int64_t bytes = 0;
};

// What the backup is made of, for as long as it is read.
struct Material {
    Material() = default;
    Material(Material&&) = default;
    ~Material() {
        if (!database_copy.empty()) ::unlink(database_copy.c_str());
    }
    std::string database_copy;
    std::unique_ptr<telemetry::SpanSnapshot> spans;
    FileSnapshot kept;
    std::vector<Entry> files;
};

// Streams the archive: manifest, every file, then the hashes of all, which are known only now; compressed on the way.
class BackupSource final : public net::BodySource {
public:
    BackupSource(Material material, std::string manifest)
        : m_material(std::move(material)),
          m_pending(std::move(manifest)),
          m_stream(ZSTD_createCCtx()) {
        ZSTD_CCtx_setParameter(m_stream, ZSTD_c_compressionLevel, 1); // parts are compressed already
        ZSTD_CCtx_setParameter(m_stream, ZSTD_c_checksumFlag, 1);
    }
    ~BackupSource() override { ZSTD_freeCCtx(m_stream); }

    Result<std::string> next() override {
        while (!m_is_over) {
            const std::string input = m_pending.empty() ? TRY(next_input()) : std::exchange(m_pending, {});
            if (std::string out = TRY(compress(input, m_is_over)); !out.empty()) return out;
        }
        return std::string();
    }

private:
    // The next bytes of the archive; the last ones set m_is_over.
    Result<std::string> next_input() {
        if (m_file.is_open()) return read_file_piece();
        if (m_index < m_material.files.size()) return begin_file();
        m_is_over = true;
        const std::string text = json::print(json::to_value(m_hashes));
        const auto size = static_cast<int64_t>(text.size());
        return tar_header("hashes.json", size) + text + padding(size) + std::string(2 * block, '\0');
    }

    Result<std::string> begin_file() {
        const Entry& entry = m_material.files[m_index];
        m_file = Fd(::open(entry.path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!m_file.is_open()) return system_error("open " + entry.path, errno);
        m_hasher.emplace();
        m_left = entry.bytes;
        return tar_header(entry.name, entry.bytes);
    }

    Result<std::string> read_file_piece() {
        const Entry& entry = m_material.files[m_index];
        std::string input(static_cast<size_t>(std::min<int64_t>(m_left, piece)), '\0');
        if (m_left > 0) {
            const ssize_t count = ::read(m_file.get(), input.data(), input.size());
            if (count <= 0) return system_error("read " + entry.path, count < 0 ? errno : EIO);
            input.resize(static_cast<size_t>(count));
            m_left -= count;
            m_hasher->add(input);
        }
        if (m_left > 0) return input;
        m_hashes.push_back({entry.name, to_hex(m_hasher->finish())});
        m_file.reset();
        ++m_index;
        return input + padding(entry.bytes);
    }

    Result<std::string> compress(std::string_view input, bool last) {
        std::string out;
        ZSTD_inBuffer in{input.data(), input.size(), 0};
        for (size_t more = 1; in.pos < in.size || (last && more != 0);) {
            const size_t before = out.size();
            out.resize(before + ZSTD_CStreamOutSize());
            ZSTD_outBuffer buffer{out.data() + before, out.size() - before, 0};
            more = ZSTD_compressStream2(m_stream, &buffer, &in, last ? ZSTD_e_end : ZSTD_e_continue);
            out.resize(before + buffer.pos);
            if (ZSTD_isError(more) != 0) return internal("compress the backup", ZSTD_getErrorName(more));
        }
        return out;
    }

    const Material m_material;
    std::string m_pending;
    size_t m_index = 0; // the file being read, or the next one
    Fd m_file;
    int64_t m_left = 0;
    std::optional<crypto::Hasher> m_hasher;
    std::vector<FileHash> m_hashes;
    bool m_is_over = false;
    ZSTD_CCtx* m_stream;
};

// Reads a compressed archive piece by piece; every length is checked before it is used.
class ArchiveReader {
public:
    explicit ArchiveReader(Fd file) : m_file(std::move(file)), m_stream(ZSTD_createDCtx()) {
        ZSTD_DCtx_setParameter(m_stream, ZSTD_d_windowLogMax, 27);
    }
    ~ArchiveReader() { ZSTD_freeDCtx(m_stream); }
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;

    // Exactly `count` bytes.
    Result<std::string> take(size_t count) {
        while (m_buffer.size() - m_at < count) TRY(fill());
        std::string bytes = m_buffer.substr(m_at, count);
        m_at += count;
        return bytes;
    }

private:
    Result<> fill() {
        m_buffer.erase(0, m_at);
        m_at = 0;
        if (m_in.pos == m_in.size) {
            const ssize_t count = ::read(m_file.get(), m_input.data(), m_input.size());
            if (count < 0) return system_error("read the backup", errno);
            if (count == 0) return corrupt("the backup ends too early");
            m_in = {m_input.data(), static_cast<size_t>(count), 0};
        }
        const size_t before = m_buffer.size();
        m_buffer.resize(before + piece);
        ZSTD_outBuffer out{m_buffer.data() + before, piece, 0};
        const size_t outcome = ZSTD_decompressStream(m_stream, &out, &m_in);
        m_buffer.resize(before + out.pos);
        if (ZSTD_isError(outcome) != 0)
            return corrupt(std::string("not a Hone backup, or damaged: ") + ZSTD_getErrorName(outcome));
        return {};
    }

    Fd m_file;
    ZSTD_DCtx* m_stream;
    std::string m_input = std::string(piece, '\0');
    ZSTD_inBuffer m_in{nullptr, 0, 0};
    std::string m_buffer;
    size_t m_at = 0;
};

Result<int64_t> tar_size(std::string_view header) {
    if (static_cast<unsigned char>(header[124]) == 0x80) {
        int64_t size = 0;
        for (size_t i = 128; i < 136; ++i) size = size << 8 | static_cast<unsigned char>(header[i]);
        return size < 0 ? Result<int64_t>(corrupt("the backup is damaged: bad size")) : size;
    }
    int64_t size = 0;
    for (size_t i = 124; i < 135; ++i) {
        if (header[i] < '0' || header[i] > '7') return corrupt("the backup is damaged: bad size");
        size = size * 8 + (header[i] - '0');
    }
    return size;
}

std::string name_in(const std::string& header) {
    const std::string prefix(header.data() + 345, ::strnlen(header.data() + 345, 155));
    const std::string name(header.data(), ::strnlen(header.data(), 100));
    return prefix.empty() ? name : prefix + "/" + name;
}

// The header of the next file, which must have this name.
Result<int64_t> expect_file(ArchiveReader& archive, const std::string& name) {
    const std::string header = TRY(archive.take(block));
    if (name_in(header) != name) return corrupt("not a Hone backup: " + name + " is not where it belongs");
    return tar_size(header);
}

// The hash of what was written.
Result<std::string> unpack(ArchiveReader& archive, const BackupFile& file, const std::string& path) {
    const int64_t size = TRY(expect_file(archive, file.name));
    if (size != file.bytes)
        return corrupt("the backup is damaged: " + file.name + " has another size than in its manifest");
    TRY(make_directories(path.substr(0, path.rfind('/')), 0700));
    const Fd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    if (!out.is_open()) return system_error("write " + path, errno);
    crypto::Hasher hasher;
    for (int64_t left = size; left > 0;) {
        const auto bytes = TRY(archive.take(static_cast<size_t>(std::min<int64_t>(left, piece))));
        hasher.add(bytes);
        TRY(write_all(out.get(), bytes));
        left -= static_cast<int64_t>(bytes.size());
    }
    TRY(archive.take(padding(size).size()));
    return to_hex(hasher.finish());
}

Result<std::string> take_text(ArchiveReader& archive, const std::string& name) {
    const int64_t size = TRY(expect_file(archive, name));
    if (size > static_cast<int64_t>(largest_manifest))
        return corrupt("not a Hone backup: its " + name + " is too large");
    std::string text = TRY(archive.take(static_cast<size_t>(size)));
    TRY(archive.take(padding(size).size()));
    return text;
}

template <class T>
Result<T> take_json(ArchiveReader& archive, const std::string& name) {
    auto read = json::read<T>(TRY(take_text(archive, name)));
    if (!read.ok()) return corrupt("the backup is damaged: " + name + ": " + read.error().message);
    return std::move(read.value());
}

Result<Manifest> take_manifest(ArchiveReader& archive) {
    auto manifest = TRY(take_json<Manifest>(archive, "manifest.json"));
    if (manifest.format < 1 || manifest.format > newest_format)
        return conflict("this backup was made by a newer Hone (" + manifest.hone_version + "): upgrade hone first");
    std::set<std::string_view> names;
    for (const BackupFile& file : manifest.files) {
        const bool is_span_file = manifest.format >= 2 && file.name.starts_with("telemetry/") &&
                                  telemetry::is_snapshot_file_name(std::string_view(file.name).substr(10));
        const bool is_kept_file = manifest.format >= 3 && is_kept_file_name(file.name);
        if ((file.name != "hone.db" && !is_span_file && !is_kept_file) || file.bytes < 0 ||
            !names.insert(file.name).second)
            return corrupt("not a Hone backup: unexpected files");
    }
    if (!names.contains("hone.db")) return corrupt("not a Hone backup: it holds no database");
    return manifest;
}

// All files below `directory`, each with the right hash.
Result<> unpack_all(ArchiveReader& archive, const Manifest& manifest, const std::string& directory) {
    std::map<std::string, std::string> hashes;
    for (const BackupFile& file : manifest.files)
        hashes[file.name] = TRY(unpack(archive, file, directory + "/" + file.name));
    std::map<std::string, std::string> wanted;
    if (manifest.format == 1)
        wanted["hone.db"] = manifest.files[0].blake2b;
    else
        for (const FileHash& hash : TRY(take_json<std::vector<FileHash>>(archive, "hashes.json")))
            wanted[hash.name] = hash.blake2b;
    for (const auto& [name, hash] : hashes)
        if (wanted[name] != hash)
            return corrupt("the backup is damaged: " + name + " has another hash than in its manifest");
    const Fd files(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!files.is_open() || ::syncfs(files.get()) != 0) return system_error("sync " + directory, errno);
    return {};
}

// The database last: as long as there is no database, the restore can be repeated.
Result<> move_into_place(const std::string& from, const std::string& data_dir) {
    TRY(move_kept_files(from, data_dir));
    for (const char* name : {"/telemetry", "/hone.db"})
        if (file_exists(from + name) && ::rename((from + name).c_str(), (data_dir + name).c_str()) != 0)
            return system_error("rename " + from + name, errno);
    const Fd directory(::open(data_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.is_open() || ::fsync(directory.get()) != 0) return system_error("sync " + data_dir, errno);
    return {};
}

} // namespace

Result<std::unique_ptr<net::BodySource>> open_backup(sql::Database& database, telemetry::Telemetry* spans,
                                                     const std::string& data_dir, const Clock& clock,
                                                     int64_t schema_version, const std::string& hone_version) {
    Material material;
    // Spans before the database: then it knows every project that has some.
    if (spans != nullptr) {
        material.spans = TRY(telemetry::SpanSnapshot::take(*spans));
        for (const auto& file : material.spans->files())
            material.files.push_back({"telemetry/" + file.name, file.path, file.bytes});
    }
    material.database_copy = data_dir + "/backup-" + make_ulid(clock.now()) + ".tmp";
    TRY(database.backup_to(material.database_copy));
    struct stat status {};
    if (::stat(material.database_copy.c_str(), &status) != 0)
        return system_error("open " + material.database_copy, errno);
    material.files.insert(material.files.begin(), {"hone.db", material.database_copy, status.st_size});
    // After the database: every file that it names is there.
    material.kept = TRY(FileSnapshot::take(data_dir, material.database_copy + "-files"));
    for (const auto& file : material.kept.files()) material.files.push_back({file.name, file.path, file.bytes});
    Manifest manifest{newest_format, hone_version, schema_version, clock.now(), {}};
    for (const Entry& entry : material.files) manifest.files.push_back({entry.name, entry.bytes, ""});
    const std::string text = json::print_pretty(json::to_value(manifest));
    const auto size = static_cast<int64_t>(text.size());
    return std::unique_ptr<net::BodySource>(
        std::make_unique<BackupSource>(std::move(material), tar_header("manifest.json", size) + text + padding(size)));
}

Result<Restored> restore_backup(const std::string& path, const std::string& data_dir) {
    TRY(make_directories(data_dir, 0700));
    const auto lock = TRY(sql::DirectoryLock::acquire(data_dir));
    if (file_exists(data_dir + "/hone.db"))
        return conflict(data_dir + " holds a database already: move it away first, or restore into another --data-dir");
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return system_error("open " + path, errno);
    ArchiveReader archive(std::move(file));
    const Manifest manifest = TRY(take_manifest(archive));
    std::error_code failed;
    const bool has_spans = std::any_of(manifest.files.begin(), manifest.files.end(),
                                       [](const BackupFile& entry) { return entry.name.starts_with("telemetry/"); });
    if (has_spans) { // without a database no caller could read these spans; or it is a broken restore
        if (file_exists(data_dir + "/telemetry/engine/data"))
            return conflict(data_dir + " holds spans already: move " + data_dir + "/telemetry away first");
        std::filesystem::remove_all(data_dir + "/telemetry", failed);
    }
    const std::string beside = data_dir + "/restoring";
    std::filesystem::remove_all(beside, failed);
    TRY(make_directories(beside, 0700));
    auto outcome = unpack_all(archive, manifest, beside);
    if (outcome.ok()) outcome = move_into_place(beside, data_dir);
    std::filesystem::remove_all(beside, failed);
    if (!outcome.ok()) return std::move(outcome).error();
    int64_t bytes = 0;
    for (const BackupFile& entry : manifest.files) bytes += entry.name.starts_with("telemetry/") ? entry.bytes : 0;
    return Restored{to_text(manifest.created_at), manifest.hone_version, static_cast<int64_t>(manifest.files.size()),
                    bytes};
}

} // namespace hone::server
