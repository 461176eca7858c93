// `hone check`: what this machine offers, one line each, with advice where something is missing.
#include "sandbox/local/check.h"
#include "access/accounts/logins.h"
#include "base/file.h"
#include "base/path.h"
#include "base/text.h"
#include "config/config.h"
#include "crypto/crypto.h"
#include "net/client/client.h"
#include "run/harnesses/harness_store.h"
#include "server/adapters/cluster.h"
#include "server/beside_program.h"
#include "server/commands/arguments.h"
#include "server/commands/commands.h"
#include "server/object_storage.h"
#include "server/operations/password_logins.h"
#include "skill/skills.h"
#include "sql/directory_lock.h"
#include "sql/sql.h"
#include "telemetry/engine/chdb.h"
#include "telemetry/engine/clickhouse.h"
#include "telemetry/engine/engine_confinement.h"
#include "telemetry/engine/merge_state.h"
#include "json/json.h"

#include <arpa/inet.h>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

namespace hone::server {

namespace {

struct CheckLine {
    std::string name;
    std::string state; // ok, warning, missing
    std::string detail;
    std::string advice;
    static constexpr Pack fields{
        Field{"name", &CheckLine::name, ""},
        Field{"state", &CheckLine::state, ""},
        Field{"detail", &CheckLine::detail, ""},
        Field{"advice", &CheckLine::advice, ""},
    };
};

CheckLine check_kernel() {
    utsname name{};
    uname(&name);
    return {"kernel", "ok", std::string(name.sysname) + " " + name.release + " " + name.machine, ""};
}

CheckLine check_descriptors() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const bool enough = limit.rlim_max >= 20'000;
    return {"open files", enough ? "ok" : "warning", fmt::format("hard limit {}", limit.rlim_max),
            enough ? "" : "for more connections raise it: ulimit -Hn 65536, or LimitNOFILE= in the systemd unit"};
}

CheckLine check_data_dir(const std::string& path) {
    if (!file_exists(path)) {
        const auto absolute = std::filesystem::absolute(path);
        std::string parent = absolute.parent_path().string();
        while (!file_exists(parent) && parent.size() > 1) parent = std::filesystem::path(parent).parent_path().string();
        const bool writable = ::access(parent.c_str(), W_OK) == 0;
        return {"data directory", writable ? "ok" : "missing",
                path + (writable ? " will be created at first start" : " cannot be created"),
                writable ? "" : "choose a directory you may write with --data-dir"};
    }
    if (::access(path.c_str(), W_OK) != 0)
        return {"data directory", "missing", path + " is not writable",
                "choose another with --data-dir, or change its owner"};
    auto lock = sql::DirectoryLock::acquire(path);
    return {"data directory", "ok", path + (lock.ok() ? "" : " (in use: " + lock.error().message + ")"), ""};
}

CheckLine check_disk(const std::string& path) {
    std::string existing = std::filesystem::absolute(path).string();
    while (!file_exists(existing) && existing.size() > 1)
        existing = std::filesystem::path(existing).parent_path().string();
    struct statvfs status {};
    if (statvfs(existing.c_str(), &status) != 0)
        return {"disk", "warning", "cannot read the free space of " + existing, ""};
    const double free_gib = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize) / (1 << 30);
    return {"disk", free_gib < 2 ? "warning" : "ok", fmt::format("{:.1f} GiB free", free_gib),
            free_gib < 2 ? "traces need room: free some, or set a shorter retention" : ""};
}

CheckLine check_database(const config::Config& config) {
    if (config.database_url.empty()) return {"database", "ok", "SQLite in the data directory", ""};
    sql::Options options;
    options.url = config.database_url;
    auto database = sql::Database::open(options);
    if (!database.ok())
        return {"database", "missing", database.error().message, "check database_url and that PostgreSQL is running"};
    return {"database", "ok", "PostgreSQL responds", ""};
}

