#include "telemetry/outside/store_check.h"

#include "base/text.h"
#include "telemetry/cluster/user_sql.h"
#include "telemetry/engine/engine_config.h"
#include "telemetry/engine/isolation.h"
#include "telemetry/engine/project_views.h"
#include "telemetry/engine/schema.h"
#include "telemetry/outside/canaries.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

namespace hone::telemetry {

namespace {

// What Hone uses is in this version and later ones.
constexpr int64_t oldest_year = 25, oldest_month = 3;
// A server compares the time of an insert with its own clock, the claim of a block with another server's
// (docs/scale.md).
constexpr int64_t most_apart_ms = 5000, suspicious_ms = 2000;

std::string list_of_words(const std::vector<std::string>& words, std::string_view between) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : std::string(between)) + word;
    return list;
}

// Servers print the same expression with other parentheses and blanks.
std::string without_spelling(std::string text) {
    std::erase_if(text, [](char letter) { return letter == '(' || letter == ')' || letter == ' ' || letter == '`'; });
    return text;
}

std::vector<std::string> addresses_of(const std::string& url) {
    std::vector<std::string> addresses;
    for (const std::string_view part : split(url, ','))
        if (!trim(part).empty()) addresses.emplace_back(trim(part));
    return addresses;
}

// How far the clock of an address is before ours; we cannot know it better than the time that the request took.
struct ClockOffset {
    std::string address;
    int64_t ms = 0;
};

class AddressCheck {
public:
    AddressCheck(const ClickHouseOptions& options, std::string address, const Clock& clock,
                 std::vector<StoreFinding>& findings)
        : m_address(std::move(address)),
          m_options(options),
          m_clock(clock),
          m_findings(findings),
          m_server(of_address(options.user, options.password)),
          m_reader(of_address(options.reader_user, options.reader_password)) {}

    // None: it cannot be reached.
    std::optional<ClockOffset> run() {
        if (!check_connection()) return std::nullopt;
        const auto offset = measure_clock();
        check_rights();
        check_shards();
        const bool has_tables = check_tables();
        check_disks();
        if (m_options.reader_user.empty())
            ok("SQL of people", "rejected: clickhouse_reader_user is not set (docs/query-traces.md)");
        else if (check_reader() && has_tables)
            check_isolation();
        return offset;
    }

private:
    ClickHouseOptions of_address(const std::string& user, const std::string& password) const {
        ClickHouseOptions one = m_options;
        one.url = m_address;
        one.user = user;
        one.password = password;
        return one;
    }
    void ok(std::string name, std::string detail) { add(std::move(name), "ok", std::move(detail), ""); }
    void warning(std::string name, std::string detail, std::string advice) {
        add(std::move(name), "warning", std::move(detail), std::move(advice));
    }
    void problem(std::string name, std::string detail, std::string advice) {
        add(std::move(name), "problem", std::move(detail), std::move(advice));
    }
    void add(std::string name, std::string state, std::string detail, std::string advice) {
        m_findings.push_back({m_address, std::move(name), std::move(state), std::move(detail), std::move(advice)});
    }
    static Result<std::string> ask(ClickHouse& store, const std::string& sql, std::string database = "hone") {
        ClickHouseQuery query(sql);
        query.database = std::move(database);
        return std::string(trim(TRY(store.query(query))));
    }

    bool check_connection() {
        const auto version = ask(m_server, "SELECT version() FORMAT TSVRaw", "");
        if (!version.ok()) {
            problem("connection", version.error().message,
                    "check clickhouse_url, clickhouse_user, HONE_CLICKHOUSE_PASSWORD and that server");
            return false;
        }
        const auto parts = split(version.value(), '.');
        const auto year = parse_integer(parts[0]), month = parse_integer(parts.size() > 1 ? parts[1] : "");
        const bool is_new_enough =
            year.ok() && month.ok() && std::pair(year.value(), month.value()) >= std::pair(oldest_year, oldest_month);
        if (is_new_enough)
            ok("version", version.value());
        else
            problem("version", version.value() + " is older than 25.3", "upgrade ClickHouse");
        return true;
    }

