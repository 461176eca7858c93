// Writes a tar file (POSIX 2001): regular files and folders, long and non-ASCII names in extended headers. One thread.
//   (folder | file)* end
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <string>

namespace hone::sandbox {

class TarWriter {
public:
    explicit TarWriter(int into) : m_into(into) {}

    Result<> folder(const std::string& name, Time modified);
    // Exactly `bytes` of the file; one that became shorter meanwhile is filled with zeros.
    Result<> file(const std::string& name, int from, int64_t bytes, Time modified);
    // The size of the whole.
    Result<int64_t> end();

private:
    Result<> header(const std::string& name, char type, int64_t bytes, Time modified);
    Result<> write(std::string_view bytes);
    Result<> fill(int64_t bytes);

    const int m_into;
    int64_t m_written = 0;
};

} // namespace hone::sandbox
