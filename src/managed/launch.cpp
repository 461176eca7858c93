#include "managed/launch.h"

#include "base/text.h"
#include "crypto/crypto.h"

#include <fmt/format.h>

namespace hone::managed {

namespace {

constexpr size_t label_bytes = 40;
constexpr size_t hash_bytes = 8;
constexpr int reads_in_doubt = 4; // of a list that may be behind, before a thing is made again

std::string name_with_hash(const std::string& label, const json::Object& content) {
    const std::string hash = to_hex(crypto::hash(json::print(content)).substr(0, hash_bytes));
    return std::string(truncate_utf8(label, label_bytes)) + "-" + hash;
}

json::Object content_of(const AgentSpec& spec) {
    json::Object content{{"model", spec.model}, {"tools", spec.tools}};
    if (!spec.system.empty()) content["system"] = spec.system;
    return content;
}

json::Object content_of(const EnvironmentSpec& spec) {
    json::Object network{{"type", "unrestricted"}};
    if (!spec.open)
        network = {{"type", "limited"},
                   {"allowed_hosts", json::to_value(spec.hosts)},
                   {"allow_package_managers", spec.package_managers},
                   {"allow_mcp_servers", false}};
    json::Object config{{"type", "cloud"}, {"networking", network}};
    if (!spec.packages.empty()) config["packages"] = json::to_value(spec.packages);
    return {{"config", config}};
}

json::Object user_message(const std::string& text) {
    return {{"type", "user.message"}, {"content", json::Array{json::Object{{"type", "text"}, {"text", text}}}}};
}

json::Object resource_of(const RepositorySpec& repository, const crypto::SecretBytes* token) {
    json::Object made{{"type", "github_repository"}, {"url", repository.url}};
    if (!repository.commit.empty())
        made["checkout"] = json::Object{{"type", "commit"}, {"sha", repository.commit}};
    else if (!repository.branch.empty())
        made["checkout"] = json::Object{{"type", "branch"}, {"name", repository.branch}};
    if (token != nullptr) made["authorization_token"] = token->reveal();
    return made;
}

json::Object body_of(const NewSession& wanted) {
    json::Object body{{"agent", wanted.agent},
                      {"environment_id", wanted.environment},
                      {"metadata", json::Object{{"hone_run", wanted.run_id}}},
                      {"initial_events", json::Array{user_message(wanted.first_message)}}};
    if (!wanted.title.empty()) body["title"] = wanted.title;
    if (!wanted.vaults.empty()) body["vault_ids"] = json::to_value(wanted.vaults);
    if (wanted.budget_cents > 0) {
        const json::Object cost{{"amount", std::to_string(wanted.budget_cents)}, {"currency", "USD"}};
        body["budget"] = json::Object{{"type", "limit"}, {"max_list_cost", cost}};
    }
    json::Array resources;
    for (const RepositorySpec& repository : wanted.repositories)
        resources.push_back(resource_of(repository, wanted.repository_token));
    if (!resources.empty()) body["resources"] = std::move(resources);
    return body;
}

bool is_gone(const Error& error) {
    return error.code == Code::not_found;
}

} // namespace

std::string name_of(const AgentSpec& spec) {
    return name_with_hash(spec.label, content_of(spec));
}

std::string name_of(const EnvironmentSpec& spec) {
    return name_with_hash(spec.label, content_of(spec));
}

Result<std::optional<std::string>> Launch::find(const std::string& collection, const std::string& name,
                                                net::Cancel& cancel) {
    std::optional<std::string> found;
    TRY(m_api.each("/v1/" + collection + "?limit=100", cancel, [&](const json::Value& one) {
        if (text_at(one, {"name"}) == name && text_at(one, {"archived_at"}).empty()) found = text_at(one, {"id"});
        return found.has_value();
    }));
    return found;
}

Result<std::string> Launch::make(const std::string& collection, const std::string& name, const json::Object& body,
                                 net::Cancel& cancel) {
    if (auto found = TRY(find(collection, name, cancel))) return *found;
    json::Object named = body;
    named["name"] = name;
    const auto made = m_api.call("POST", "/v1/" + collection, json::print(named), Api::Repeat::unsafe, cancel);
    if (made.ok()) return text_at(made.value(), {"id"});
    // Another server was faster (names of environments are unique), or the response was lost.
    if (made.error().code != Code::conflict && made.error().code != Code::unavailable) return made.error();
    if (auto found = TRY(find(collection, name, cancel))) return *found;
    return made.error();
}

Result<std::string> Launch::agent(const AgentSpec& spec, net::Cancel& cancel) {
    return make("agents", name_of(spec), content_of(spec), cancel);
}

Result<std::string> Launch::environment(const EnvironmentSpec& spec, net::Cancel& cancel) {
    return make("environments", name_of(spec), content_of(spec), cancel);
}

Result<std::optional<std::string>> Launch::find_session(const NewSession& wanted, Time since, net::Cancel& cancel) {
    std::optional<std::string> found;
    const std::string from = to_text(since - m_api.pace().overlap);
    const std::string target = "/v1/sessions?limit=100&agent_id=" + percent_encode(wanted.agent) + "&" +
                               percent_encode("created_at[gte]") + "=" + percent_encode(from);
    TRY(m_api.each(target, cancel, [&](const json::Value& one) {
        if (text_at(one, {"metadata", "hone_run"}) == wanted.run_id) found = text_at(one, {"id"});
        return found.has_value();
    }));
    return found;
}

Result<std::string> Launch::session(const NewSession& wanted, Time since, net::Cancel& cancel) {
    if (auto found = TRY(find_session(wanted, since, cancel))) return *found;
    std::string body = json::print(body_of(wanted));
    const auto made = m_api.call("POST", "/v1/sessions", body, Api::Repeat::unsafe, cancel);
    crypto::wipe(body); // may contain the token of the repository
    if (made.ok()) return text_at(made.value(), {"id"});
    if (made.error().code != Code::unavailable) return made.error();
    // It may exist. A second one would cost twice, so the caller gets an error rather than another try.
    for (int read = 0; read < reads_in_doubt; ++read) {
        if (auto found = TRY(find_session(wanted, since, cancel))) return *found;
        if (!Api::wait(m_api.pace().first_retry * (1 << read), cancel)) return conflict("cancelled");
    }
    return made.error();
}

Result<int64_t> Launch::count_messages(const std::string& session, net::Cancel& cancel) {
    int64_t count = 0;
    const std::string target =
        "/v1/sessions/" + percent_encode(session) + "/events?limit=200&" + percent_encode("types[]") + "=user.message";
    TRY(m_api.each(target, cancel, [&](const json::Value&) {
        ++count;
        return false;
    }));
    return count;
}

Result<> Launch::message(const std::string& session, int64_t number, const std::string& text, net::Cancel& cancel) {
    for (int read = 0;; ++read) {
        const int64_t count = TRY(count_messages(session, cancel));
        if (count >= number) return {};
        // After a send in doubt the list may be behind: it is read some times before the message is sent again.
        const bool in_doubt = read % reads_in_doubt != 0;
        if (!in_doubt) {
            const auto sent = m_api.send(session, {user_message(text)}, cancel);
            if (sent.ok() || sent.error().code != Code::unavailable) return sent;
            if (read >= reads_in_doubt * m_api.pace().retries) return sent;
        }
        if (!Api::wait(m_api.pace().first_retry, cancel)) return conflict("cancelled");
    }
}

Result<> Launch::interrupt(const std::string& session, net::Cancel& cancel) {
    const std::string body =
        json::print(json::Object{{"events", json::Array{json::Object{{"type", "user.interrupt"}}}}});
    // Twice does no harm.
    TRY(m_api.call("POST", "/v1/sessions/" + percent_encode(session) + "/events", body, Api::Repeat::safe, cancel));
    return {};
}

Result<> Launch::wait_until_idle(const std::string& session, net::Cancel& cancel) {
    const Duration deadline = m_api.clock().steady() + m_api.pace().stop_timeout;
    for (;;) {
        const SessionView view = TRY(m_api.session(session, cancel));
        if (view.is_archived || view.status == SessionStatus::idle || view.status == SessionStatus::terminated)
            return {};
        if (m_api.clock().steady() > deadline)
            return busy("the session did not stop in time at the provider; archive it there");
        if (!Api::wait(m_api.pace().first_retry, cancel)) return conflict("cancelled");
    }
}

// An idle event is sent before the session reads as idle; until then the API rejects the call.
Result<> Launch::end(const std::string& method, const std::string& target, net::Cancel& cancel) {
    const Duration deadline = m_api.clock().steady() + m_api.pace().status_timeout;
    for (;;) {
        const auto ended = m_api.call(method, target, {}, Api::Repeat::safe, cancel);
        if (ended.ok() || is_gone(ended.error())) return {};
        if (ended.error().code != Code::invalid || m_api.clock().steady() > deadline) return ended.error();
        if (!Api::wait(m_api.pace().first_retry, cancel)) return conflict("cancelled");
    }
}

Result<> Launch::stop(const std::string& session, net::Cancel& cancel) {
    const auto view = m_api.session(session, cancel);
    if (!view.ok()) return is_gone(view.error()) ? Result<>() : view.error();
    if (view.value().is_archived) return {};
    if (view.value().status == SessionStatus::running || view.value().status == SessionStatus::rescheduling) {
        const auto interrupted = interrupt(session, cancel);
        // invalid: it terminated in the meantime.
        if (!interrupted.ok() && interrupted.error().code != Code::invalid) return interrupted;
        TRY(wait_until_idle(session, cancel));
    }
    return end("POST", "/v1/sessions/" + percent_encode(session) + "/archive", cancel);
}

Result<> Launch::forget(const std::string& session, net::Cancel& cancel) {
    const auto view = m_api.session(session, cancel);
    if (!view.ok()) return is_gone(view.error()) ? Result<>() : view.error();
    TRY(stop(session, cancel));
    return end("DELETE", "/v1/sessions/" + percent_encode(session), cancel);
}

} // namespace hone::managed