    std::optional<ClockOffset> measure_clock() {
        const int64_t before = to_ns(m_clock.now()) / 1'000'000;
        const auto there = ask(m_server, "SELECT toUnixTimestamp64Milli(now64(3)) FORMAT TSVRaw", "");
        const int64_t after = to_ns(m_clock.now()) / 1'000'000;
        const auto ms = there.ok() ? parse_integer(there.value()) : Result<int64_t>(there.error());
        if (ms.ok()) return ClockOffset{m_address, ms.value() - (before + after) / 2};
        problem("clock", ms.error().message, "check the load of that server");
        return std::nullopt;
    }

    void check_rights() {
        const ClickHouseUsers users{m_options.user, m_options.reader_user, m_options.cluster};
        std::vector<std::string> missing, statements;
        size_t checked = 0;
        for (const ClickHouseGrant& grant : grants_of_user(users)) {
            const size_t before = missing.size();
            for (const std::string& right : grant.checks) {
                ++checked;
                const auto granted = ask(m_server, "CHECK GRANT " + right, "");
                if (!granted.ok())
                    return problem("rights", granted.error().message, "upgrade ClickHouse, or check its log");
                if (granted.value() != "1") missing.push_back(right);
            }
            if (missing.size() > before) statements.push_back(grant.statement);
        }
        if (!missing.empty())
            return problem("rights", m_options.user + " lacks " + list_of_words(missing, ", "),
                           "an administrator runs: " + list_of_words(statements, "; "));
        const auto shown = ask(m_server, "SHOW GRANTS FORMAT TSVRaw", "");
        if (!shown.ok()) return problem("rights", shown.error().message, "check the log of that server");
        const auto excess = excess_of_user(shown.value());
        if (excess.empty())
            return ok("rights", fmt::format("{} has the {} that it needs, and no others", m_options.user, checked));
        warning("rights", m_options.user + " has more than it needs: " + list_of_words(excess, "; "),
                "revoke them: with them the password of the server opens other databases too");
    }

    void check_shards() {
        if (m_options.cluster.empty()) return;
        const auto checked = check_cluster(m_server);
        if (!checked.ok())
            return problem("cluster", checked.error().message, "docs/scale.md explains clickhouse_cluster");
        ClickHouseQuery query("SELECT count() FROM system.clusters WHERE cluster = {cluster:String} FORMAT TSVRaw");
        query.bind("cluster", m_options.cluster);
        query.database.clear();
        const auto counted = m_server.query(query);
        if (!counted.ok()) return problem("cluster", counted.error().message, "");
        const auto replicas = parse_integer(trim(counted.value()));
        const auto addresses = static_cast<int64_t>(addresses_of(m_options.url).size());
        const std::string detail =
            fmt::format("{} has one shard with {} replicas", m_options.cluster, trim(counted.value()));
        if (!replicas.ok() || replicas.value() <= addresses) return ok("cluster", detail);
        warning("cluster", detail + fmt::format("; clickhouse_url names {}", addresses),
                "name all of them: only those are checked, and used when one is away");
    }

    bool check_tables() {
        const auto found = ask(m_server, "SELECT name FROM system.tables WHERE database = 'hone' FORMAT TSVRaw");
        const char* advice =
            "start a server with this clickhouse_url, or run hone clickhouse setup --apply: both make the tables";
        if (!found.ok()) { // there is no database hone
            problem("tables", found.error().message, advice);
            return false;
        }
        const std::string list = "\n" + found.value() + "\n";
        std::vector<std::string> missing;
        const auto need = [&](std::string_view name) {
            const std::string text(name);
            if (list.find("\n" + text + "\n") == list.npos &&
                std::ranges::find(missing, "hone." + text) == missing.end())
                missing.push_back("hone." + text);
        };
        for (const std::string_view name : schema_names()) need(name);
        for (const std::string_view name : policy_tables) need(name);
        if (!missing.empty()) {
            problem("tables", list_of_words(missing, ", ") + (missing.size() == 1 ? " is missing" : " are missing"),
                    advice);
            return false;
        }
        if (const auto replicated = check_replicated(m_server); !replicated.ok()) {
            problem("tables", replicated.error().message, "docs/scale.md explains clickhouse_cluster");
            return false;
        }
        ok("tables", "all are there");
        check_definition();
        return true;
    }

