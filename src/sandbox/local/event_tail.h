// Follows DIR/sandbox/audit.jsonl for the server: gives each event once, remembers on disk how far it came, and moves a
// log that grew large out of the way (one old log stays, for people). One thread.
#pragma once

#include "sandbox/provider/audit.h"

#include <string>

namespace hone::sandbox {

class EventTail {
public:
    // `directory` holds audit.jsonl, audit.old.jsonl, and audit.offset: how far which file was taken over.
    explicit EventTail(std::string directory, int64_t large_bytes = int64_t{16} << 20);

    // Gives what is new. An event is given again when the auditor refuses it, and after a crash between it and the next
    // write of audit.offset.
    Result<> step(Auditor& auditor);

private:
    std::string log() const { return m_directory + "/audit.jsonl"; }
    Result<> drain(Auditor& auditor);
    Result<> retire(Auditor& auditor);
    Result<> store() const;
    void find_place();

    const std::string m_directory;
    const int64_t m_large_bytes;
    int64_t m_file = 0; // inode of the log that the offset is about; 0: none yet
    int64_t m_offset = 0;
};

} // namespace hone::sandbox
