#include "kubernetes/api/watch_events.h"

#include "base/text.h"
#include "kubernetes/api/object.h"

namespace hone::kubernetes {

Result<WatchEvent> parse_watch_line(std::string_view line) {
    auto parsed = json::parse(line);
    if (!parsed.ok()) return corrupt("the cluster sent an event that is not JSON: " + parsed.error().message);
    const std::string kind = text_at(parsed.value(), {"type"});
    const json::Value* object = value_at(parsed.value(), {"object"});
    if (object == nullptr || !object->is_object()) return corrupt("the cluster sent an event without an object");
    WatchEvent event;
    event.name = text_at(*object, {"metadata", "name"});
    event.uid = text_at(*object, {"metadata", "uid"});
    event.resource_version = text_at(*object, {"metadata", "resourceVersion"});
    if (kind == "ADDED") {
        event.kind = WatchKind::added;
    } else if (kind == "MODIFIED") {
        event.kind = WatchKind::modified;
    } else if (kind == "DELETED") {
        event.kind = WatchKind::deleted;
    } else if (kind == "BOOKMARK") {
        event.kind = WatchKind::bookmark;
    } else if (kind == "ERROR") {
        event.error_status = static_cast<int>(integer_at(*object, {"code"}).value_or(0));
        event.error_message = text_at(*object, {"message"});
    } else {
        event.error_message = "an event of the kind " + quote_json(truncate_utf8(kind, 100));
    }
    const bool is_object = event.kind != WatchKind::bookmark && event.kind != WatchKind::error;
    if (is_object && (event.name.empty() || event.uid.empty()))
        return corrupt("the cluster sent an object without a name or uid");
    event.object = std::move(parsed.value().get_object()["object"]);
    return event;
}

Result<> WatchLines::feed(std::string_view bytes, const std::function<Result<>(std::string_view)>& on_line) {
    while (!bytes.empty()) {
        const size_t end = bytes.find('\n');
        const std::string_view piece = bytes.substr(0, end);
        if (m_line.size() + piece.size() > m_limit) return too_large("the cluster sent an event that is too large");
        if (end == std::string_view::npos) {
            m_line += piece;
            return {};
        }
        bytes.remove_prefix(end + 1);
        if (m_line.empty()) {
            if (!trim(piece).empty()) TRY(on_line(piece));
            continue;
        }
        m_line += piece;
        const std::string line = std::exchange(m_line, {});
        if (!trim(line).empty()) TRY(on_line(line));
    }
    return {};
}

} // namespace hone::kubernetes
