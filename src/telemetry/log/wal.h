// The write-ahead log in front of the span engine. append() returns when the payload is on disk (group commit: many
// callers share one fdatasync); the loader reads frames in order and releases what the engine holds. A torn tail is
// cut on open, damage in the middle is reported and stepped over. Files of released segments are written again: a sync
// that changes no size waits for no journal of the file system, which the engine keeps busy. While the log fills more
// than half of its cap, closed segments go to an archive, if there is one, and come back when they are read. Call
// order: open, (append | read | release | archive_step)*, destroy. append: any thread; read, wait and release: one
// thread, the loader's; archive_step: one other thread.
#pragma once

#include "base/file.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/time.h"
#include "telemetry/log/segment_archive.h"
#include "telemetry/log/wal_segment.h"

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace hone::telemetry {

struct DiskSpace {
    int64_t free = 0;
    int64_t total = 0; // 0: unknown
};

// How much of a disk stays free, and beside it for `expected_writes` bytes: spans that wait in the log, and merges,
// which write a part before they remove those that it replaces.
int64_t kept_free(int64_t total, int64_t expected_writes);

struct WalOptions {
    std::string directory;
    size_t segment_bytes = 64 << 20;
    size_t spare_segments = 3;            // released files that are kept to be written again
    size_t extension_bytes = 2 << 20;     // by which a new file grows, so that most syncs change no size
    size_t cap_bytes = size_t{4} << 30;   // on disk; over it append returns busy
    size_t pending_bytes = 64 << 20;      // waiting for the disk; over it append returns busy
    size_t commit_bytes = 4 << 20;        // commit immediately when this much waits
    Duration commit_interval{20'000'000}; // the longest that a commit waits for further callers
    std::function<int(int)> sync;         // for tests that let it fail; fdatasync unless set
    std::function<DiskSpace()> disk;      // for tests; that of the directory unless set
    SegmentArchive* archive = nullptr;    // for closed segments while the log fills more than half of cap_bytes
    size_t archive_bytes = 0;             // the most that may be there
};

struct WalStats {
    uint64_t next_sequence = 0; // of the next frame
    size_t disk_bytes = 0;
    size_t archived_bytes = 0; // in the archive, and not on the disk
    size_t segments = 0;
    size_t torn_bytes = 0;    // cut from the tail on open
    size_t damaged_bytes = 0; // stepped over on open: acknowledged data may be missing
    uint64_t commits = 0;
};

class Wal {
public:
    // Frames below `from` are already in the engine.
    static Result<std::unique_ptr<Wal>> open(WalOptions options, uint64_t from);
    ~Wal();

    // Durable when it returns a sequence number. busy: over a cap, try later. unavailable: the disk refused it, or has
    // little space left.
    Result<uint64_t> append(std::string_view payload);

    struct Frame {
        uint64_t sequence;
        std::string_view payload;
    };
    // Frames, mapped from the files, so that nothing is copied: valid until release().
    struct Frames {
        std::vector<Frame> list;
        std::vector<std::shared_ptr<const void>> files; // what the payloads point to
    };
    // Durable frames from `from` on, in order, until `most_bytes` are read (at least one frame, if there is one).
    Result<Frames> read(uint64_t from, size_t most_bytes);
    // The same without those that are in the archive only.
    Result<Frames> read_here(uint64_t from, size_t most_bytes) { return read_files(from, most_bytes, false); }
    // First and last frame of each segment that is in the archive only.
    std::vector<std::pair<uint64_t, uint64_t>> archived_ranges() const;
    // Until a frame `from` or later is durable, the time is over or stop is requested; true when there is one.
    bool wait(uint64_t from, Duration most, std::stop_token stop);
    // Deletes segments that hold only frames below `upto`.
    Result<> release(uint64_t upto);

    // What the engine, on the same disk, is going to write: merges, and what waits here. Any thread.
    void set_expected_writes(int64_t bytes);

    WalStats stats() const;
    // Of the frames from `from` on, as they lie on the disk. Any thread.
    size_t bytes_from(uint64_t from) const;

    // Sends one segment to the archive, or removes a released one from it; false when there is nothing to do.
    Result<bool> archive_step();
    // What is under way with the archive ends early.
    void end_archiving() { m_ends = true; }

    // Links every segment into the directory (of the same file system); each with how much of it is durable now.
    // Unavailable while a segment is in the archive only.
    Result<std::vector<std::pair<std::string, size_t>>> link_to(const std::string& directory) const;

private:
    struct Segment {
        uint64_t first = 0;
        std::string path;
        size_t bytes = 0;                         // durable
        std::vector<SegmentScan::Place> places{}; // of frames that may still be read
        uint64_t last = 0;                        // frame, of one that is not here
        std::string object{};                     // its name in the archive, if it may be there
        std::string sha256{};                     // there
        bool is_here = true;                      // on the disk
        uint64_t last_sequence() const { return !is_here ? last : places.empty() ? 0 : places.back().sequence; }
    };
    struct Waiting { // lives on the stack of append
        std::string_view payload;
        uint64_t sequence = 0;
        bool done = false;
        Error error;
        bool failed = false;
    };

    explicit Wal(WalOptions options) : m_options(std::move(options)) {}
    Result<> check_disk();
    Result<> recover(uint64_t from);
    Result<> recover_segment(const std::string& path, bool last, uint64_t from) REQUIRES_LOCK(m_mutex);
    Result<> start_segment(uint64_t first);
    Result<Fd> reuse_file(uint64_t first, const std::string& path);
    void extend(size_t end);
    void shrink();
    bool keep_spare(const std::string& path) REQUIRES_LOCK(m_mutex);
    Result<Frames> read_files(uint64_t from, size_t most_bytes, bool stops_at_archived);
    static Result<SegmentScan> scan_file(const std::string& path);
    std::optional<Segment> choose_for_archive();
    Result<> recover_archived(uint64_t from) REQUIRES_LOCK(m_mutex);
    Result<> bring_back(uint64_t from);
    Result<> fetch(const Segment& wanted, SegmentScan& scan);
    Result<bool> remove_released();
    void note_released(const Segment& segment) REQUIRES_LOCK(m_mutex);
    Result<> write_group(const std::vector<Waiting*>& group);
    Result<> write_frames(const std::vector<std::string>& heads, const std::vector<Waiting*>& group);
    void commit_loop(std::stop_token stop);
    void commit(std::vector<Waiting*> group);

    WalOptions m_options;
    std::atomic<int64_t> m_expected_writes{0};
    std::atomic<int64_t> m_disk_due{0};   // when the disk is read again, by the steady clock
    std::atomic<int64_t> m_disk_short{0}; // bytes that it has too few
    mutable Mutex m_mutex;
    Condition m_work;    // something waits for the committer
    Condition m_durable; // a commit is over
    std::vector<Waiting*> m_waiting GUARDED_BY(m_mutex);
    size_t m_waiting_bytes GUARDED_BY(m_mutex) = 0;
    std::deque<Segment> m_segments GUARDED_BY(m_mutex);
    WalStats m_stats GUARDED_BY(m_mutex);
    uint64_t m_next GUARDED_BY(m_mutex) = 1;
    bool m_writing GUARDED_BY(m_mutex) = false; // the last segment is the one being written
    bool m_closed GUARDED_BY(m_mutex) = false;
    std::vector<std::string> m_spares GUARDED_BY(m_mutex);                          // files that can be written again
    std::deque<std::pair<std::string, std::string>> m_released GUARDED_BY(m_mutex); // in the archive; their notes
    std::atomic<bool> m_ends{false};

    Fd m_file;               // the last segment; only the committer touches it
    size_t m_file_bytes = 0; // its size
    bool m_file_broken = false;
    std::jthread m_committer; // last: joins before the rest goes
};

} // namespace hone::telemetry
