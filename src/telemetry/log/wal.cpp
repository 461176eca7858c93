#include "telemetry/log/wal.h"

#include "base/log.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <limits.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

namespace hone::telemetry {

namespace {

constexpr std::string_view spare_extension = ".free";

std::string segment_name(uint64_t first) {
    char name[32];
    std::snprintf(name, sizeof name, "%020llu.wal", static_cast<unsigned long long>(first));
    return name;
}

DiskSpace disk_space(const std::string& directory) {
    struct statvfs status {};
    if (::statvfs(directory.c_str(), &status) != 0) return {};
    const auto block = static_cast<int64_t>(status.f_frsize);
    return {static_cast<int64_t>(status.f_bavail) * block, static_cast<int64_t>(status.f_blocks) * block};
}

// A whole file as bytes, without reading it into memory.
class Mapping {
public:
    static Result<Mapping> open(const std::string& path) {
        const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
        if (!file.is_open()) return system_error("open " + path, errno);
        struct stat info {};
        if (::fstat(file.get(), &info) != 0) return system_error("stat " + path, errno);
        Mapping mapping;
        mapping.m_bytes = static_cast<size_t>(info.st_size);
        if (mapping.m_bytes == 0) return mapping;
        mapping.m_data = ::mmap(nullptr, mapping.m_bytes, PROT_READ, MAP_PRIVATE, file.get(), 0);
        if (mapping.m_data == MAP_FAILED) return system_error("map " + path, errno);
        return mapping;
    }
    Mapping(Mapping&& other) noexcept
        : m_data(std::exchange(other.m_data, MAP_FAILED)),
          m_bytes(std::exchange(other.m_bytes, 0)) {}
    ~Mapping() {
        if (m_data != MAP_FAILED) ::munmap(m_data, m_bytes);
    }
    std::string_view bytes() const {
        return m_data == MAP_FAILED ? std::string_view() : std::string_view(static_cast<const char*>(m_data), m_bytes);
    }

private:
    Mapping() = default;
    void* m_data = MAP_FAILED;
    size_t m_bytes = 0;
};

Result<> write_vector(int file, std::vector<iovec> pieces, off_t offset) {
    size_t done = 0;
    while (done < pieces.size()) {
        const int count = static_cast<int>(std::min<size_t>(pieces.size() - done, IOV_MAX));
        ssize_t written = ::pwritev(file, pieces.data() + done, count, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return system_error("write to the write-ahead log", errno);
        offset += written;
        while (done < pieces.size() && static_cast<size_t>(written) >= pieces[done].iov_len)
            written -= static_cast<ssize_t>(pieces[done++].iov_len);
        if (written > 0) {
            pieces[done].iov_base = static_cast<char*>(pieces[done].iov_base) + written;
            pieces[done].iov_len -= static_cast<size_t>(written);
        }
    }
    return {};
}

} // namespace

int64_t kept_free(int64_t total, int64_t expected_writes) {
    constexpr int64_t most = 1 << 30;
    return std::min(most, total / 20) + std::max<int64_t>(0, expected_writes);
}

Result<std::unique_ptr<Wal>> Wal::open(WalOptions options, uint64_t from) {
    TRY(make_directories(options.directory));
    if (!options.sync) options.sync = ::fdatasync;
    if (!options.disk) options.disk = [directory = options.directory] { return disk_space(directory); };
    std::unique_ptr<Wal> wal(new Wal(std::move(options)));
    TRY(wal->recover(std::max<uint64_t>(from, 1)));
    wal->m_committer = std::jthread([raw = wal.get()](std::stop_token stop) { raw->commit_loop(stop); });
    return wal;
}

Wal::~Wal() {
    m_committer.request_stop();
    {
        Lock lock(m_mutex);
        m_closed = true;
        m_work.notify_all();
    }
    if (m_committer.joinable()) m_committer.join();
    shrink();
}

Result<> Wal::recover(uint64_t from) {
    std::vector<std::string> paths;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(m_options.directory, failed))
        if (entry.path().extension() == ".wal")
            paths.push_back(entry.path().string());
        else if (entry.path().extension() == spare_extension) // its frames may have higher numbers than ours will have
            ::unlink(entry.path().c_str());
    if (failed) return internal("cannot list " + m_options.directory, failed.message());
    std::sort(paths.begin(), paths.end());
    const Lock lock(m_mutex);
    m_next = from;
    for (const std::string& path : paths) TRY(recover_segment(path, path == paths.back(), from));
    TRY(recover_archived(from));
    if (m_stats.damaged_bytes > 0)
        log(Level::error, "write-ahead log is damaged",
            {{"bytes", m_stats.damaged_bytes}, {"directory", m_options.directory}});
    if (m_stats.torn_bytes > 0) log(Level::warning, "write-ahead log had a torn tail", {{"bytes", m_stats.torn_bytes}});
    // Appending goes to a new segment: an old one is never written again, so what it holds cannot be made worse.
    return {};
}

Result<> Wal::recover_segment(const std::string& path, bool last, uint64_t from) {
    const Mapping mapping = TRY(Mapping::open(path));
    auto scanned = scan_segment(mapping.bytes());
    if (!scanned.ok()) { // an empty or half-written header: the file was just being created
        if (last && mapping.bytes().size() < wal_header_bytes) {
            ::unlink(path.c_str());
            return {};
        }
        m_stats.damaged_bytes += mapping.bytes().size();
        if (::rename(path.c_str(), (path + ".damaged").c_str()) != 0) return system_error("rename " + path, errno);
        return {};
    }
    SegmentScan& scan = scanned.value();
    m_next = std::max(m_next, scan.next_sequence);
    if (scan.damaged_bytes > 0) { // kept in a separate file for analysis
        std::error_code ignored;
        std::filesystem::copy_file(path, path + ".damaged", ignored);
        m_stats.damaged_bytes += scan.damaged_bytes;
    }
    if (scan.torn_bytes > 0 || scan.unused_bytes > 0) {
        if (last)
            m_stats.torn_bytes += scan.torn_bytes;
        else
            m_stats.damaged_bytes += scan.torn_bytes;
        if (::truncate(path.c_str(), static_cast<off_t>(scan.good_bytes)) != 0)
            return system_error("truncate " + path, errno);
    }
    if (scan.frames == 0 || scan.next_sequence <= from) {
        ::unlink(path.c_str());
        return {};
    }
    m_segments.push_back({scan.first_sequence, path, scan.good_bytes, std::move(scan.places)});
    m_stats.disk_bytes += scan.good_bytes;
    return {};
}

// A spare file with the header of the new segment. Its old frames are of this process and have lower sequence numbers:
// a scan steps over them.
Result<Fd> Wal::reuse_file(uint64_t first, const std::string& path) {
    std::string spare;
    {
        Lock lock(m_mutex);
        if (m_spares.empty()) return Fd();
        spare = std::move(m_spares.back());
        m_spares.pop_back();
    }
    Fd file(::open(spare.c_str(), O_WRONLY | O_CLOEXEC));
    struct stat info {};
    const std::string header = encode_segment_header(first);
    const bool is_ready =
        file.is_open() && ::fstat(file.get(), &info) == 0 &&
        ::pwrite(file.get(), header.data(), header.size(), 0) == static_cast<ssize_t>(header.size()) &&
        ::rename(spare.c_str(), path.c_str()) == 0;
    if (!is_ready) {
        ::unlink(spare.c_str());
        return Fd();
    }
    m_file_bytes = static_cast<size_t>(info.st_size);
    return file;
}

Result<> Wal::start_segment(uint64_t first) {
    shrink();
    m_file.reset();
    m_file_broken = false;
    const std::string path = m_options.directory + "/" + segment_name(first);
    Fd file = TRY(reuse_file(first, path));
    Result<> written;
    if (!file.is_open()) {
        file = Fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
        if (!file.is_open()) return system_error("create " + path, errno);
        written = write_all(file.get(), encode_segment_header(first));
        m_file_bytes = wal_header_bytes;
    }
    if (written.ok()) written = sync_directory(m_options.directory);
    if (!written.ok()) {
        ::unlink(path.c_str());
        return std::move(written).error();
    }
    m_file = std::move(file);
    Lock lock(m_mutex);
    m_segments.push_back({first, path, wal_header_bytes, {}});
    m_writing = true;
    m_stats.disk_bytes += wal_header_bytes;
    return {};
}

// Zeros after what was written, so that the next syncs change no size. A disk without room for them has room for less:
// then the file stays as it is.
void Wal::extend(size_t end) {
    m_file_bytes = std::max(m_file_bytes, end);
    const size_t most = std::min(m_options.segment_bytes, m_options.cap_bytes / 4);
    if (m_file_bytes > end || end >= most) return;
    const std::string zeros(std::min(m_options.extension_bytes, most - end), '\0');
    const ssize_t written = ::pwrite(m_file.get(), zeros.data(), zeros.size(), static_cast<off_t>(end));
    if (written > 0) m_file_bytes += static_cast<size_t>(written);
}

// The file of the last segment ends where its frames do.
void Wal::shrink() {
    if (!m_file.is_open()) return;
    size_t bytes = 0;
    {
        Lock lock(m_mutex);
        if (m_segments.empty()) return;
        bytes = m_segments.back().bytes;
    }
    if (m_file_bytes > bytes && ::ftruncate(m_file.get(), static_cast<off_t>(bytes)) != 0)
        log(Level::debug, "a segment of the write-ahead log stays longer than its frames");
    m_file_bytes = bytes;
}

void Wal::set_expected_writes(int64_t bytes) {
    m_expected_writes = bytes;
    m_disk_due = 0;
}

// Once a second the disk is read.
Result<> Wal::check_disk() {
    constexpr int64_t every = 1'000'000'000;
    const int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
    int64_t due = m_disk_due.load();
    if (now >= due && m_disk_due.compare_exchange_strong(due, now + every)) {
        const DiskSpace space = m_options.disk();
        m_disk_short =
            space.total == 0 ? 0 : std::max<int64_t>(0, kept_free(space.total, m_expected_writes) - space.free);
    }
    const int64_t missing = m_disk_short.load();
    if (missing == 0) return {};
    return unavailable(fmt::format(
        "the disk of the span store is almost full: free {} MB, or shorten the retention; until then spans are refused",
        missing / 1'000'000 + 1));
}

Result<uint64_t> Wal::append(std::string_view payload) {
    if (payload.size() > wal_payload_limit) return too_large("the request is too large for the write-ahead log");
    TRY(check_disk());
    Waiting waiting;
    waiting.payload = payload;
    Lock lock(m_mutex);
    if (m_closed) return unavailable("the span store is shutting down");
    if (m_stats.disk_bytes + m_waiting_bytes + payload.size() > m_options.cap_bytes)
        return busy("the write-ahead log is full: the span engine is too slow or not running");
    if (m_waiting_bytes + payload.size() > m_options.pending_bytes && m_waiting_bytes > 0)
        return busy("too many spans wait for the disk");
    m_waiting.push_back(&waiting);
    m_waiting_bytes += payload.size();
    m_work.notify_one();
    while (!waiting.done) m_durable.wait(m_mutex);
    if (waiting.failed) return std::move(waiting.error);
    return waiting.sequence;
}

void Wal::commit_loop(std::stop_token stop) {
    ::pthread_setname_np(::pthread_self(), "span-log");
    // A commit begins when as many callers wait as shared the one before, or when the interval is over: a lone sender
    // never waits for others, many senders share one commit.
    auto due = std::chrono::steady_clock::time_point::min();
    size_t expected = 1;
    for (;;) {
        std::vector<Waiting*> group;
        {
            Lock lock(m_mutex);
            while (m_waiting.empty() && !stop.stop_requested()) m_work.wait(m_mutex);
            if (m_waiting.empty()) return;
            while (m_waiting.size() < expected && m_waiting_bytes < m_options.commit_bytes && !stop.stop_requested() &&
                   std::chrono::steady_clock::now() < due)
                m_work.wait_until(m_mutex, due);
            group.swap(m_waiting);
            m_waiting_bytes = 0;
        }
        expected = group.size();
        commit(std::move(group));
        due = std::chrono::steady_clock::now() + m_options.commit_interval;
    }
}

void Wal::commit(std::vector<Waiting*> group) {
    auto written = write_group(group);
    Lock lock(m_mutex);
    if (!written.ok()) {
        log(Level::error, "write-ahead log cannot be written", {{"why", written.error().message}});
        m_file_broken = true; // its end is unknown now: the next group gets a new file
    }
    for (Waiting* waiting : group) {
        waiting->failed = !written.ok();
        if (waiting->failed) waiting->error = unavailable("spans cannot be stored now: " + written.error().message);
        waiting->done = true;
    }
    m_stats.commits++;
    m_durable.notify_all();
}

Result<> Wal::write_group(const std::vector<Waiting*>& group) {
    uint64_t next = 0;
    bool roll = false;
    {
        Lock lock(m_mutex);
        next = m_next;
        // Only whole segments are released: a cap that one segment fills would stay reached.
        roll = !m_file.is_open() || m_file_broken || m_segments.empty() ||
               m_segments.back().bytes >= std::min(m_options.segment_bytes, m_options.cap_bytes / 4);
    }
    if (roll) TRY(start_segment(next));
    std::vector<std::string> heads;
    for (Waiting* waiting : group) {
        waiting->sequence = next++;
        heads.push_back(encode_frame_head(waiting->sequence, waiting->payload));
    }
    {
        Lock lock(m_mutex);
        m_next = next; // also when the write fails: a sequence number is never used twice
    }
    return write_frames(heads, group);
}

Result<> Wal::write_frames(const std::vector<std::string>& heads, const std::vector<Waiting*>& group) {
    size_t offset = 0;
    {
        Lock lock(m_mutex);
        offset = m_segments.back().bytes;
    }
    std::vector<iovec> pieces;
    std::vector<SegmentScan::Place> places;
    size_t end = offset;
    for (size_t i = 0; i < group.size(); ++i) {
        const std::string_view payload = group[i]->payload;
        places.push_back({group[i]->sequence, end});
        pieces.push_back({const_cast<char*>(heads[i].data()), heads[i].size()});
        if (!payload.empty()) pieces.push_back({const_cast<char*>(payload.data()), payload.size()});
        end += heads[i].size() + payload.size();
    }
    auto written = write_vector(m_file.get(), std::move(pieces), static_cast<off_t>(offset));
    if (written.ok()) extend(end);
    if (written.ok() && m_options.sync(m_file.get()) != 0) written = system_error("sync the write-ahead log", errno);
    if (!written.ok()) { // nothing of this group is acknowledged: take it back as far as the disk lets us
        if (::ftruncate(m_file.get(), static_cast<off_t>(offset)) != 0)
            log(Level::warning, "write-ahead log keeps a torn group");
        return std::move(written).error();
    }
    Lock lock(m_mutex);
    Segment& segment = m_segments.back();
    segment.bytes = end;
    segment.places.insert(segment.places.end(), places.begin(), places.end());
    m_stats.disk_bytes += end - offset;
    return {};
}

Result<SegmentScan> Wal::scan_file(const std::string& path) {
    const Mapping mapping = TRY(Mapping::open(path));
    return scan_segment(mapping.bytes());
}

Result<Wal::Frames> Wal::read(uint64_t from, size_t most_bytes) {
    TRY(bring_back(from));
    return read_files(from, most_bytes, true);
}

Result<Wal::Frames> Wal::read_files(uint64_t from, size_t most_bytes, bool stops_at_archived) {
    struct Range {
        std::string path;
        std::vector<SegmentScan::Place> places;
    };
    std::vector<Range> ranges;
    {
        Lock lock(m_mutex);
        for (const Segment& segment : m_segments) {
            if (stops_at_archived && !segment.is_here && segment.last >= from) break;
            const auto first =
                std::lower_bound(segment.places.begin(), segment.places.end(), from,
                                 [](const auto& place, uint64_t sequence) { return place.sequence < sequence; });
            if (first != segment.places.end()) ranges.push_back({segment.path, {first, segment.places.end()}});
        }
    }
    Frames frames;
    size_t bytes = 0;
    for (const Range& range : ranges) {
        auto opened = Mapping::open(range.path);
        if (!opened.ok() && !frames.list.empty()) return frames; // it went to the archive meanwhile
        const auto mapping = std::make_shared<const Mapping>(TRY(std::move(opened)));
        frames.files.push_back(mapping);
        for (const auto& place : range.places) {
            WalFrame frame;
            if (!read_frame(mapping->bytes(), place.offset, frame) || frame.sequence != place.sequence)
                return corrupt("a frame of the write-ahead log changed on disk");
            if (bytes > 0 && bytes + frame.payload.size() > most_bytes) return frames;
            bytes += std::max<size_t>(frame.payload.size(), 1);
            frames.list.push_back({frame.sequence, frame.payload});
        }
    }
    return frames;
}

bool Wal::wait(uint64_t from, Duration most, std::stop_token stop) {
    const auto due = std::chrono::steady_clock::now() + most;
    const std::stop_callback wake(stop, [this] {
        Lock lock(m_mutex);
        m_durable.notify_all();
    });
    Lock lock(m_mutex);
    const auto is_there = [&]() REQUIRES_LOCK(m_mutex) {
        for (auto segment = m_segments.rbegin(); segment != m_segments.rend(); ++segment)
            if (const uint64_t last = segment->last_sequence(); last > 0) return last >= from;
        return false;
    };
    while (!is_there()) {
        if (stop.stop_requested() || std::chrono::steady_clock::now() >= due) return false;
        m_durable.wait_until(m_mutex, due);
    }
    return true;
}

Result<> Wal::release(uint64_t upto) {
    std::vector<std::string> paths;
    {
        Lock lock(m_mutex);
        while (!m_segments.empty()) {
            Segment& first = m_segments.front();
            const bool is_written_to = m_segments.size() == 1 && m_writing;
            const uint64_t last = first.last_sequence();
            if (is_written_to || (last > 0 && last >= upto)) break;
            if (first.is_here && !keep_spare(first.path)) paths.push_back(first.path);
            (first.is_here ? m_stats.disk_bytes : m_stats.archived_bytes) -= first.bytes;
            note_released(first);
            m_segments.pop_front();
        }
        if (!m_segments.empty()) { // positions of released frames are not needed any more
            auto& places = m_segments.front().places;
            places.erase(places.begin(),
                         std::lower_bound(places.begin(), places.end(), upto, [](const auto& place, uint64_t sequence) {
                             return place.sequence < sequence;
                         }));
        }
    }
    for (const std::string& path : paths)
        if (::unlink(path.c_str()) != 0 && errno != ENOENT) return system_error("delete " + path, errno);
    return {};
}

// A file of the usual size that nothing else refers to: a backup links segments, and reads them later.
bool Wal::keep_spare(const std::string& path) {
    struct stat info {};
    if (m_spares.size() >= m_options.spare_segments || ::stat(path.c_str(), &info) != 0) return false;
    if (info.st_nlink != 1 || static_cast<size_t>(info.st_size) < m_options.segment_bytes) return false;
    const std::string spare = path + std::string(spare_extension);
    if (::rename(path.c_str(), spare.c_str()) != 0) return false;
    m_spares.push_back(spare);
    return true;
}

WalStats Wal::stats() const {
    Lock lock(m_mutex);
    WalStats stats = m_stats;
    stats.next_sequence = m_next;
    stats.segments = m_segments.size();
    return stats;
}

size_t Wal::bytes_from(uint64_t from) const {
    Lock lock(m_mutex);
    size_t bytes = 0;
    for (auto segment = m_segments.rbegin(); segment != m_segments.rend(); ++segment) {
        const auto first =
            std::lower_bound(segment->places.begin(), segment->places.end(), from,
                             [](const auto& place, uint64_t sequence) { return place.sequence < sequence; });
        if (!segment->is_here && segment->last >= from) bytes += segment->bytes;
        if (first == segment->places.end()) continue;
        bytes += segment->bytes - first->offset;
    }
    return bytes;
}

Result<std::vector<std::pair<std::string, size_t>>> Wal::link_to(const std::string& directory) const {
    std::vector<std::pair<std::string, size_t>> links;
    Lock lock(m_mutex); // nothing is released meanwhile
    for (const Segment& segment : m_segments) {
        if (!segment.is_here)
            return unavailable("a part of the span log is in the object store until the span store has caught up: back "
                               "up then");
        const std::string link = directory + segment.path.substr(segment.path.rfind('/'));
        if (::link(segment.path.c_str(), link.c_str()) != 0) return system_error("link " + segment.path, errno);
        links.emplace_back(link, segment.bytes);
    }
    return links;
}

} // namespace hone::telemetry