CheckLine check_clickhouse(const config::Config& config) {
    telemetry::ClickHouse store(clickhouse_options(config));
    telemetry::ClickHouseQuery version("SELECT version() FORMAT TSVRaw");
    version.database.clear();
    const auto found = store.query(version);
    if (!found.ok())
        return {"span engine", "missing", "ClickHouse at " + config.clickhouse_url + ": " + found.error().message,
                "check clickhouse_url, clickhouse_user, its password and that server"};
    return {"span engine", "ok",
            fmt::format("ClickHouse {} at {}; hone clickhouse check verifies its users and tables", trim(found.value()),
                        config.clickhouse_url),
            ""};
}

CheckLine check_engine(const config::Config& config) {
    if (!config.clickhouse_url.empty()) return check_clickhouse(config);
    const auto library = telemetry::find_chdb_library(config.engine_library);
    if (!library.ok())
        return {"span engine", "warning", library.error().message,
                "put libchdb.so beside the program, or name it with engine_library; without it no traces are kept"};
    if (!telemetry::can_confine_files() && config.engine_unconfined != "true")
        return {"span engine", "warning", "this kernel has no Landlock, so the engine does not start",
                "start the kernel with lsm=landlock, or read about engine_unconfined in docs/config.md"};
    return {"span engine", "ok", library.value(), ""};
}

// Where the server of this data directory listens; empty when none runs.
std::string running_server(const std::string& data_dir) {
    const auto text = read_file(data_dir + "/addresses.json", 1 << 16);
    const auto addresses = text.ok() ? json::parse(text.value()) : Result<json::Value>(text.error());
    if (!addresses.ok() || !addresses.value().is_object()) return {};
    const json::Object& found = addresses.value().as_object();
    const auto* url = found.if_contains("http_local") ? found.if_contains("http_local") : found.if_contains("http");
    return url == nullptr || !url->is_string() ? "" : std::string(url->as_string());
}

Result<net::ClientResponse> ask_server(const std::string& url, const char* path) {
    net::ClientRequest request;
    request.url = url + path;
    request.total_timeout = std::chrono::seconds(10);
    return net::HttpClient().send(request);
}

// How the parts of spans are merged: each insert makes one, and a query opens every part of its days.
std::optional<CheckLine> check_parts(const std::string& url) {
    const auto answer = ask_server(url, "/metrics");
    if (!answer.ok() || answer.value().status != 200) return std::nullopt;
    const auto number = [&](const std::string& name) -> double {
        for (const std::string_view line : split(answer.value().body, '\n'))
            if (line.starts_with(name + " "))
                return std::strtod(std::string(line.substr(name.size())).c_str(), nullptr);
        return 0;
    };
    const double parts = number("hone_span_parts"), most = number("hone_span_parts_most_in_a_day");
    const double oldest = number("hone_span_parts_unmerged_oldest_seconds");
    const std::string advice = telemetry::merge_advice(static_cast<int64_t>(most), oldest);
    return CheckLine{"span parts", advice.empty() ? "ok" : "warning",
                     fmt::format("{:.0f}, at most {:.0f} of one day; the oldest unmerged one is {:.0f} min old", parts,
                                 most, oldest / 60),
                     advice};
}

// Queries the server of this data directory, when one runs, whether it can store what it accepts.
std::optional<CheckLine> check_spans(const std::string& url) {
    const auto answer = ask_server(url, "/readyz");
    if (!answer.ok())
        return CheckLine{"running server", "warning", answer.error().message,
                         "addresses.json names a server that does not respond: see its log, or start it again"};
    const std::string& body = answer.value().body;
    const std::string_view rest = std::string_view(body).substr(body.starts_with("ready\nwarning: ") ? 15 : 0);
    const size_t end = rest.find('\n');
    if (answer.value().status == 200 && rest == "ready\n")
        return CheckLine{"running server", "ok", url + " is ready and stores spans", ""};
    return CheckLine{"running server", answer.value().status == 200 ? "warning" : "missing",
                     std::string(rest.substr(0, end)),
                     std::string(trim(end == rest.npos ? std::string_view() : rest.substr(end)))};
}

