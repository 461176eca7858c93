#include "server/operations/diagnosis.h"

#include "base/text.h"
#include "sandbox/helper/helper.h"
#include "server/backup/stored_backups.h"
#include "server/operations/password_logins.h"
#include "telemetry/engine/isolation.h"

#include <fmt/format.h>
#include <functional>
#include <set>
#include <sys/statvfs.h>

namespace hone::server {

namespace {

using api::FindingView;

FindingView fine(std::string name, std::string detail) {
    return {std::move(name), "ok", std::move(detail), ""};
}
FindingView warning(std::string name, std::string detail, std::string advice) {
    return {std::move(name), "warning", std::move(detail), std::move(advice)};
}
FindingView problem(std::string name, std::string detail, std::string advice) {
    return {std::move(name), "problem", std::move(detail), std::move(advice)};
}

int64_t milliseconds(Duration duration) {
    return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

FindingView check_database(const DiagnosisParts& parts) {
    constexpr int64_t slow_ms = 100;
    const Duration before = parts.clock.steady();
    const auto rows = parts.database.query("SELECT 1");
    const int64_t took = milliseconds(parts.clock.steady() - before);
    if (!rows.ok()) return problem("database", rows.error().message, "check database_url and the database's server");
    const std::string detail = fmt::format("responds in {} ms", took);
    if (took < slow_ms) return fine("database", detail);
    return warning("database", detail, "check the load of the database, the network to it, and its connections");
}

// The name of a finding, how long something took, or why it failed.
FindingView timed(const DiagnosisParts& parts, const char* name, Duration slow, const std::function<Result<>()>& work,
                  const char* when_away, const char* when_slow) {
    const Duration before = parts.clock.steady();
    const auto done = work();
    const Duration took = parts.clock.steady() - before;
    const std::string detail = fmt::format("responds in {} ms", milliseconds(took));
    if (!done.ok()) return problem(name, done.error().message, when_away);
    return took < slow ? fine(name, detail) : warning(name, detail, when_slow);
}

FindingView check_span_store(const DiagnosisParts& parts) {
    return timed(
        parts, "span store", std::chrono::milliseconds(500),
        [&]() -> Result<> {
            telemetry::ClickHouseQuery one("SELECT 1");
            one.deadline = std::chrono::seconds(3);
            one.database.clear();
            TRY(parts.telemetry.engine().query(one));
            return {};
        },
        "accepted spans wait in the log: check clickhouse_url and its server, or with the embedded engine the server's "
        "log",
        "check the load of the span store and the network to it");
}

// At a ClickHouse elsewhere people can change policies and rights; a query is rejected then.
std::vector<FindingView> check_isolation(const DiagnosisParts& parts, const FindingView& span_store) {
    const char* name = "SQL of members";
    if (parts.config.clickhouse_url.empty()) return {};
    if (parts.config.clickhouse_reader_user.empty()) return {fine(name, "rejected: clickhouse_reader_user is not set")};
    if (span_store.state == "problem") return {problem(name, "not known: the span store is away", "see above")};
    const auto verified = [&]() -> Result<bool> {
        TRY(parts.telemetry.store()); // has made the tables
        if (auto found = telemetry::verify_policies(parts.telemetry.engine()); found.ok()) return found;
        // What the first query of people after a start does.
        TRY(telemetry::create_policies(parts.telemetry.engine()));
        return telemetry::verify_policies(parts.telemetry.engine());
    }();
    if (verified.ok()) return {fine(name, "the row policies of the span store hold")};
    return {problem(name, verified.error().message,
                    "it is rejected until this is corrected: hone clickhouse check shows what is wrong")};
}

FindingView check_object_store(const DiagnosisParts& parts) {
    return timed(
        parts, "object store", std::chrono::seconds(1), [&] { return parts.objects.reach(std::chrono::seconds(3)); },
        "artifacts cannot be saved or read: check object_store, its server and its credentials (hone check)",
        "check the load of the object store and the network to it");
}

FindingView check_clock(const DiagnosisParts& parts) {
    const auto offset = parts.membership.servers().clock_offset();
    if (!offset.ok()) return problem("clock", offset.error().message, "");
    const int64_t ms = milliseconds(offset.value());
    const std::string detail = fmt::format("{} ms from the database's", ms);
    if (std::abs(ms) < 5000) return fine("clock", detail);
    return warning("clock", detail, "synchronise the clocks (NTP): scheduled times and spans get wrong times");
}

FindingView check_lease(const DiagnosisParts& parts) {
    const double age = static_cast<double>(parts.membership.lease_age().count()) / 1e9;
    const std::string detail = fmt::format("renewed {:.0f} s ago", age);
    if (age < 15) return fine("lease", detail);
    return problem("lease", detail, "other servers take this one for dead: check the database");
}

std::vector<FindingView> check_servers(const DiagnosisParts& parts) {
    std::vector<FindingView> found;
    const auto servers = parts.membership.servers().list();
    if (!servers.ok()) return {problem("servers", servers.error().message, "")};
    int64_t live = 0;
    std::set<std::string, std::less<>> roles; // that a live server has
    for (const lease::ServerInfo& server : servers.value()) {
        live += server.is_live ? 1 : 0;
        for (const std::string_view role : split(server.roles, ','))
            if (server.is_live) roles.emplace(role);
        if (!server.is_live)
            found.push_back(warning(
                "server " + server.name, "has not reported since " + to_text(server.lease_until).substr(0, 19) + "Z",
                "start it again; after server_lost_after its runs end and its sessions continue elsewhere"));
        else if (server.version != HONE_VERSION)
            found.push_back(warning("server " + server.name, "has version " + server.version,
                                    "upgrade all servers: only the version before is supported beside this one"));
    }
    for (const auto& [role, without] : std::initializer_list<std::pair<const char*, const char*>>{
             {"api", "the API and the web UI are not served"},
             {"ingest", "telemetry is rejected"},
             {"scheduler", "automations, monitors, notices and Signal do not run"},
             {"worker", "runs, experiments and evaluators stay queued"}})
        if (!roles.contains(role))
            found.push_back(problem(fmt::format("role {}", role), fmt::format("no live server has it: {}", without),
                                    "start a server with this role (docs/scale.md)"));
    if (const auto apart = parts.membership.servers().spans_apart(); apart.ok() && !apart.value().empty())
        found.push_back(problem("span stores", apart.value(), "set clickhouse_url (docs/scale.md)"));
    if (const auto apart = parts.membership.servers().objects_apart(); apart.ok() && !apart.value().empty())
        found.push_back(problem("object stores", apart.value(), "set object_store to the same place on all servers"));
    found.insert(found.begin(), fine("servers", fmt::format("{} live", live)));
    return found;
}

FindingView check_spans(const DiagnosisParts& parts) {
    const telemetry::Backlog backlog = parts.telemetry.backlog();
    if (backlog.is_failing()) return problem("spans", backlog.problem(), telemetry::backlog_advice());
    if (backlog.is_late) return warning("spans", backlog.problem(), telemetry::backlog_advice());
    const auto limit = static_cast<double>(parts.config.span_log_limit.count);
    const double share = limit > 0 ? static_cast<double>(parts.telemetry.log_stats().disk_bytes) / limit : 0;
    const std::string detail = fmt::format("{} wait to be stored, the oldest for {} s; the log is {:.0f} % full",
                                           backlog.spans, milliseconds(backlog.oldest_wait) / 1000, share * 100);
    if (share < 0.5) return fine("spans", detail);
    return warning("spans", detail, "at 100 % new spans are rejected: raise span_log_limit, or check the span store");
}

FindingView check_records(const DiagnosisParts& parts) {
    const telemetry::RecordBacklog backlog = parts.telemetry.record_log().backlog();
    if (backlog.is_failing())
        return problem("log records and metrics", backlog.problem(), telemetry::record_backlog_advice());
    if (backlog.is_late)
        return warning("log records and metrics", backlog.problem(), telemetry::record_backlog_advice());
    return fine("log records and metrics", fmt::format("{} requests wait to be stored, the oldest for {} s",
                                                       backlog.requests, milliseconds(backlog.oldest_wait) / 1000));
}

// Each insert makes a part, and a query opens every part of its days. A day without new spans is merged after an hour.
FindingView check_span_parts(const DiagnosisParts& parts) {
    const telemetry::MergeState& state = parts.merges;
    const std::string detail = fmt::format(
        "{}, at most {} of one day; the oldest unmerged one is {:.0f} min old; {} merges run, {:.1f} GiB to write",
        state.parts, state.most_parts_a_day, state.oldest_unmerged_seconds / 60, state.merges,
        static_cast<double>(state.merging_bytes) / (1 << 30));
    std::string advice = telemetry::merge_advice(state.most_parts_a_day, state.oldest_unmerged_seconds);
    return advice.empty() ? fine("span parts", detail) : warning("span parts", detail, std::move(advice));
}

FindingView check_disk_space(const DiagnosisParts& parts) {
    struct statvfs status {};
    if (statvfs(parts.config.data_dir.c_str(), &status) != 0)
        return problem("disk", "the free space of data_dir cannot be read", "");
    const double unit = static_cast<double>(status.f_frsize);
    const double free_gib = static_cast<double>(status.f_bavail) * unit / (1 << 30);
    const double share =
        static_cast<double>(status.f_bavail) / static_cast<double>(std::max<fsblkcnt_t>(1, status.f_blocks));
    const std::string detail = fmt::format("{:.1f} GiB free, {:.0f} %", free_gib, share * 100);
    if (free_gib < 2) return problem("disk", detail, "free space now: spans are rejected at 1 GiB");
    if (share < 0.1) return warning("disk", detail, "shorten retention_days or the keep_ limits, or add disk");
    return fine("disk", detail);
}

FindingView check_scheduler(const DiagnosisParts& parts) {
    if (!parts.roles.scheduler) return fine("scheduler", "not a role of this server");
    const auto state = parts.scheduler.state();
    if (!state.ok()) return problem("scheduler", state.error().message, "");
    const std::string detail =
        fmt::format("{:.0f} s behind, {} slots due", state.value().behind_seconds, state.value().due_slots);
    if (!state.value().last_error.empty())
        return warning("scheduler", detail + ": " + state.value().last_error, "the log of the server has more");
    if (state.value().behind_seconds < 60) return fine("scheduler", detail);
    return warning("scheduler", detail, "add a server with the role scheduler, or automate less");
}

FindingView check_requests(const DiagnosisParts& parts) {
    const std::string detail =
        fmt::format("{} of {} were refused because a queue was full", parts.edge.requests_busy, parts.edge.requests);
    if (parts.edge.requests_busy == 0) return fine("requests", detail);
    return warning("requests", detail, "add servers with the role api or ingest, or raise control_threads");
}

FindingView check_exposure(const DiagnosisParts& parts) {
    const config::Config& config = parts.config;
    const bool is_local = config.listen.starts_with("127.") || config.listen.starts_with("localhost:") ||
                          config.listen.starts_with("[::1]");
    if (is_local || !config.tls_key_file.empty() || !config.trusted_proxies.empty())
        return fine("exposure", is_local ? "listens on this machine only" : "behind TLS");
    return warning("exposure", "listens on " + config.listen + " without TLS and names no proxy",
                   "set tls_certificate_file and tls_key_file, or trusted_proxies");
}

FindingView check_password_logins(const DiagnosisParts& parts) {
    std::string found = password_login_problems(parts.database, parts.config);
    if (!found.empty()) return warning("password logins", std::move(found), password_logins_advice);
    const std::string& accounts = parts.config.password_logins;
    return fine("password logins", accounts == "all" ? "of all accounts" : "only " + accounts);
}

FindingView check_backups(const DiagnosisParts& parts, const FindingView& object_store) {
    if (parts.database.engine() == sql::Engine::postgres)
        return fine("backups", "of PostgreSQL: made with its own tools, not known here");
    // A list is requested several times, each with a long timeout.
    if (object_store.state == "problem") return problem("backups", "not known: the object store is away", "see above");
    const auto stored = stored_backups(parts.objects);
    if (!stored.ok()) return problem("backups", stored.error().message, "check object_store and its credentials");
    if (stored.value().empty())
        return warning("backups", "none in the object store", "hone backup store:, for example every night");
    const auto days =
        std::chrono::duration_cast<std::chrono::hours>(parts.clock.now() - stored.value().front().created_at).count() /
        24;
    const std::string detail = fmt::format("the newest is {} days old", days);
    if (days < 8) return fine("backups", detail);
    return warning("backups", detail, "hone backup store:, for example every night");
}

FindingView check_secrets(const DiagnosisParts& parts) {
    const auto counts = parts.skills.hygiene();
    if (!counts.ok()) return problem("secrets", counts.error().message, "");
    const std::string detail = fmt::format("{} of {} are old", counts.value().old, counts.value().secrets);
    if (counts.value().old == 0) return fine("secrets", detail);
    return warning("secrets", detail, "replace them: hone secret list shows which");
}

FindingView check_sandboxes(const DiagnosisParts& parts) {
    if (parts.sandboxes == nullptr)
        return warning("sandboxes", parts.no_sandboxes, "hone check, on the server's machine, shows what is missing");
    const auto namespaces = parts.sandboxes->makes_namespaces();
    if (!namespaces.ok()) return problem("sandboxes", namespaces.error().message, "restart the server");
    if (namespaces.value()) return fine("sandboxes", "with namespaces");
    if (const auto possible = sandbox::helpers_possible(); !possible.ok())
        return problem("sandboxes", possible.error().message, "neither runs nor repositories work on this machine");
    return warning("sandboxes",
                   "without namespaces: git runs behind Landlock and a filter, and no worker runs on this machine",
                   "use provider kubernetes, or allow namespaces (docs/sandbox.md)");
}

} // namespace

std::vector<FindingView> diagnose(const DiagnosisParts& parts) {
    const FindingView object_store = check_object_store(parts), span_store = check_span_store(parts);
    std::vector<FindingView> findings{check_database(parts),
                                      span_store,
                                      object_store,
                                      check_clock(parts),
                                      check_lease(parts),
                                      check_spans(parts),
                                      check_records(parts),
                                      check_span_parts(parts),
                                      check_disk_space(parts),
                                      check_scheduler(parts),
                                      check_requests(parts),
                                      check_exposure(parts),
                                      check_password_logins(parts),
                                      check_backups(parts, object_store),
                                      check_secrets(parts),
                                      check_sandboxes(parts)};
    for (FindingView& finding : check_isolation(parts, span_store)) findings.push_back(std::move(finding));
    for (FindingView& finding : check_servers(parts)) findings.push_back(std::move(finding));
    return findings;
}

} // namespace hone::server
