// Reads a tar archive (ustar, GNU long names, pax) as it arrives, in pieces of any size, and reports to a sink what is
// in it. Trusts nothing: checksums, sizes, counts and names are checked and bounded, and paths come out clean. It
// touches no file. One thread per reader.
//   (begin data* end)* per entry; then finish() returns whether the archive was whole.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace hone::sandbox {

struct TarEntry {
    enum Kind { file, directory, symbolic_link, hard_link, other };
    Kind kind = other;   // other: devices, pipes and unknown kinds
    std::string path;    // relative, no empty, `.` or `..` part; empty for the root itself
    std::string target;  // of a link; of a hard link clean as `path` is
    unsigned mode = 0;   // the nine permission bits
    int64_t size = 0;    // of a file
    int64_t seconds = 0; // of its last change, since 1970
};

class TarSink {
public:
    virtual ~TarSink() = default;
    virtual Result<> begin(const TarEntry& entry) = 0;
    // Content of a file, in order, `size` bytes together.
    virtual Result<> data(std::string_view bytes) = 0;
    virtual Result<> end() = 0;
};

struct TarLimits {
    int64_t most_entries = 1'000'000;
    int64_t most_bytes = int64_t{16} << 30; // of all files together
};

class TarReader {
public:
    TarReader(TarSink& sink, TarLimits limits) : m_sink(sink), m_limits(limits) {}

    Result<> feed(std::string_view bytes);
    // After the last byte: Code::corrupt when something is missing.
    Result<> finish() const;

private:
    enum class State { header, name, content, padding, done };

    Result<> take_header(std::string_view block);
    Result<> take_name();
    Result<> take_pax();
    Result<> begin_entry(std::string_view block, char type, int64_t size);
    Result<size_t> take_content(std::string_view bytes);
    void skip_padding(int64_t size);

    TarSink& m_sink;
    const TarLimits m_limits;
    State m_state = State::header;
    std::string m_block;    // a header that is not complete yet, or a long name or pax record
    char m_block_type = 0;  // what `m_block` is for in state `name`
    int64_t m_left = 0;     // bytes of the state to come
    int64_t m_padding = 0;  // after them
    bool m_in_sink = false; // the content belongs to an entry the sink has begun
    int m_empty_blocks = 0; // two end the archive
    int64_t m_entries = 0;
    int64_t m_bytes = 0;
    std::string m_next_path; // from a long name or a pax record
    std::string m_next_target;
    int64_t m_next_size = -1;
};

// The path as a clean relative one; Code::invalid with `..` or NUL in it, or when it is over 4096 bytes long.
Result<std::string> clean_archive_path(std::string_view path);

} // namespace hone::sandbox