CheckLine check_worker_files() {
    for (const char* name : {"hone-inside", "playbooks"})
        if (beside_program(name).empty())
            return {"worker files", "warning", std::string(name) + " is missing",
                    "put it beside the program; without it no session can start"};
    return {"worker files", "ok", "hone-inside and playbooks", ""};
}

// Programs of coding agents; playbooks need none.
CheckLine check_harnesses(const std::string& data_dir) {
    std::string found;
    if (const auto installed = run::HarnessStore(data_dir).list(); installed.ok())
        for (const run::InstalledHarness& one : installed.value())
            found += (found.empty() ? "" : ", ") + one.name + " " + one.version;
    if (!found.empty()) return {"harnesses", "ok", found + ", playbook", ""};
    return {"harnesses", "warning", "only playbook",
            "for a coding agent: hone harness install claude-code --data-dir " + quote_shell(data_dir)};
}

// Null when there is none yet, or it cannot be opened. No server is needed to read it.
std::unique_ptr<sql::Database> open_database(const config::Config& config) {
    sql::Options options;
    options.url = config.database_url.empty() ? "sqlite:" + config.data_dir + "/hone.db" : config.database_url;
    options.check_up_to_bytes = 0;
    if (config.database_url.empty() && !file_exists(config.data_dir + "/hone.db")) return nullptr;
    auto database = sql::Database::open(options);
    return database.ok() ? std::move(database).value() : nullptr;
}

// Model skills of any space.
int64_t count_model_skills(const config::Config& config) {
    const auto database = open_database(config);
    if (!database) return 0;
    const auto count = skill::Skills::count_models(*database);
    return count.ok() ? count.value() : 0;
}

// Behind a proxy that is not named, all clients have its address: one attacker locks the login for everyone.
std::optional<CheckLine> check_proxies(const config::Config& config) {
    if (!config.trusted_proxies.empty()) return std::nullopt;
    const auto database = open_database(config);
    if (!database) return std::nullopt;
    const auto shared = access::shared_peer(*database);
    if (!shared.ok() || !shared.value()) return std::nullopt;
    return CheckLine{
        "client addresses", "warning",
        fmt::format("all {} users log in from {}", shared.value()->users, shared.value()->peer),
        "if that is a reverse proxy, set trusted_proxies: otherwise wrong passwords of one client count for "
        "all of them (docs/accounts.md)"};
}

std::optional<CheckLine> check_password_logins(const config::Config& config) {
    if (config.password_logins == "all") return std::nullopt;
    const auto database = open_database(config);
    if (!database) return std::nullopt;
    const std::string found = password_login_problems(*database, config);
    if (found.empty()) return CheckLine{"password logins", "ok", "only " + config.password_logins, ""};
    return CheckLine{"password logins", "warning", found, password_logins_advice};
}

CheckLine check_models(const config::Config& config) {
    std::string found;
    if (const int64_t skills = count_model_skills(config); skills > 0)
        found = fmt::format("{} model skill{}", skills, skills == 1 ? "" : "s");
    if (!found.empty()) return {"model credentials", "ok", found, ""};
    return {"model credentials", "warning", "no model skill",
            "coding agents need one: hone skill create claude --type model --var PROTOCOL=anthropic --secret API_KEY"};
}

CheckLine check_object_store(const config::Config& config) {
    if (config.object_store == "file" && !file_exists(config.data_dir))
        return {"object store", "ok", "files in the data directory", ""};
    const SystemClock clock;
    const auto usable = probe_object_store(config, clock);
    if (!usable.ok())
        return {"object store", "missing", usable.error().message, "docs/object-store.md explains object_store"};
    const bool is_clear = usable.value().find(" at http://") != std::string::npos &&
                          usable.value().find(" at http://127.") == std::string::npos;
    return {"object store", is_clear ? "warning" : "ok", usable.value(),
            is_clear ? "artifacts and backups travel in clear: use an https:// endpoint" : ""};
}

