// Follows the objects of one list: reads it, then watches it from its version on, through closed connections, servers
// that restart, and versions that have expired. One per server and list, not one per object.
//   step*     by a Duty, or by a test; one thread
#pragma once

#include "base/time.h"
#include "kubernetes/api/api.h"
#include "kubernetes/api/watch_events.h"

#include <map>
#include <string>

namespace hone::kubernetes {

// Is called on the watcher's thread, and must not block for long.
class WatchHandler {
public:
    virtual ~WatchHandler() = default;
    // A new or changed object; also again, unchanged, after the list was read.
    virtual void seen(const json::Value& object) = 0;
    // It no longer exists: deleted, or missing from a later list.
    virtual void gone(const std::string& name, const std::string& uid) = 0;
    // Everything of the list was given: what is expected and was not seen does not exist.
    virtual void listed() {}
};

struct WatcherOptions {
    std::string path; // "/api/v1/namespaces/NS/pods"
    std::string label_selector;
    int64_t least_seconds = 240; // that one watch lasts; up to twice as long, so that servers do not reconnect together
    Duration first_wait = std::chrono::milliseconds(100); // after a failure, doubled each time
    Duration longest_wait = std::chrono::seconds(10);
};

class Watcher {
public:
    Watcher(Api& api, WatchHandler& handler, WatcherOptions options, net::Cancel* cancel = nullptr)
        : m_api(api),
          m_handler(handler),
          m_options(std::move(options)),
          m_cancel(cancel) {}

    // Reads the list, or watches until the connection ends. How long to wait before the next step.
    Result<Duration> step();
    // The objects that exist, as of the last event.
    size_t known() const { return m_known.size(); }
    const std::string& resource_version() const { return m_version; }

private:
    Result<> read_list();
    Result<bool> watch();
    Result<> take(const WatchEvent& event);
    Duration backoff();

    Api& m_api;
    WatchHandler& m_handler;
    const WatcherOptions m_options;
    net::Cancel* const m_cancel;
    std::map<std::string, std::string> m_known; // uid → name
    std::string m_version;                      // empty: the list is to be read
    bool m_has_expired = false;
    int m_failures = 0; // since the last event or list
};

} // namespace hone::kubernetes
