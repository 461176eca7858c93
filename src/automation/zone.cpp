#include "automation/zone.h"

#include "base/text.h"

#include <date/tz.h>

namespace hone::automation {

namespace {

// Beyond any time that we compute with, far from overflow.
constexpr int64_t far_past = -100'000'000'000;
constexpr int64_t far_future = 100'000'000'000;

bool is_utc(std::string_view name) {
    return name.empty() || name == "UTC" || name == "Etc/UTC" || name == "Z";
}

// The library opens a file of this name.
bool is_plain(std::string_view name) {
    if (name.size() > 64 || name.front() == '/' || name.find("..") != name.npos) return false;
    for (const char c : name)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '_' ||
              c == '-' || c == '+'))
            return false;
    return true;
}

} // namespace

Result<Zone> Zone::find(std::string_view name) {
    if (is_utc(name)) return Zone();
    const std::string shown(truncate_utf8(name, 64));
    if (!is_plain(name)) return invalid("time_zone \"" + shown + "\" is not a name like Europe/Berlin");
    try {
        return Zone(date::locate_zone(std::string(name)));
    } catch (const std::exception&) {
        return invalid("time_zone \"" + shown +
                       "\" is unknown on this machine; write a name like Europe/Berlin, or UTC");
    }
}

Zone::Stretch Zone::at(int64_t second) const {
    if (m_zone == nullptr) return {far_past, far_future, 0};
    try {
        const auto* zone = static_cast<const date::time_zone*>(m_zone);
        const date::sys_info info = zone->get_info(date::sys_seconds(std::chrono::seconds(second)));
        return {std::max(far_past, static_cast<int64_t>(info.begin.time_since_epoch().count())),
                std::min(far_future, static_cast<int64_t>(info.end.time_since_epoch().count())), info.offset.count()};
    } catch (const std::exception&) {
        return {far_past, far_future, 0};
    }
}

} // namespace hone::automation
