#include "kubernetes/api/watcher.h"

#include "base/log.h"
#include "crypto/crypto.h"
#include "kubernetes/api/object.h"

#include <algorithm>
#include <set>

namespace hone::kubernetes {

namespace {

// Of `whole`, at least half: servers that lost the same connection do not come back together.
Duration with_jitter(Duration whole) {
    const auto random = static_cast<uint8_t>(crypto::random_bytes(1)[0]);
    return whole / 2 + whole / 512 * random;
}

} // namespace

Duration Watcher::backoff() {
    const Duration wait = m_options.first_wait * (int64_t{1} << std::min(m_failures, 20));
    ++m_failures;
    return with_jitter(std::min(wait, m_options.longest_wait));
}

// What was seen of a list that could not be read to its end is known from then on: the next list shows whether it is
// gone.
Result<> Watcher::read_list() {
    std::set<std::string> there; // uids
    const Api::ListHandler handler{[&](const json::Value& object) {
                                       const std::string uid = text_at(object, {"metadata", "uid"});
                                       there.insert(uid);
                                       m_known[uid] = text_at(object, {"metadata", "name"});
                                       m_handler.seen(object);
                                   },
                                   [&] { there.clear(); }};
    const std::string version = TRY(m_api.list_each(m_options.path, m_options.label_selector, handler, m_cancel));
    std::map<std::string, std::string> missing;
    for (auto known = m_known.begin(); known != m_known.end();) {
        const auto next = std::next(known);
        if (!there.contains(known->first)) missing.insert(m_known.extract(known));
        known = next;
    }
    for (const auto& [uid, name] : missing) m_handler.gone(name, uid);
    m_handler.listed();
    m_version = version;
    return {};
}

Result<> Watcher::take(const WatchEvent& event) {
    if (event.kind == WatchKind::error) {
        m_has_expired = event.error_status == 410;
        return unavailable("the cluster ended the watch: " + event.error_message);
    }
    m_failures = 0;
    if (!event.resource_version.empty()) m_version = event.resource_version;
    switch (event.kind) {
    case WatchKind::added:
    case WatchKind::modified:
        m_known[event.uid] = event.name;
        m_handler.seen(event.object);
        break;
    case WatchKind::deleted:
        m_known.erase(event.uid);
        m_handler.gone(event.name, event.uid);
        break;
    case WatchKind::bookmark:
    case WatchKind::error:
        break;
    }
    return {};
}

// True: the server ended the watch after its time.
Result<bool> Watcher::watch() {
    const auto random = static_cast<uint8_t>(crypto::random_bytes(1)[0]);
    const int64_t seconds = m_options.least_seconds + m_options.least_seconds * random / 256;
    Query query{{"watch", "true"},
                {"allowWatchBookmarks", "true"},
                {"resourceVersion", m_version},
                {"timeoutSeconds", std::to_string(seconds)}};
    if (!m_options.label_selector.empty()) query.emplace_back("labelSelector", m_options.label_selector);
    WatchLines lines;
    // Longer than the watch: a server that is quiet sends a bookmark every minute, one that is away sends nothing.
    const Duration idle = std::chrono::seconds(seconds + 30);
    const auto response = m_api.stream(
        m_options.path, query, idle,
        [&](std::string_view piece) {
            return lines.feed(piece, [&](std::string_view line) -> Result<> {
                const WatchEvent event = TRY(parse_watch_line(line));
                return take(event);
            });
        },
        m_cancel);
    if (!response.ok()) return response.error();
    if (response.value().ok()) return true;
    m_has_expired = response.value().status == 410;
    return error_of(response.value(), "watch " + m_options.path);
}

// Only an event shows that all is well: a list that can be read and a watch that always ends are a failure too.
Result<Duration> Watcher::step() {
    const auto failed = [this](const char* phrase, const Error& error) -> Result<Duration> {
        if (error.code == Code::conflict) return error; // cancelled
        log(Level::info, phrase, {{"path", m_options.path}, {"why", error.message}});
        return backoff();
    };
    if (m_version.empty()) {
        const auto read = read_list();
        return read.ok() ? Duration(0) : failed("list of the cluster not read", read.error());
    }
    m_has_expired = false;
    const auto watched = watch();
    if (watched.ok()) return backoff();
    if (m_has_expired || watched.error().code == Code::corrupt) m_version.clear();
    return failed("watch of the cluster ended", watched.error());
}

} // namespace hone::kubernetes
