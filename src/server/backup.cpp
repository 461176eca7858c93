#include "server/backup.h"

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "server/server.h"
#include "json/json.h"

#include <array>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

namespace hone::server {

namespace {

constexpr size_t block = 512; // of a tar file
constexpr size_t piece = 256 << 10;
constexpr size_t largest_manifest = 1 << 20;

struct BackupFile {
    std::string name;
    int64_t bytes = 0;
    std::string blake2b;
    static constexpr std::tuple fields{Field{"name", &BackupFile::name, ""}, Field{"bytes", &BackupFile::bytes, ""},
                                       Field{"blake2b", &BackupFile::blake2b, ""}};
};

struct Manifest {
    int64_t format = 1;
    std::string hone_version;
    int64_t schema_version = 0;
    Time created_at{};
    std::vector<BackupFile> files;
    static constexpr std::tuple fields{
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
    put(0, name);
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

// Streams the archive: header, manifest, header, database, end; compressed on the way.
class BackupSource final : public net::BodySource {
public:
    BackupSource(std::string copy, Fd file, int64_t size, std::string start)
        : m_copy(std::move(copy)),
          m_file(std::move(file)),
          m_left(size),
          m_size(size),
          m_pending(std::move(start)),
          m_stream(ZSTD_createCCtx()) {
        ZSTD_CCtx_setParameter(m_stream, ZSTD_c_compressionLevel, 3);
        ZSTD_CCtx_setParameter(m_stream, ZSTD_c_checksumFlag, 1);
    }
    ~BackupSource() override {
        ZSTD_freeCCtx(m_stream);
        ::unlink(m_copy.c_str());
    }

    Result<std::string> next() override {
        while (!m_done) {
            std::string input = std::move(m_pending);
            m_pending.clear();
            if (input.empty() && m_left > 0) {
                input.resize(piece);
                const ssize_t count = ::read(m_file.get(), input.data(), input.size());
                if (count <= 0) return system_error("read the copy of the database", errno);
                input.resize(static_cast<size_t>(count));
                m_left -= count;
            } else if (input.empty()) {
                input = padding(m_size) + std::string(2 * block, '\0');
                m_done = true;
            }
            if (std::string out = TRY(compress(input, m_done)); !out.empty()) return out;
        }
        return std::string();
    }

private:
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

    const std::string m_copy;
    Fd m_file;
    int64_t m_left;
    const int64_t m_size;
    std::string m_pending;
    bool m_done = false;
    ZSTD_CCtx* m_stream;
};

// A copy that goes away unless its source took it over.
class Copy {
public:
    explicit Copy(std::string path) : m_path(std::move(path)) {}
    ~Copy() {
        if (!m_path.empty()) ::unlink(m_path.c_str());
    }
    Copy(const Copy&) = delete;
    Copy& operator=(const Copy&) = delete;
    const std::string& path() const { return m_path; }
    std::string release() { return std::exchange(m_path, {}); }

private:
    std::string m_path;
};

// Reads a compressed archive piece by piece; every length is checked before it is believed.
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

// The header of the next file, which must have this name.
Result<int64_t> expect_file(ArchiveReader& archive, const std::string& name) {
    const std::string header = TRY(archive.take(block));
    if (std::string(header.c_str()) != name) return corrupt("not a Hone backup: " + name + " is not where it belongs");
    return tar_size(header);
}

Result<> unpack(ArchiveReader& archive, const BackupFile& file, const std::string& path) {
    const int64_t size = TRY(expect_file(archive, file.name));
    if (size != file.bytes)
        return corrupt("the backup is damaged: " + file.name + " has another size than its manifest says");
    const Fd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (!out.is_open()) return system_error("write " + path, errno);
    crypto::Hasher hasher;
    for (int64_t left = size; left > 0;) {
        const auto bytes = TRY(archive.take(static_cast<size_t>(std::min<int64_t>(left, piece))));
        hasher.add(bytes);
        TRY(write_all(out.get(), bytes));
        left -= static_cast<int64_t>(bytes.size());
    }
    TRY(archive.take(padding(size).size()));
    if (to_hex(hasher.finish()) != file.blake2b)
        return corrupt("the backup is damaged: " + file.name + " has another hash than its manifest says");
    if (::fsync(out.get()) != 0) return system_error("write " + path, errno);
    return {};
}

} // namespace

Result<std::unique_ptr<net::BodySource>> open_backup(sql::Database& database, const std::string& data_dir,
                                                     const Clock& clock, int64_t schema_version) {
    Copy copy(data_dir + "/backup-" + make_ulid(clock.now()) + ".tmp");
    TRY(database.backup_to(copy.path()));
    Fd file(::open(copy.path().c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return system_error("open " + copy.path(), errno);
    crypto::Hasher hasher;
    int64_t size = 0;
    std::string buffer(piece, '\0');
    for (ssize_t count = 0; (count = ::read(file.get(), buffer.data(), buffer.size())) != 0; size += count) {
        if (count < 0) return system_error("read " + copy.path(), errno);
        hasher.add(std::string_view(buffer).substr(0, static_cast<size_t>(count)));
    }
    ::lseek(file.get(), 0, SEEK_SET);
    Manifest manifest{1, version, schema_version, clock.now(), {{"hone.db", size, to_hex(hasher.finish())}}};
    const std::string text = json::print_pretty(json::to_value(manifest));
    const auto text_size = static_cast<int64_t>(text.size());
    std::string start =
        tar_header("manifest.json", text_size) + text + padding(text_size) + tar_header("hone.db", size);
    return std::unique_ptr<net::BodySource>(
        std::make_unique<BackupSource>(copy.release(), std::move(file), size, std::move(start)));
}

Result<Restored> restore_backup(const std::string& path, const std::string& data_dir) {
    TRY(make_directories(data_dir, 0700));
    const auto lock = TRY(sql::DirectoryLock::acquire(data_dir));
    if (file_exists(data_dir + "/hone.db"))
        return conflict(data_dir + " holds a database already: move it away first, or restore into another --data-dir");
    Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) return system_error("open " + path, errno);
    ArchiveReader archive(std::move(file));
    const int64_t manifest_size = TRY(expect_file(archive, "manifest.json"));
    if (manifest_size > static_cast<int64_t>(largest_manifest))
        return corrupt("not a Hone backup: its manifest is too large");
    const std::string text = TRY(archive.take(static_cast<size_t>(manifest_size)));
    TRY(archive.take(padding(manifest_size).size()));
    const auto manifest = TRY(json::read<Manifest>(text));
    if (manifest.format != 1)
        return conflict("this backup was made by a newer Hone (" + manifest.hone_version + "): upgrade hone first");
    if (manifest.files.size() != 1 || manifest.files[0].name != "hone.db")
        return corrupt("not a Hone backup: unexpected files");
    const std::string beside = data_dir + "/hone.db.restoring";
    if (auto outcome = unpack(archive, manifest.files[0], beside); !outcome.ok()) {
        ::unlink(beside.c_str());
        return std::move(outcome).error();
    }
    if (::rename(beside.c_str(), (data_dir + "/hone.db").c_str()) != 0) return system_error("rename " + beside, errno);
    const Fd directory(::open(data_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.is_open() || ::fsync(directory.get()) != 0) return system_error("sync " + data_dir, errno);
    return Restored{to_text(manifest.created_at), manifest.hone_version, static_cast<int64_t>(manifest.files.size())};
}

} // namespace hone::server