    // What a server adds to hone.spans at its start.
    void check_definition() {
        const auto made =
            ask(m_server, "SELECT create_table_query FROM system.tables WHERE database = 'hone' AND name = "
                          "'spans' FORMAT TSVRaw");
        ClickHouseQuery render("SELECT formatQuerySingleLine(concat('SELECT ', {condition:String})) FORMAT TSVRaw");
        render.bind("condition", arrival_condition());
        render.database.clear();
        const auto condition = m_server.query(render);
        if (!made.ok() || !condition.ok())
            return problem("inserts", (made.ok() ? condition.error() : made.error()).message,
                           "check the log of that server");
        const std::string definition = without_spelling(made.value());
        const std::string wanted =
            "CONSTRAINTarrives_in_timeCHECK" + without_spelling(std::string(trim(condition.value())).substr(7));
        std::vector<std::string> wrong;
        if (definition.find(wanted) == definition.npos)
            wrong.emplace_back("hone.spans has no constraint arrives_in_time, or another one");
        if (!has_tokens(made.value())) wrong.emplace_back("hone.spans does not keep the tokens of inserts");
        if (wrong.empty()) return ok("inserts", "hone.spans discards repeated inserts and refuses late ones");
        problem("inserts", list_of_words(wrong, "; ") + ": spans can be stored twice",
                "drop a constraint of that name, and start a server: it adds what is missing");
    }

    bool has_tokens(const std::string& definition) {
        if (m_options.cluster.empty()) return definition.find(token_window) != definition.npos;
        const auto window = ask(m_server, "SELECT value FROM system.replicated_merge_tree_settings WHERE name = "
                                          "'replicated_deduplication_window' FORMAT TSVRaw");
        return window.ok() && window.value() != "0" &&
               definition.find(" replicated_deduplication_window = 0") == definition.npos;
    }

    void check_disks() {
        const auto disks =
            ask(m_server, "SELECT name FROM system.disks WHERE lower(type) = 'local' AND keep_free_space = 0 "
                          "ORDER BY name FORMAT TSVRaw");
        if (!disks.ok()) return warning("free space", disks.error().message, "check the log of that server");
        if (disks.value().empty()) return ok("free space", "every disk keeps some");
        std::vector<std::string> names;
        for (const std::string_view name : split(disks.value(), '\n')) names.emplace_back(name);
        warning("free space", "nothing is kept free on " + list_of_words(names, ", "),
                "set keep_free_space_bytes of the disk in storage_configuration: a write without room can damage parts "
                "(docs/scale.md)");
    }

    bool check_reader() {
        const auto shown = ask(m_reader, "SHOW GRANTS FORMAT TSVRaw", "");
        if (!shown.ok()) {
            problem("reader", shown.error().message,
                    "check clickhouse_reader_user and HONE_CLICKHOUSE_READER_PASSWORD");
            return false;
        }
        const auto excess = excess_of_reader(shown.value());
        if (excess.empty())
            ok("reader", m_options.reader_user + " can read the views of projects and nothing else");
        else
            problem("reader", m_options.reader_user + " has more than it may have: " + list_of_words(excess, "; "),
                    "revoke them; the one that it needs is SELECT ON hone_project_*.*");
        return true;
    }

