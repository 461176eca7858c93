#include "sandbox/local/event_tail.h"

#include "base/file.h"
#include "base/text.h"

#include <cerrno>
#include <cstdio>
#include <sys/stat.h>

namespace hone::sandbox {

namespace {

struct LogFile {
    int64_t inode = 0; // 0: there is none
    int64_t bytes = 0;
};

LogFile state_of(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return {};
    return {static_cast<int64_t>(status.st_ino), status.st_size};
}

// Remembers how far the events went, also when the last one was refused.
class Counting final : public Auditor {
public:
    Counting(Auditor& inner, int64_t& offset) : m_inner(inner), m_offset(offset) {}
    Result<> record(const SandboxEvent& event, int64_t next) override {
        TRY(m_inner.record(event, next));
        m_offset = next;
        return {};
    }

private:
    Auditor& m_inner;
    int64_t& m_offset;
};

} // namespace

EventTail::EventTail(std::string directory, int64_t large_bytes)
    : m_directory(std::move(directory)),
      m_large_bytes(large_bytes) {
    const auto stored = read_file(m_directory + "/audit.offset", 64);
    if (!stored.ok()) return;
    const std::string_view text = trim(stored.value());
    const size_t blank = text.find(' ');
    const auto offset = parse_integer(text.substr(0, blank));
    if (!offset.ok() || offset.value() < 0) return;
    m_offset = offset.value();
    // Without an inode the file is from a version that never moved its log: it is the one that is there.
    const auto file =
        blank == text.npos ? Result<int64_t>(state_of(log()).inode) : parse_integer(text.substr(blank + 1));
    m_file = file.ok() ? file.value() : 0;
}

// Another file, or one that is shorter than what was read of it, is read from its begin.
void EventTail::find_place() {
    const LogFile file = state_of(log());
    if (file.inode != m_file || file.bytes < m_offset) m_offset = 0;
    m_file = file.inode;
}

Result<> EventTail::store() const {
    return write_file(m_directory + "/audit.offset", std::to_string(m_offset) + " " + std::to_string(m_file) + "\n");
}

Result<> EventTail::drain(Auditor& auditor) {
    const int64_t before = m_offset;
    Counting counting(auditor, m_offset);
    const auto drained = drain_events(log(), m_offset, counting);
    if (drained.ok()) m_offset = drained.value(); // over damaged lines too
    if (m_offset != before) {
        // The offset must never be ahead of the log, also after a power failure: what it counts is on the disk first.
        TRY(sync_file(log()));
        TRY(store());
    }
    if (!drained.ok()) return drained.error();
    return {};
}

// All of the log is taken over and audit.offset records it before it is moved: whatever a crash leaves, no event is
// lost, since a file with another inode is read from its begin.
Result<> EventTail::retire(Auditor& auditor) {
    const Fd alone = TRY(hold_events(log()));
    if (!alone.is_open()) return {}; // it is being written; the next step will do
    TRY(drain(auditor));
    TRY(store());
    if (::rename(log().c_str(), (m_directory + "/audit.old.jsonl").c_str()) != 0)
        return system_error("move the audit log away", errno);
    // Else a power failure could bring the old name back beside a new log that was written meanwhile.
    return sync_directory(m_directory);
}

Result<> EventTail::step(Auditor& auditor) {
    find_place();
    TRY(drain(auditor));
    if (m_offset >= m_large_bytes) TRY(retire(auditor));
    return {};
}

} // namespace hone::sandbox
