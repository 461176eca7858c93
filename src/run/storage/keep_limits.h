// How much of a kind of data is kept: by age, number and bytes. A setting is a text: "age=30d count=1000 bytes=15%",
// each part optional, "none" without limits. Values and pure functions; any thread.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::run {

struct KeepLimits {
    std::optional<Duration> age{};
    std::optional<int64_t> count{};
    std::optional<int64_t> bytes{};
    std::optional<int64_t> percent{}; // of the file system; the smaller of the two counts

    // Bytes on a file system of this size.
    std::optional<int64_t> bytes_of(int64_t disk_bytes) const;
};

// `name`: of the setting, for the error.
Result<KeepLimits> parse_keep_limits(std::string_view name, std::string_view text);
std::string print_limits(const KeepLimits& limits);

struct StorageLimits {
    KeepLimits runs{}; // count: of each space
    KeepLimits workspaces{};
    KeepLimits layers{};
    KeepLimits images{};
    KeepLimits quarantines{};
    KeepLimits mirrors{};
    KeepLimits artifacts{};
    KeepLimits uploads{};
};

// One thing that could be removed.
struct Stored {
    std::string key;
    Time used{};
    int64_t bytes = 0;
    bool needed = false;           // stays, and counts
    std::optional<Duration> age{}; // its own limit, shorter than that of the kind
};

// What has to go so that the rest is within the limits: first what is too old, then the least recently used.
std::vector<Stored> surplus(std::vector<Stored> all, const KeepLimits& limits, int64_t disk_bytes, Time now);

} // namespace hone::run