    void check_isolation() {
        const char* advice =
            "SQL of people is rejected until this is corrected: hone clickhouse setup prints the rights";
        // A server makes the policies again before its first query.
        const auto before = verify_policies(m_server);
        if (const auto made = create_policies(m_server); !made.ok())
            return problem("row policies", made.error().message, advice);
        const auto after = verify_policies(m_server);
        if (!after.ok()) return problem("row policies", after.error().message, advice);
        if (!before.ok())
            warning("row policies", "were made again: " + before.error().message,
                    "find out who changed them, unless no server has run SQL of people yet");
        else
            ok("row policies", "are those of this version on every table");
        Canaries canaries(m_server, m_reader, m_clock);
        if (const auto left = canaries.drop_leftovers(); !left.ok())
            warning("clean up", left.error().message,
                    "databases hone_project_check_… and tables hone.check_… can be dropped");
        else if (!left.value().empty())
            ok("clean up", "dropped what an earlier check left: " + list_of_words(left.value(), ", "));
        const auto made = canaries.make();
        if (!made.ok()) {
            problem("isolation", "it could not be tried: " + made.error().message, advice);
        } else {
            report_views();
            report("isolation", canaries.try_attacks(),
                   "revoke what the reader's user has beside SELECT ON hone_project_*.*, and set "
                   "select_from_system_db_requires_grant",
                   [&] { return fmt::format("{} attacks with the reader's user showed nothing", canaries.attacks()); });
            report("limits", canaries.try_limits(), "remove what the profile of the reader's user sets, or constrains",
                   [] { return "memory and time of a query are limited"; });
            report("repeated inserts", canaries.try_inserts(),
                   "remove insert_deduplicate and other settings of inserts from the profile of the server's user",
                   [] { return "are discarded, late ones are refused"; });
        }
        if (const auto dropped = canaries.drop(); !dropped.ok())
            problem(
                "clean up", dropped.error().message,
                "databases hone_project_check_… and tables hone.check_… can be dropped; the next check, in an hour, "
                "drops them too");
    }

    // What the first query of a project does.
    void report_views() {
        const std::string project = "project_" + Canaries::new_name(m_clock);
        ProjectViews views(m_server);
        if (const auto opened = views.open(project); !opened.ok())
            problem("views", opened.error().message, "SQL of people is rejected for this reason");
        else
            ok("views", "those of a project can be made and read");
        if (const auto dropped = drop_project_database(m_server, project); !dropped.ok())
            warning("clean up", dropped.error().message, "the database hone_" + project + " can be dropped");
    }

    void report(const char* name, const Result<std::vector<std::string>>& wrong, const char* advice, const auto& fine) {
        if (!wrong.ok())
            problem(name, "it could not be tried: " + wrong.error().message, advice);
        else if (!wrong.value().empty())
            problem(name, list_of_words(wrong.value(), "; "), advice);
        else
            ok(name, fine());
    }

    const std::string m_address;
    const ClickHouseOptions& m_options;
    const Clock& m_clock;
    std::vector<StoreFinding>& m_findings;
    ClickHouse m_server, m_reader;
};

void check_clocks(const std::vector<ClockOffset>& offsets, std::vector<StoreFinding>& findings) {
    if (offsets.size() < 2) return;
    const auto [first, last] = std::ranges::minmax_element(offsets, {}, &ClockOffset::ms);
    const int64_t apart = last->ms - first->ms;
    const std::string detail = fmt::format("{} addresses, {} ms apart at most", offsets.size(), apart);
    if (apart < suspicious_ms) return findings.push_back({"", "clocks", "ok", detail, ""});
    findings.push_back(
        {"", "clocks", apart < most_apart_ms ? "warning" : "problem",
         detail + fmt::format(": {} is behind {}", first->address, last->address),
         "synchronise the clocks of the ClickHouse servers (NTP): with more than 5 s, spans can be stored twice"});
}

} // namespace

bool has_problem(const std::vector<StoreFinding>& findings) {
    return std::ranges::any_of(findings, [](const StoreFinding& finding) { return finding.state == "problem"; });
}

std::vector<StoreFinding> check_store(const ClickHouseOptions& options, const Clock& clock) {
    std::vector<StoreFinding> findings;
    std::vector<ClockOffset> offsets;
    for (const std::string& address : addresses_of(options.url))
        if (const auto offset = AddressCheck(options, address, clock, findings).run()) offsets.push_back(*offset);
    check_clocks(offsets, findings);
    return findings;
}

} // namespace hone::telemetry
