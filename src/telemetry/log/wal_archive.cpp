// The part of the write-ahead log that moves closed segments into an archive while they fill the disk, and brings each
// back when it is read. A note beside the segment states where it is: NNN.cold, written before the segment is sent, so
// that nothing stays in the archive without a note.
#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "telemetry/log/wal.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <unistd.h>

namespace hone::telemetry {

namespace {

constexpr std::string_view note_mark = "HONECOLD1";
constexpr std::string_view no_hash = "-";
constexpr size_t longest_note = 4096;

struct ArchiveNote {
    std::string object;
    uint64_t first = 0;
    uint64_t last = 0;
    size_t bytes = 0;
    std::string sha256; // empty: it may not be there as a whole
};

std::string note_of(const std::string& segment_path) {
    return segment_path.substr(0, segment_path.size() - std::string_view(".wal").size()) + ".cold";
}

std::string encode_note(const ArchiveNote& note) {
    return std::string(note_mark) + " " + note.object + " " + std::to_string(note.first) + " " +
           std::to_string(note.last) + " " + std::to_string(note.bytes) + " " +
           (note.sha256.empty() ? std::string(no_hash) : note.sha256) + "\n";
}

Result<ArchiveNote> decode_note(std::string_view text) {
    const std::vector<std::string_view> words = split(trim(text), ' ');
    if (words.size() != 6 || words[0] != note_mark || words[1].empty()) return corrupt("not a note of a segment");
    ArchiveNote note;
    note.object = words[1];
    const int64_t first = TRY(parse_integer(words[2])), last = TRY(parse_integer(words[3])),
                  bytes = TRY(parse_integer(words[4]));
    if (first < 1 || last < first || bytes < 0) return corrupt("not a note of a segment");
    note.first = static_cast<uint64_t>(first);
    note.last = static_cast<uint64_t>(last);
    note.bytes = static_cast<size_t>(bytes);
    if (words[5] != no_hash) note.sha256 = words[5];
    return note;
}

} // namespace

// The newest one that is not written to: the oldest is loaded first.
std::optional<Wal::Segment> Wal::choose_for_archive() {
    const Lock lock(m_mutex);
    if (m_stats.disk_bytes <= m_options.cap_bytes / 2 || m_stats.archived_bytes >= m_options.archive_bytes) return {};
    for (size_t i = m_segments.size(); i-- > 1;) {
        Segment& segment = m_segments[i];
        const bool is_written_to = i + 1 == m_segments.size() && m_writing;
        if (is_written_to || !segment.is_here || segment.places.empty()) continue;
        // Now, so that it is removed when the segment is released meanwhile.
        if (segment.object.empty())
            segment.object = std::filesystem::path(segment.path).stem().string() + "-" + crypto::random_token(12);
        return segment;
    }
    return {};
}

Result<bool> Wal::archive_step() {
    if (!m_options.archive) return false;
    if (TRY(remove_released())) return true;
    const std::optional<Segment> chosen = choose_for_archive();
    if (!chosen) return false;
    ArchiveNote note{chosen->object, chosen->first, chosen->places.back().sequence, chosen->bytes, ""};
    TRY(write_file(note_of(chosen->path), encode_note(note)));
    note.sha256 = TRY(m_options.archive->put(note.object, chosen->path, [this] { return m_ends.load(); }));
    TRY(write_file(note_of(chosen->path), encode_note(note)));
    {
        const Lock lock(m_mutex);
        const auto place = std::find_if(m_segments.begin(), m_segments.end(),
                                        [&](const Segment& each) { return each.first == note.first; });
        if (place == m_segments.end() || place == m_segments.begin()) return true; // released, or read now
        place->is_here = false;
        place->last = note.last;
        place->sha256 = note.sha256;
        place->places = {};
        m_stats.disk_bytes -= place->bytes;
        m_stats.archived_bytes += place->bytes;
    }
    if (::unlink(chosen->path.c_str()) != 0 && errno != ENOENT) return system_error("delete " + chosen->path, errno);
    TRY(sync_directory(m_options.directory));
    log(Level::info, "a part of the span log is in the object store now",
        {{"frames", note.last - note.first + 1}, {"bytes", note.bytes}});
    return true;
}

// First the object, then the note that states its name.
Result<bool> Wal::remove_released() {
    std::pair<std::string, std::string> released;
    {
        const Lock lock(m_mutex);
        if (m_released.empty()) return false;
        released = m_released.front();
    }
    TRY(m_options.archive->remove(released.first));
    if (::unlink(released.second.c_str()) != 0 && errno != ENOENT)
        return system_error("delete " + released.second, errno);
    const Lock lock(m_mutex);
    m_released.pop_front();
    return true;
}

void Wal::note_released(const Segment& segment) {
    if (!segment.object.empty()) m_released.emplace_back(segment.object, note_of(segment.path));
}

// The first segment that has frames from `from` on is on the disk when it returns.
Result<> Wal::bring_back(uint64_t from) {
    for (;;) {
        Segment wanted;
        {
            const Lock lock(m_mutex);
            const auto place = std::find_if(m_segments.begin(), m_segments.end(),
                                            [&](const Segment& each) { return each.last_sequence() >= from; });
            if (place == m_segments.end() || place->is_here) return {};
            wanted = *place;
        }
        if (!m_options.archive)
            return unavailable("a part of the span log is in the object store that was set before: set object_store "
                               "to it");
        SegmentScan scan;
        const auto fetched = fetch(wanted, scan);
        if (!fetched.ok() && fetched.error().code != Code::not_found && fetched.error().code != Code::corrupt)
            return fetched;
        const Lock lock(m_mutex);
        const auto place = std::find_if(m_segments.begin(), m_segments.end(),
                                        [&](const Segment& each) { return each.first == wanted.first; });
        m_stats.archived_bytes -= wanted.bytes;
        if (!fetched.ok()) { // what was acknowledged is not there any more: the rest is loaded
            log(Level::error, "a part of the span log in the object store is lost: its spans are missing",
                {{"why", fetched.error().message}, {"object", wanted.object}, {"bytes", wanted.bytes}});
            m_stats.damaged_bytes += wanted.bytes;
            const std::string note = note_of(wanted.path);
            if (::rename(note.c_str(), (note + ".damaged").c_str()) != 0)
                log(Level::warning, "a note of the span log stays", {{"file", note}});
            m_segments.erase(place);
            continue;
        }
        place->is_here = true;
        place->places = std::move(scan.places);
        m_stats.disk_bytes += wanted.bytes;
        return {};
    }
}

Result<> Wal::fetch(const Segment& wanted, SegmentScan& scan) {
    const std::string path = wanted.path + ".fetched";
    ::unlink(path.c_str());
    auto got = m_options.archive->get(wanted.object, wanted.sha256, path, [this] { return m_ends.load(); });
    if (got.ok()) {
        auto scanned = scan_file(path);
        if (!scanned.ok())
            got = std::move(scanned).error();
        else if (scanned.value().places.empty() || scanned.value().places.back().sequence != wanted.last)
            got = corrupt("it has other frames than were sent");
        else
            scan = std::move(scanned).value();
    }
    if (!got.ok()) {
        ::unlink(path.c_str());
        return got;
    }
    if (::rename(path.c_str(), wanted.path.c_str()) != 0) return system_error("rename " + path, errno);
    return sync_directory(m_options.directory);
}

Result<> Wal::recover_archived(uint64_t from) {
    std::vector<std::string> notes;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(m_options.directory, failed))
        if (entry.path().extension() == ".cold")
            notes.push_back(entry.path().string());
        else if (entry.path().extension() == ".fetched")
            ::unlink(entry.path().c_str());
    if (failed) return internal("cannot list " + m_options.directory, failed.message());
    for (const std::string& path : notes) {
        const auto note = decode_note(TRY(read_file(path, longest_note)));
        if (!note.ok()) {
            log(Level::error, "a note of the span log is damaged: the spans of its segment are missing",
                {{"file", path}});
            if (::rename(path.c_str(), (path + ".damaged").c_str()) != 0) return system_error("rename " + path, errno);
            continue;
        }
        const ArchiveNote& found = note.value();
        const auto here = std::find_if(m_segments.begin(), m_segments.end(),
                                       [&](const Segment& each) { return each.first == found.first; });
        m_next = std::max(m_next, found.last + 1);
        if (here != m_segments.end()) { // on the disk too: killed before it was deleted, or after it was brought back
            here->object = found.object;
        } else if (found.last < from || found.sha256.empty()) {
            m_released.emplace_back(found.object, path);
        } else {
            const std::string segment = path.substr(0, path.size() - std::string_view(".cold").size()) + ".wal";
            m_segments.push_back(
                {found.first, segment, found.bytes, {}, found.last, found.object, found.sha256, false});
            m_stats.archived_bytes += found.bytes;
        }
    }
    std::sort(m_segments.begin(), m_segments.end(),
              [](const Segment& one, const Segment& other) { return one.first < other.first; });
    return {};
}

std::vector<std::pair<uint64_t, uint64_t>> Wal::archived_ranges() const {
    const Lock lock(m_mutex);
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (const Segment& segment : m_segments)
        if (!segment.is_here) ranges.emplace_back(segment.first, segment.last);
    return ranges;
}

} // namespace hone::telemetry
