// The body of a watch: one JSON object per line. Pure; one thread at a time per reader.
#pragma once

#include "base/result.h"
#include "json/json.h"

#include <functional>
#include <string>
#include <string_view>

namespace hone::kubernetes {

enum class WatchKind { added, modified, deleted, bookmark, error };

struct WatchEvent {
    WatchKind kind = WatchKind::error;
    json::Value object;
    std::string name;             // metadata.name
    std::string uid;              // metadata.uid
    std::string resource_version; // metadata.resourceVersion: text, never compared as a number
    int error_status = 0;         // of an error: 410 means that the version is too old
    std::string error_message;
};

// Errors: `corrupt`. An event of a kind that is not known here is an error with status 0.
Result<WatchEvent> parse_watch_line(std::string_view line);

// Cuts a body into lines, however it arrives.
class WatchLines {
public:
    explicit WatchLines(size_t most_line_bytes = 8 << 20) : m_limit(most_line_bytes) {}
    // Calls back for each line that these bytes complete; empty ones are skipped.
    Result<> feed(std::string_view bytes, const std::function<Result<>(std::string_view)>& on_line);

private:
    const size_t m_limit;
    std::string m_line;
};

} // namespace hone::kubernetes
