// The settings of `hone serve`. One line in settings.cpp declares a setting: flag --retention-days, variable
// HONE_RETENTION_DAYS, key retention_days in DIR/hone.toml, `hone serve --help` and docs/config.md all come from it.
// A flag wins over the environment, the environment over the file. Read once at start; immutable afterwards. Paths are
// absolute once they are read: relative ones are looked for from the working directory of that moment.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::config {

struct Bytes {
    int64_t count = 0;
};

struct Config {
    std::string data_dir = "./hone-data";
    std::string listen = "127.0.0.1:7070";
    std::string database_url;
    std::string roles = "api,ingest,scheduler,worker";
    Duration server_lost_after = std::chrono::minutes(10);
    std::string object_store = "file";
    std::string object_store_credentials_file;
    std::string object_store_ca_file;
    Duration export_lifetime = std::chrono::hours(24 * 30);
    std::string master_key_file;
    std::string master_key_command;
    int64_t secret_old_days = 90;
    int64_t secret_unused_days = 30;
    int64_t run_places = 8;
    int64_t run_places_per_space = 4;
    Bytes run_max_memory{int64_t{16} << 30};
    int64_t run_max_cpus = 16;
    int64_t run_max_pids = 8192;
    Bytes run_max_disk{int64_t{64} << 30};
    int64_t run_max_minutes = 1440;
    int64_t run_default_tokens = 5'000'000;
    std::string keep_runs = "age=180d count=20000";
    std::string keep_workspaces = "age=30d count=1000 bytes=15%";
    std::string keep_layers = "age=30d count=200 bytes=15%";
    std::string keep_images = "age=180d";
    std::string keep_quarantines = "age=30d bytes=5%";
    std::string keep_mirrors = "age=90d bytes=10%";
    std::string keep_artifacts = "bytes=10%";
    std::string keep_uploads = "age=30d bytes=5%";
    std::string evaluator_packages_dir;
    std::string egress_ca_file;
    std::string egress_private_hosts;
    std::string egress_proxy;
    std::string egress_no_proxy;
    std::string packages_npm = "https://registry.npmjs.org/";
    std::string packages_pypi = "https://pypi.org/simple/,https://files.pythonhosted.org/";
    std::string packages_debian = "http://deb.debian.org/debian/,http://deb.debian.org/debian-security/";
    std::string packages_crates = "https://index.crates.io/,https://static.crates.io/";
    std::string packages_go = "https://proxy.golang.org/,https://sum.golang.org/";
    std::string packages_maven = "https://repo.maven.apache.org/maven2/";
    Bytes git_mirror_bytes{int64_t{2} << 30};
    Bytes git_push_bytes{int64_t{100} << 20};
    int64_t git_push_objects = 200'000;
    int64_t git_push_files = 10'000;
    Bytes git_push_file_bytes{int64_t{50} << 20};
    Bytes git_run_bytes{int64_t{500} << 20};
    std::string ui_dir;
    std::string tls_certificate_file;
    std::string tls_key_file;
    std::string trusted_proxies;
    std::string proxy_header = "x-forwarded-for";
    std::string log_format = "text";
    std::string log_level = "info";
    int64_t edge_threads = 2;
    int64_t control_threads = 8;
    int64_t control_queue = 256;
    int64_t max_connections = 20'000;
    int64_t max_connections_per_peer = 0;
    Bytes body_limit{4 << 20};
    Duration request_timeout = std::chrono::seconds(30);
    Duration keep_alive = std::chrono::minutes(2);
    Duration drain_timeout = std::chrono::seconds(10);
    int64_t requests_per_minute = 6'000;
    Duration login_session_lifetime = std::chrono::hours(24 * 14);
    Duration invite_lifetime = std::chrono::hours(24 * 7);
    int64_t login_attempts = 5;
    Duration login_lockout = std::chrono::minutes(5);
    std::string otlp_http_listen = "127.0.0.1:4318";
    std::string otlp_grpc_listen = "127.0.0.1:4317";
    std::string otlp_open = "false";
    int64_t retention_days = 30;
    std::string prices_file;
    std::string clickhouse_url;
    std::string clickhouse_user;
    std::string clickhouse_password;
    std::string clickhouse_ca_file;
    std::string clickhouse_reader_user;
    std::string clickhouse_reader_password;
    std::string clickhouse_cluster;
    std::string engine_library;
    std::string engine_unconfined = "false";
    Bytes engine_memory{int64_t{2} << 30};
    Duration engine_idle_stop = std::chrono::minutes(10);
    Bytes span_log_limit{int64_t{4} << 30};
    Bytes span_log_object_limit{int64_t{64} << 30};
    Duration span_wait_limit = std::chrono::minutes(1);
    int64_t ingest_threads = 4;
    int64_t query_threads = 4;
    int64_t sandbox_ready = 2;
    std::string kubernetes_kubeconfig;
    std::string kubernetes_context;
    std::string kubernetes_namespace;
    std::string kubernetes_image;
    std::string kubernetes_tools_image;
    std::string kubernetes_pull_secrets;
    std::string kubernetes_node_selector;
    std::string kubernetes_runtime_class;
    std::string kubernetes_storage_class;
    std::string kubernetes_pod_user = "own_uid";
    int64_t kubernetes_ready = 0;
    std::string public_url;
    std::string password_logins = "all";
    std::string second_factor_required = "false";
    Duration sign_on_lifetime = std::chrono::hours(12);
    std::string sign_on_private_addresses = "false";
    std::string notice_private_addresses = "false";
    std::string smtp_host;
    int64_t smtp_port = 587;
    std::string smtp_security = "starttls";
    std::string smtp_from;
    std::string smtp_user;
    std::string smtp_password;
    std::string smtp_password_file;
    std::string telemetry_endpoint;
    std::string telemetry_headers;
    std::string telemetry_ca_file;
    Duration telemetry_interval = std::chrono::minutes(1);
};

struct Setting {
    std::string_view name; // retention_days
    std::string_view doc;
    std::string_view value_hint; // what a value looks like: ADDRESS, NUMBER, DURATION
    bool secret = false;         // its value is never shown
    int64_t minimum = 0;
    int64_t maximum = INT64_MAX;
    std::span<const std::string_view> choices{};
    Result<> (*set)(Config&, const Setting&, std::string_view text) = nullptr;
    std::string (*get)(const Config&) = nullptr;

    bool is_path() const { return value_hint == "FILE" || value_hint == "DIR"; }
    std::string flag() const;     // --retention-days
    std::string variable() const; // HONE_RETENTION_DAYS
};

std::span<const Setting> settings();

enum class Source { built_in, file, environment, flag };
const char* source_name(Source source);

struct Loaded {
    Config config;
    std::map<std::string, Source, std::less<>> sources; // only those that are not built in
};

using Lookup = std::function<std::optional<std::string>(const std::string& variable)>;

// `flags` maps setting names to values; `environment` reads a variable.
Result<Loaded> load(const std::map<std::string, std::string>& flags, const Lookup& environment);

// Applies a TOML text; `origin` names it in errors. Exposed for tests and fuzzing.
Result<> apply_file(Loaded& loaded, std::string_view toml, const std::string& origin);

// The flags of a command line, without the program's name: --listen ADDRESS, --listen=ADDRESS.
Result<std::map<std::string, std::string>> parse_flags(std::span<const char* const> arguments);
// The flags as `--help` shows them.
std::string flags_help();

// docs/config.md
std::string print_markdown();

} // namespace hone::config