CheckLine check_tls(const config::Config& config) {
    const auto port = config.listen.rfind(':');
    const std::string host = config.listen.substr(0, port);
    const bool local = host == "localhost" || host == "[::1]" || host.starts_with("127.");
    if (!config.tls_key_file.empty()) return {"transport", "ok", "HTTPS on " + config.listen, ""};
    return {"transport", local ? "ok" : "warning", "HTTP on " + config.listen,
            local ? ""
                  : "passwords and keys travel in clear: set tls_certificate_file and tls_key_file, or put a TLS proxy "
                    "in front"};
}

} // namespace

int check_main(int argc, char** argv) {
    const bool json_wanted = wants_json(argc, argv);
    std::vector<const char*> rest;
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "--json") == 0) continue;
        if (std::strcmp(argv[i], "--help") == 0 || std::strcmp(argv[i], "-h") == 0) {
            std::printf("Usage: hone check [--json] [options of hone serve]\n\nReports what this machine offers for "
                        "the given settings. Exit code 1 when something needed is missing.\n");
            return 0;
        }
        rest.push_back(argv[i]);
    }
    auto flags = config::parse_flags(rest);
    auto loaded = flags.ok()
                      ? config::load(flags.value(),
                                     [](const std::string& name) -> std::optional<std::string> {
                                         const char* value = std::getenv(name.c_str());
                                         return value == nullptr ? std::nullopt : std::optional<std::string>(value);
                                     })
                      : Result<config::Loaded>(flags.error());
    if (!loaded.ok()) return report_failure(invalid(loaded.error().message), json_wanted);
    const config::Config& config = loaded.value().config;
    crypto::start();
    std::vector<CheckLine> lines{check_kernel(),
                                 check_data_dir(config.data_dir),
                                 check_disk(config.data_dir),
                                 check_database(config),
                                 check_object_store(config),
                                 check_engine(config),
                                 check_worker_files(),
                                 check_harnesses(config.data_dir),
                                 check_models(config),
                                 check_tls(config),
                                 check_descriptors()};
    if (const auto proxies = check_proxies(config)) lines.push_back(*proxies);
    if (const auto passwords = check_password_logins(config)) lines.push_back(*passwords);
    if (const std::string url = running_server(config.data_dir); !url.empty()) {
        if (const auto spans = check_spans(url)) lines.push_back(*spans);
        if (const auto parts = check_parts(url)) lines.push_back(*parts);
    }
    // Sandboxes are not needed to serve: what they lack is a warning here, and a refusal where one is started.
    for (auto& line : sandbox::check("", config.data_dir))
        lines.push_back({"sandbox: " + line.name, line.state == sandbox::CheckLine::ok ? "ok" : "warning", line.detail,
                         line.advice});
    for (auto& finding : check_cluster(config, SystemClock()))
        lines.push_back({finding.name, finding.is_ok ? "ok" : "missing", finding.detail, finding.advice});
    bool missing = false;
    for (const auto& line : lines) missing = missing || line.state == "missing";
    if (json_wanted) {
        std::printf("%s\n", json::write(lines).c_str());
        return missing ? 1 : 0;
    }
    const bool colour = isatty(1) != 0 && std::getenv("NO_COLOR") == nullptr;
    for (const auto& line : lines) {
        const char* shade = !colour                   ? ""
                            : line.state == "ok"      ? "\033[32m"
                            : line.state == "warning" ? "\033[33m"
                                                      : "\033[31m";
        std::printf("%s%-8s%s %-34s %s\n", shade, line.state.c_str(), colour ? "\033[0m" : "", line.name.c_str(),
                    line.detail.c_str());
        if (!line.advice.empty()) std::printf("         %-34s → %s\n", "", line.advice.c_str());
    }
    return missing ? 1 : 0;
}

} // namespace hone::server
