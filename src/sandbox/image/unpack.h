// Writes a tar archive to a directory: files, directories and links that stay below it, with OCI white-outs; device
// nodes, owners and set-id bits are left out. Made for a sandbox: `hone unpack` runs it there on an archive that no one
// trusts, with the image's directory as the only place it can write. Single-threaded.
#pragma once

#include "base/fields.h"
#include "base/file.h"
#include "base/result.h"
#include "sandbox/image/tar_reader.h"

#include <set>
#include <string>

namespace hone::sandbox {

struct UnpackReport {
    int64_t entries = 0;
    int64_t bytes = 0;
    int64_t skipped = 0; // devices, pipes and links to what is not there
    static constexpr Pack fields{
        Field{"entries", &UnpackReport::entries, "Files, directories and links made."},
        Field{"bytes", &UnpackReport::bytes, "Content of files."},
        Field{"skipped", &UnpackReport::skipped, "Devices and pipes, and hard links to nothing."},
    };
};

class Unpacker final : public TarSink {
public:
    // `whiteouts`: the archive is a layer over what is in the directory already.
    Unpacker(Fd directory, bool whiteouts) : m_root(std::move(directory)), m_whiteouts(whiteouts) {}

    Result<> begin(const TarEntry& entry) override;
    Result<> data(std::string_view bytes) override;
    Result<> end() override;
    const UnpackReport& report() const { return m_report; }

private:
    struct Place {
        Fd parent;
        std::string name;
    };
    Result<Place> open_parent(const std::string& path, bool create);
    Result<> make_room(const Place& place, const TarEntry& entry);
    Result<> make(const Place& place, const TarEntry& entry);
    Result<> make_hard_link(const Place& place, const TarEntry& entry);
    Result<bool> take_whiteout(const TarEntry& entry);
    Result<> hide_lower(const std::string& directory);

    const Fd m_root;
    const bool m_whiteouts;
    Fd m_file;
    int64_t m_seconds = 0;
    std::set<std::string> m_made; // by this archive; kept only where white-outs count
    UnpackReport m_report;
};

// Unpacks `input` (plain, gzip or zstd) into `directory`.
Result<UnpackReport> unpack_stream(int input, Fd directory, bool whiteouts, const TarLimits& limits);

} // namespace hone::sandbox
