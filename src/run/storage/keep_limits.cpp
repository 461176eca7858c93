#include "run/storage/keep_limits.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

namespace {

Result<> read_part(KeepLimits& limits, std::string_view part) {
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return invalid("");
    const std::string_view name = part.substr(0, equals);
    std::string_view value = part.substr(equals + 1);
    if (name == "age") {
        limits.age = Duration(TRY(parse_duration_ns(value)));
        if (*limits.age < std::chrono::minutes(1)) return invalid("");
    } else if (name == "count") {
        limits.count = TRY(parse_integer(value));
        if (*limits.count < 1) return invalid("");
    } else if (name == "bytes" && value.ends_with('%')) {
        value.remove_suffix(1);
        limits.percent = TRY(parse_integer(value));
        if (*limits.percent < 1 || *limits.percent > 100) return invalid("");
    } else if (name == "bytes") {
        limits.bytes = TRY(parse_bytes(value));
        if (*limits.bytes < 1) return invalid("");
    } else {
        return invalid("");
    }
    return {};
}

} // namespace

std::optional<int64_t> KeepLimits::bytes_of(int64_t disk_bytes) const {
    if (!percent) return bytes;
    const int64_t share = disk_bytes / 100 * *percent;
    return bytes ? std::min(*bytes, share) : share;
}

Result<KeepLimits> parse_keep_limits(std::string_view name, std::string_view text) {
    KeepLimits limits;
    if (trim(text) == "none") return limits;
    bool any = false;
    for (const std::string_view part : split(text, ' ')) {
        if (trim(part).empty()) continue;
        any = true;
        if (read_part(limits, trim(part)).ok()) continue;
        return invalid(fmt::format("{} has a part that is not understood: {}. Write `none`, or parts such as "
                                   "`age=30d count=1000 bytes=20g bytes=15%`",
                                   name, truncate_utf8(part, 100)));
    }
    if (!any) return invalid(std::string(name) + " is empty; write `none` to keep everything");
    return limits;
}

std::string print_limits(const KeepLimits& limits) {
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
    if (limits.age) {
        const int64_t minutes = limits.age->count() / 60'000'000'000;
        if (minutes % 1440 == 0)
            add(fmt::format("age={}d", minutes / 1440));
        else
            add(fmt::format("age={}m", minutes));
    }
    if (limits.count) add(fmt::format("count={}", *limits.count));
    if (limits.bytes) add(fmt::format("bytes={}", *limits.bytes));
    if (limits.percent) add(fmt::format("bytes={}%", *limits.percent));
    return text.empty() ? "none" : text;
}

std::vector<Stored> surplus(std::vector<Stored> all, const KeepLimits& limits, int64_t disk_bytes, Time now) {
    std::stable_sort(all.begin(), all.end(), [](const Stored& a, const Stored& b) { return a.used < b.used; });
    auto count = static_cast<int64_t>(all.size());
    int64_t bytes = 0;
    for (const Stored& one : all) bytes += one.bytes;
    const std::optional<int64_t> most_bytes = limits.bytes_of(disk_bytes);
    const auto is_old = [&](const Stored& one) {
        std::optional<Duration> age = limits.age;
        if (one.age && (!age || *one.age < *age)) age = one.age;
        return age && now - one.used >= *age;
    };
    std::vector<Stored> gone;
    const auto take = [&](Stored& one) {
        --count;
        bytes -= one.bytes;
        gone.push_back(std::move(one));
        one.needed = true; // taken
    };
    for (Stored& one : all)
        if (!one.needed && is_old(one)) take(one);
    for (Stored& one : all) {
        if (one.needed) continue;
        if ((!limits.count || count <= *limits.count) && (!most_bytes || bytes <= *most_bytes)) break;
        take(one);
    }
    return gone;
}

} // namespace hone::run
