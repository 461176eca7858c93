// An engine behind a small server that stands for a ClickHouse elsewhere: it requires a user and a password, and can
// hold, keep or refuse what passes. For tests.
#pragma once

#include "net/server.h"
#include "net/testing/certificates.h"
#include "telemetry/store_fixture.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace hone::telemetry::testing {

class Gate final : public net::Handler {
public:
    // Listens when it is there; with TLS if there is a certificate.
    explicit Gate(const net::testing::CertificateFiles& files = {}) {
        fixture().store(); // the engine behind it
        m_socket = fixture().telemetry->engine_process()->socket();
        net::ServerOptions options;
        options.listen = {{"127.0.0.1:0", files.certificate, files.key}};
        auto server = net::Server::start(options, *this);
        REQUIRE_MESSAGE(server.ok(), (server.ok() ? "" : server.error().message));
        m_server = std::move(server).value();
        url = (files.certificate.empty() ? "http://" : "https://") + m_server->addresses().front();
    }

    net::Plan plan(const net::RequestHead&) override {
        net::Plan plan;
        plan.body_limit = 64 << 20;
        return plan;
    }
    net::Response handle(net::Request&& request) override {
        if (is_away) return net::text_response(503, "away");
        const std::string_view user = request.header("X-ClickHouse-User");
        if ((user != "hone" && user != "asker" && user != "mighty") ||
            request.header("X-ClickHouse-Key") != "pass word")
            return refused(516, "hone: Authentication failed");
        net::ClientRequest forward;
        forward.method = "POST";
        forward.headers.push_back({"X-ClickHouse-User", user == "asker" ? "hone_reader" : "hone"});
        // A server takes the format in the statement; the engine takes it as an argument.
        std::string target = request.target;
        if (const size_t at = target.find("%20FORMAT%20RowBinary"); at != std::string::npos) target.erase(at, 21);
        // Without it a failure in the middle of a response would look like a short one. The engine always waits.
        const std::string_view waits = "&wait_end_of_query=1";
        const std::string_view foreign = "log_comment=no%20project%20has%20this%20name";
        // A server without the policies: they were never created, or were removed.
        if (const size_t found = target.find(foreign); found != std::string::npos && !has_policies)
            target.replace(found, foreign.size(), "log_comment=%2A");
        const size_t at = target.find(waits);
        if (at == std::string::npos) return refused(62, "this server would stream: " + target);
        target.erase(at, waits.size());
        // The engine has no ids of queries: the text of the query that sleeps gets it.
        const std::string query_id = take_argument(target, "query_id");
        const bool is_kill = request.body.starts_with("KILL QUERY");
        const bool is_slow = request.body.find("sleepEachRow") != std::string::npos;
        if (is_slow) request.body = "/* " + query_id + " */ " + request.body;
        std::string copy = target;
        const std::string token = take_argument(copy, "insert_deduplication_token");
        if (target.find("INSERT%20INTO%20hone.spans") != std::string::npos) {
            const Lock lock(m_mutex);
            ++m_span_inserts;
            m_changed.notify_all();
            m_changed.wait(m_mutex, [this]() REQUIRES_LOCK(m_mutex) { return !m_holds_inserts; });
            if (m_keeps_inserts) {
                m_kept.emplace_back(target, request.body);
                return net::text_response(503, "lost");
            }
        }
        {
            const Lock lock(m_mutex);
            if (!token.empty()) m_tokens.push_back(token);
            if (is_kill) m_kills.push_back(request.body);
        }
        if (is_kill) {
            target += "&database=hone"; // elsewhere the engine's own policies show no queries
            const size_t start = request.body.find('\'') + 1;
            const std::string id = request.body.substr(start, request.body.find('\'', start) - start);
            request.body =
                "KILL QUERY WHERE position(query, '/* " + id + " */') > 0 AND position(query, 'KILL') = 0 ASYNC";
        }
        if (request.body.find("FROM system.clusters") != std::string::npos)
            return net::text_response(200, std::to_string(shards) + "\n");
        if (shards > 0 && request.body.starts_with("SELECT engine FROM system.tables"))
            return net::text_response(200, std::string(is_replicated ? "Replicated" : "") + "MergeTree\n");
        if (const bool is_sync = request.body.starts_with("SYSTEM SYNC REPLICA");
            is_sync || request.body.find(" ON CLUSTER ") != std::string::npos) {
            const Lock lock(m_mutex);
            m_definitions.push_back(request.body);
            if (is_sync) return net::text_response(200, "");
            // The engine has no cluster: it can read such a statement, and not execute it.
            request.body = "SELECT formatQuery(" + quoted(request.body) + ")";
        }
        forward.url = "unix:" + m_socket + ":" + target;
        forward.body = std::move(request.body);
        // The embedded engine has its row policies from its configuration and cannot be given others.
        if (forward.body.starts_with("CREATE ROW POLICY"))
            return takes_policies ? net::text_response(200, "") : refused(497, "hone: Not enough privileges");
        auto sent = m_client.send(forward);
        if (!sent.ok()) return refused(210, sent.error().message);
        if (is_slow) {
            const Lock lock(m_mutex);
            m_slow_ended = std::string(header_value(sent.value().headers, "X-ClickHouse-Exception-Code")) + " " +
                           sent.value().body;
            m_changed.notify_all();
        }
        net::Response response;
        response.status = sent.value().status;
        response.body = std::move(sent.value().body);
        const std::string_view code = header_value(sent.value().headers, "X-ClickHouse-Exception-Code");
        if (!code.empty()) response.set_header("X-ClickHouse-Exception-Code", std::string(code));
        return response;
    }
    std::vector<std::string> tokens() {
        const Lock lock(m_mutex);
        return m_tokens;
    }
    std::vector<std::string> definitions() {
        const Lock lock(m_mutex);
        return m_definitions;
    }
    std::vector<std::string> kills() {
        const Lock lock(m_mutex);
        return m_kills;
    }
    bool has_slow_ended() {
        const Lock lock(m_mutex);
        return m_slow_ended.has_value();
    }
    // What the engine reported at the end of the query that sleeps.
    std::string wait_for_end_of_slow() {
        const Lock lock(m_mutex);
        m_changed.wait_for(m_mutex, 60s, [&]() REQUIRES_LOCK(m_mutex) { return m_slow_ended.has_value(); });
        return m_slow_ended.value_or("it still runs");
    }
    // Inserts of spans wait at the gate.
    void hold_inserts(bool holds) {
        const Lock lock(m_mutex);
        m_holds_inserts = holds;
        m_changed.notify_all();
    }
    // Inserts of spans get no response, and arrive at the engine later.
    void keep_inserts(bool keeps) {
        const Lock lock(m_mutex);
        m_keeps_inserts = keeps;
    }
    // The statuses of the engine's responses.
    std::vector<int> deliver_kept() {
        const Lock lock(m_mutex);
        std::vector<int> statuses;
        for (const auto& [target, body] : m_kept) {
            net::ClientRequest late;
            late.method = "POST";
            late.headers.push_back({"X-ClickHouse-User", "hone"});
            late.url = "unix:" + m_socket + ":" + target;
            late.body = body;
            const auto sent = m_client.send(late);
            statuses.push_back(sent.ok() ? sent.value().status : 0);
        }
        return statuses;
    }
    bool wait_for_span_inserts(int count) {
        const Lock lock(m_mutex);
        return m_changed.wait_for(m_mutex, 60s, [&]() REQUIRES_LOCK(m_mutex) { return m_span_inserts >= count; });
    }
    int span_inserts() {
        const Lock lock(m_mutex);
        return m_span_inserts;
    }
    std::string url;
    std::atomic<bool> is_away = false;
    std::atomic<bool> takes_policies = true;
    std::atomic<bool> has_policies = true;
    std::atomic<int> shards = 0; // of any cluster
    std::atomic<bool> is_replicated = true;

private:
    static std::string take_argument(std::string& target, std::string_view name) {
        const std::string start = "&" + std::string(name) + "=";
        const size_t at = target.find(start);
        if (at == std::string::npos) return "";
        const size_t end = std::min(target.find('&', at + 1), target.size());
        std::string value = target.substr(at + start.size(), end - at - start.size());
        target.erase(at, end - at);
        return value;
    }
    static std::string quoted(std::string_view text) {
        std::string out = "'";
        for (const char letter : text) {
            if (letter == '\'' || letter == '\\') out += '\\';
            out += letter;
        }
        return out + "'";
    }
    static net::Response refused(int code, const std::string& why) {
        net::Response response = net::text_response(500, why);
        response.set_header("X-ClickHouse-Exception-Code", std::to_string(code));
        return response;
    }
    std::string m_socket;
    net::HttpClient m_client;
    Mutex m_mutex;
    Condition m_changed;
    bool m_holds_inserts GUARDED_BY(m_mutex) = false;
    bool m_keeps_inserts GUARDED_BY(m_mutex) = false;
    int m_span_inserts GUARDED_BY(m_mutex) = 0;
    std::vector<std::pair<std::string, std::string>> m_kept GUARDED_BY(m_mutex); // target, body
    std::vector<std::string> m_tokens GUARDED_BY(m_mutex);
    std::vector<std::string> m_definitions GUARDED_BY(m_mutex);
    std::vector<std::string> m_kills GUARDED_BY(m_mutex);
    std::optional<std::string> m_slow_ended GUARDED_BY(m_mutex);
    std::unique_ptr<net::Server> m_server; // the last member: it ends first
};

} // namespace hone::telemetry::testing
