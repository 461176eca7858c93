// Calls of the Managed Agents API: agents, environments, sessions, events, vaults, files. Each function is one call
// with its retries; a call that may have had its effect although it failed returns `unavailable`, and the caller reads
// before it sends again (launch.h). Blocks; any thread.
#pragma once

#include "base/time.h"
#include "crypto/secret_bytes.h"
#include "managed/event.h"
#include "net/client/client.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hone::managed {

// Sends requests on behalf of a space. server/ implements it: it adds the credential and connects only to addresses
// that are allowed. The credential is nowhere else.
class Transport {
public:
    virtual ~Transport() = default;
    virtual Result<net::ClientResponse> send(net::ClientRequest request) = 0;
};

// Waits and limits. Tests use shorter ones.
struct Pace {
    Duration first_retry = std::chrono::milliseconds(500); // doubled for each further one
    Duration longest_retry = std::chrono::seconds(30);
    int retries = 6;
    Duration call_timeout = std::chrono::seconds(60);
    Duration quiet = std::chrono::seconds(20);         // a stream without events: the history is listed again
    Duration overlap = std::chrono::seconds(60);       // the list begins this much before the last event
    Duration join_timeout = std::chrono::seconds(30);  // until an event of the stream is in the list
    Duration status_timeout = std::chrono::seconds(5); // until a session reads as idle after its idle event
    Duration stop_timeout = std::chrono::seconds(30);  // until an interrupted session is idle
    Duration settle = std::chrono::seconds(60);        // until a message that is not processed counts as discarded
};

struct ApiOptions {
    std::string base_url = "https://api.anthropic.com"; // without a slash at its end; servers can be self-hosted
    std::string workspace;                              // optional
    Pace pace;
};

enum class SessionStatus { idle, running, rescheduling, terminated, unknown };

struct SessionView {
    std::string id;
    SessionStatus status = SessionStatus::unknown;
    bool is_archived = false;
    std::string run_id; // metadata `hone_run`
};

struct EventPage {
    std::vector<Event> events;
    std::string next_page; // empty: the last one
};

struct SessionFile {
    std::string id;
    std::string name;
    int64_t bytes = 0;
};

class Api {
public:
    Api(ApiOptions options, Transport& transport, const Clock& clock)
        : m_options(std::move(options)),
          m_transport(transport),
          m_clock(clock) {}

    const Pace& pace() const { return m_options.pace; }
    const Clock& clock() const { return m_clock; }
    // Waits, at most until `cancel`. False: cancelled.
    static bool wait(Duration time, const net::Cancel& cancel);

    // Whether a failed call is retried here: only one that is safe to repeat, or that was rejected for its rate.
    enum class Repeat { safe, unsafe };
    // `body` is JSON text; empty: none.
    Result<json::Value> call(const std::string& method, const std::string& target, const std::string& body,
                             Repeat repeat, net::Cancel& cancel);
    Result<json::Value> get(const std::string& target, net::Cancel& cancel);
    // Calls back for each object of all pages; stops when it returns true.
    Result<> each(const std::string& target, net::Cancel& cancel, const std::function<bool(const json::Value&)>& found);

    Result<SessionView> session(const std::string& id, net::Cancel& cancel);
    // Sends events of a user; unavailable: they may have arrived.
    Result<> send(const std::string& session, const json::Array& events, net::Cancel& cancel);
    // Oldest first, from this time on (empty: all). too_large: one event alone is beyond the limit.
    Result<EventPage> events(const std::string& session, const std::string& from, const std::string& page,
                             net::Cancel& cancel);
    // Follows the stream until it ends. `opened` when the API has attached it, then `received` for each event; an error
    // of one of them ends the stream with it. `received` gets null when bytes without an event arrived.
    Result<> stream(const std::string& session, net::Cancel& cancel, const std::function<Result<>()>& opened,
                    const std::function<Result<>(const Event*)>& received);

    Result<std::string> create_vault(const std::string& name, net::Cancel& cancel);
    // A variable whose value the provider adds to requests to these hosts.
    Result<> add_variable(const std::string& vault, const std::string& name, const crypto::SecretBytes& value,
                          const std::vector<std::string>& hosts, net::Cancel& cancel);
    // Nothing: there was none.
    Result<> delete_vault(const std::string& id, net::Cancel& cancel);
    Result<std::vector<SessionFile>> files(const std::string& session, net::Cancel& cancel);
    Result<std::string> download(const std::string& file, size_t most_bytes, net::Cancel& cancel);

private:
    net::ClientRequest request_to(const std::string& method, const std::string& target, net::Cancel& cancel) const;
    Duration retry_after(const net::ClientResponse& response, int attempt) const;

    const ApiOptions m_options;
    Transport& m_transport;
    const Clock& m_clock;
};

// What a response with an error states, bounded: "Managed Agents returned 429 (rate_limit_error): …".
Error explain(int status, std::string_view body);

} // namespace hone::managed
