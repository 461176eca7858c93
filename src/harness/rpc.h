// JSON-RPC 2.0 over lines: numbers the requests that are sent and remembers what each was for; sorts what is received.
// One thread at a time.
#pragma once

#include "harness/driver.h"
#include "harness/reading.h"
#include "json/json.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace hone::harness {

template <class Purpose>
class Rpc {
public:
    // A request line; its response will be recognised as `purpose`.
    std::string request(Purpose purpose, std::string_view method, json::Object params) {
        const int64_t id = ++m_last;
        m_open[id] = purpose;
        return line({{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", std::move(params)}});
    }
    std::string notify(std::string_view method, json::Object params = {}) {
        return line({{"jsonrpc", "2.0"}, {"method", method}, {"params", std::move(params)}});
    }
    std::string respond(const json::Value& id, json::Object result) {
        return line({{"jsonrpc", "2.0"}, {"id", id}, {"result", std::move(result)}});
    }
    // Sent immediately: some agents wait seconds for a method we do not have.
    std::string refuse(const json::Value& id) {
        return line({{"jsonrpc", "2.0"},
                     {"id", id},
                     {"error", json::Object{{"code", -32601}, {"message", "method not found"}}}});
    }
    // The purpose of the request with this id, once; none when there was no such request.
    std::optional<Purpose> take_purpose(const json::Value& id) {
        const auto found = id.is_int64() ? m_open.find(id.get_int64()) : m_open.end();
        if (found == m_open.end()) return std::nullopt;
        const Purpose purpose = found->second;
        m_open.erase(found);
        return purpose;
    }

private:
    static std::string line(json::Object object) { return json::print(json::Value(std::move(object))) + "\n"; }

    int64_t m_last = 0;
    std::map<int64_t, Purpose> m_open;
};

// Calls `responded(id, message)`, `requested(id, method, params)` or `notified(method, params)` for a line of the other
// side. A line that is no message becomes an event.
template <class Responded, class Requested, class Notified>
void read_message(std::string_view line, Output& output, const Responded& responded, const Requested& requested,
                  const Notified& notified) {
    const auto message = read_object(line);
    if (!message) {
        output.events.push_back({.kind = EventKind::status, .text = std::string(line)});
        return;
    }
    const json::Value* id = member(*message, "id");
    const std::string method = text_at(*message, "method");
    if (id != nullptr && method.empty())
        responded(*id, *message);
    else if (id != nullptr)
        requested(*id, method, object_at(*message, "params"));
    else
        notified(method, object_at(*message, "params"));
}

} // namespace hone::harness
