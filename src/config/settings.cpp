#include "base/text.h"
#include "config/config.h"

namespace hone::config {

namespace {

Result<> in_range(const Setting& setting, int64_t value, const std::string& shown) {
    if (value >= setting.minimum && value <= setting.maximum) return {};
    return invalid(std::string(setting.name) + " must be between " + std::to_string(setting.minimum) + " and " +
                   std::to_string(setting.maximum) + ", not " + shown);
}

Result<> assign(std::string& member, const Setting& setting, std::string_view text) {
    if (!setting.choices.empty()) {
        std::string choices;
        for (const auto choice : setting.choices) {
            if (choice == text) {
                member = text;
                return {};
            }
            choices += (choices.empty() ? "" : ", ") + std::string(choice);
        }
        return invalid(std::string(setting.name) + " must be one of " + choices);
    }
    member = text;
    return {};
}

Result<> assign(int64_t& member, const Setting& setting, std::string_view text) {
    const int64_t value = TRY(parse_integer(text));
    TRY(in_range(setting, value, std::string(text)));
    member = value;
    return {};
}

Result<> assign(Bytes& member, const Setting& setting, std::string_view text) {
    const int64_t value = TRY(parse_bytes(text));
    TRY(in_range(setting, value, std::string(text)));
    member.count = value;
    return {};
}

Result<> assign(Duration& member, const Setting& setting, std::string_view text) {
    const int64_t value = TRY(parse_duration_ns(text));
    if (value / 1'000'000'000 < setting.minimum || value / 1'000'000'000 > setting.maximum)
        return invalid(std::string(setting.name) + " must be between " + std::to_string(setting.minimum) + "s and " +
                       std::to_string(setting.maximum) + "s, not " + std::string(text));
    member = Duration(value);
    return {};
}

std::string show(const std::string& value) {
    return value;
}
std::string show(int64_t value) {
    return std::to_string(value);
}
std::string show(Bytes value) {
    static constexpr std::string_view units = "kmgt";
    int64_t count = value.count;
    size_t unit = 0;
    for (; unit < units.size() && count >= 1024 && count % 1024 == 0; ++unit) count /= 1024;
    return std::to_string(count) + (unit > 0 ? std::string(1, units[unit - 1]) : "");
}
std::string show(Duration value) {
    const int64_t seconds = value.count() / 1'000'000'000;
    if (value.count() % 1'000'000'000 != 0) return std::to_string(value.count() / 1'000'000) + "ms";
    if (seconds != 0 && seconds % 86400 == 0) return std::to_string(seconds / 86400) + "d";
    if (seconds != 0 && seconds % 3600 == 0) return std::to_string(seconds / 3600) + "h";
    if (seconds != 0 && seconds % 60 == 0) return std::to_string(seconds / 60) + "m";
    return std::to_string(seconds) + "s";
}

template <auto member>
Result<> set(Config& config, const Setting& setting, std::string_view text) {
    return assign(config.*member, setting, text);
}
template <auto member>
std::string get(const Config& config) {
    return show(config.*member);
}

constexpr int64_t day = 86400;
constexpr int64_t no_limit = INT64_MAX;
constexpr std::string_view log_formats[] = {"text", "json"};
constexpr std::string_view booleans[] = {"false", "true"};
constexpr std::string_view smtp_securities[] = {"starttls", "tls", "none"};
constexpr std::string_view proxy_headers[] = {"x-forwarded-for", "forwarded"};
constexpr std::string_view log_levels[] = {"debug", "info", "warning", "error"};

template <auto member>
constexpr Setting text(std::string_view name, std::string_view doc, std::string_view hint,
                       std::span<const std::string_view> choices = {}) {
    return {name, doc, hint, false, 0, no_limit, choices, set<member>, get<member>};
}
template <auto member>
constexpr Setting number(std::string_view name, std::string_view doc, int64_t minimum, int64_t maximum) {
    return {name, doc, "NUMBER", false, minimum, maximum, {}, set<member>, get<member>};
}
template <auto member>
constexpr Setting bytes(std::string_view name, std::string_view doc, int64_t minimum, int64_t maximum) {
    return {name, doc, "SIZE", false, minimum, maximum, {}, set<member>, get<member>};
}
template <auto member>
constexpr Setting duration(std::string_view name, std::string_view doc, int64_t minimum_s, int64_t maximum_s) {
    return {name, doc, "DURATION", false, minimum_s, maximum_s, {}, set<member>, get<member>};
}

constexpr Setting secret(Setting setting) {
    setting.secret = true;
    return setting;
}

constexpr Setting list[] = {
    text<&Config::data_dir>("data_dir", "Directory of all data of Hone. Created (0700) at the first start.", "DIR"),
    text<&Config::listen>(
        "listen", "Address of the API and the web UI. Port 0 selects a free port and writes it to DIR/addresses.json.",
        "ADDRESS"),
    secret(text<&Config::database_url>(
        "database_url",
        "PostgreSQL of the control plane (postgres://user@host/name). Empty: SQLite in the data directory.", "URL")),
    text<&Config::roles>(
        "roles",
        "What this server does, of the servers that share database_url: `api` (API and web UI), "
        "`ingest` (receives telemetry), `scheduler` (automations, Signal, monitors, notices), `worker` "
        "(runs, experiments, evaluators, branches); separated by commas (docs/scale.md).",
        "LIST"),
    duration<&Config::server_lost_after>(
        "server_lost_after",
        "Time after which a server that does not report is lost: its runs end or are queued again, and follow-ups of "
        "its sessions start on other servers with an empty workspace.",
        20, 7 * day),
    text<&Config::object_store>(
        "object_store",
        "Where artifacts, exports, stored backups and shared prepared layers are: `file` (the data directory), "
        "`file:/directory`, or a bucket of an S3-compatible server: "
        "`s3://bucket/prefix?endpoint=https://host&region=us-east-1` (docs/object-store.md).",
        "LOCATION"),
    text<&Config::object_store_credentials_file>(
        "object_store_credentials_file",
        "File with aws_access_key_id and aws_secret_access_key for object_store, read again when they are rejected. "
        "Empty: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN in the environment.",
        "FILE"),
    text<&Config::object_store_ca_file>("object_store_ca_file",
                                        "PEM file of CA certificates for object_store. Empty: the system's.", "FILE"),
    duration<&Config::export_lifetime>(
        "export_lifetime", "Time after which exports in the object store are deleted (docs/object-store.md).", 3600,
        3650 * day),
    text<&Config::master_key_file>(
        "master_key_file",
        "File with the key that encrypts secrets. Empty: DIR/master.key, created (0600) at first start.", "FILE"),
    text<&Config::master_key_command>(
        "master_key_command",
        "Command that prints the master key, run by /bin/sh at the start and when it is rotated; instead of a file.",
        "COMMAND"),
    number<&Config::secret_old_days>("secret_old_days", "Days after which an unchanged secret is shown as old.", 1,
                                     36'500),
    number<&Config::secret_unused_days>("secret_unused_days",
                                        "Days after which a secret that no run used is shown as unused.", 1, 36'500),
    number<&Config::run_places>(
        "run_places",
        "Runs that this server executes at the same time; others wait. Experiments have at most half of these places.",
        1, 1000),
    number<&Config::run_places_per_space>("run_places_per_space", "Runs of one space that execute at the same time.", 1,
                                          1000),
    bytes<&Config::run_max_memory>("run_max_memory", "Most memory that a preset or session may request.", 64 << 20,
                                   1LL << 44),
    number<&Config::run_max_cpus>("run_max_cpus", "Most processors that a preset or session may request.", 1, 1024),
    number<&Config::run_max_pids>("run_max_pids", "Most processes and threads that a preset or session may request.", 8,
                                  1'000'000),
    bytes<&Config::run_max_disk>("run_max_disk", "Largest workspace that a preset or session may request.", 1 << 20,
                                 1LL << 44),
    number<&Config::run_max_minutes>("run_max_minutes", "Longest time limit of one sandbox in minutes.", 1, 1440),
    number<&Config::run_default_tokens>(
        "run_default_tokens",
        "Token budget of a run when neither its settings nor the policy of its space name a budget. 0: none.", 0,
        1LL << 50),
    text<&Config::keep_runs>("keep_runs",
                             "Ended runs that are kept, with transcripts and artifacts: `age=180d count=20000` (count: "
                             "of each space), or `none` to keep all. Runs with an open review, an open pull request or "
                             "a kept artifact stay.",
                             "LIMITS"),
    text<&Config::keep_workspaces>(
        "keep_workspaces",
        "Workspaces of ended runs that are kept for follow-ups: age, count, bytes (`20g`, or `15%` of the disk).",
        "LIMITS"),
    text<&Config::keep_layers>("keep_layers", "Prepared layers that are kept, counted from their last use.", "LIMITS"),
    text<&Config::keep_images>(
        "keep_images", "Images that are kept, counted from their last use. Those that a preset names stay.", "LIMITS"),
    text<&Config::keep_quarantines>(
        "keep_quarantines", "Pushed branches of ended runs that are kept. Those in review or in a pull request stay.",
        "LIMITS"),
    text<&Config::keep_mirrors>(
        "keep_mirrors",
        "Mirrors of repositories that are kept, counted from their last fetch. A removed one is "
        "fetched again when it is needed.",
        "LIMITS"),
    text<&Config::keep_uploads>(
        "keep_uploads", "Files that people gave to runs, kept for a rerun. Those that no run has go after a day.",
        "LIMITS"),
    text<&Config::keep_artifacts>(
        "keep_artifacts",
        "Reviewed artifacts that are kept, besides those that go with their run; twice the bytes are never exceeded.",
        "LIMITS"),
    text<&Config::evaluator_packages_dir>("evaluator_packages_dir",
                                          "Folder with packages that the code of evaluators can name: files for pip, "
                                          "and for npm as `npm pack` writes them. "
                                          "They must be readable for all users. Empty: none.",
                                          "DIR"),
    text<&Config::egress_ca_file>(
        "egress_ca_file",
        "PEM file of further CA certificates that the broker trusts for the hosts that workers reach.", "FILE"),
    text<&Config::egress_private_hosts>("egress_private_hosts",
                                        "Hosts on private addresses that workers may reach when their rules allow it, "
                                        "separated by commas: HOST:PORT, or "
                                        "HOST:PORT=SKILL_ID for runs with that skill only. Empty: none.",
                                        "LIST"),
    secret(text<&Config::egress_proxy>(
        "egress_proxy",
        "HTTP proxy that the broker's connections go through (http://user:password@host:port). Empty: none.", "URL")),
    text<&Config::egress_no_proxy>(
        "egress_no_proxy",
        "Hosts that are reached without egress_proxy, with all names below them, separated by commas.", "LIST"),
    text<&Config::packages_npm>(
        "packages_npm",
        "npm registry that sandbox.packages opens as `npm`, read-only: its address, then, separated "
        "by commas, those of further hosts that serve its files. Empty: none.",
        "URLS"),
    text<&Config::packages_pypi>(
        "packages_pypi",
        "Python package index that sandbox.packages opens as `pypi`, read-only: its address, then, separated "
        "by commas, those of further hosts that serve its files. Empty: none.",
        "URLS"),
    text<&Config::packages_debian>(
        "packages_debian",
        "Debian archive that sandbox.packages opens as `debian`, read-only: its address, then, separated "
        "by commas, those of further hosts that serve its files. Empty: none.",
        "URLS"),
    text<&Config::packages_crates>(
        "packages_crates",
        "Rust crate registry that sandbox.packages opens as `crates`, read-only: its address, then, separated "
        "by commas, those of further hosts that serve its files. Empty: none.",
        "URLS"),
    text<&Config::packages_go>(
        "packages_go",
        "Go module proxy that sandbox.packages opens as `go`, read-only: its address, then, separated "
        "by commas, those of further hosts that serve its files. Empty: none.",
        "URLS"),
    text<&Config::packages_maven>(
        "packages_maven",
        "Maven repository that sandbox.packages opens as `maven`, read-only: its address, then, separated "
        "by commas, those of further hosts that serve its files. Empty: none.",
        "URLS"),
    bytes<&Config::git_mirror_bytes>("git_mirror_bytes", "Largest mirror of a repository.", 1 << 20, 1LL << 40),
    bytes<&Config::git_push_bytes>("git_push_bytes", "Largest push of a worker.", 1 << 16, 1LL << 33),
    number<&Config::git_push_objects>("git_push_objects", "Most objects (files, folders, commits) in one push.", 1,
                                      100'000'000),
    number<&Config::git_push_files>("git_push_files", "Most files that a worker's branch can change.", 1, 10'000'000),
    bytes<&Config::git_push_file_bytes>("git_push_file_bytes", "Largest single file of a push, unpacked.", 1024,
                                        1LL << 33),
    bytes<&Config::git_run_bytes>("git_run_bytes", "Largest total size of the pushes of one run to one repository.",
                                  1 << 16, 1LL << 40),
    text<&Config::ui_dir>(
        "ui_dir", "Serve the web UI from this directory instead of the built-in one; for working on the UI.", "DIR"),
    text<&Config::tls_certificate_file>("tls_certificate_file",
                                        "PEM certificate chain. With tls_key_file it enables HTTPS.", "FILE"),
    text<&Config::tls_key_file>("tls_key_file", "PEM private key of the certificate.", "FILE"),
    text<&Config::trusted_proxies>("trusted_proxies",
                                   "Addresses of reverse proxies, such as 10.0.0.0/8, 127.0.0.1: only their "
                                   "proxy_header is trusted for the client's address and https. Empty: none.",
                                   "ADDRESSES"),
    text<&Config::proxy_header>("proxy_header", "The header that trusted_proxies set; the other one is ignored.",
                                "HEADER", proxy_headers),
    text<&Config::log_format>("log_format", "Format of log lines: text or json.", "FORMAT", log_formats),
    text<&Config::log_level>("log_level", "Least severe lines that are logged: debug, info, warning, error.", "LEVEL",
                             log_levels),
    number<&Config::edge_threads>("edge_threads", "Threads that read and write sockets.", 1, 16),
    number<&Config::control_threads>("control_threads", "Threads that serve API requests.", 1, 256),
    number<&Config::control_queue>("control_queue", "API requests that may wait for a thread; more get status 503.", 1,
                                   100'000),
    number<&Config::max_connections>("max_connections", "Connections open at the same time; more are refused.", 10,
                                     1'000'000),
    number<&Config::max_connections_per_peer>(
        "max_connections_per_peer",
        "Connections open at the same time from one address. 0: only max_connections limits them.", 0, 1'000'000),
    bytes<&Config::body_limit>("body_limit", "Largest request body of an ordinary API call.", 1024, 1LL << 30),
    duration<&Config::request_timeout>(
        "request_timeout", "Time limit to receive a whole header, and between two parts of a body.", 1, day),
    duration<&Config::keep_alive>("keep_alive", "Time an idle connection stays open.", 1, day),
    duration<&Config::drain_timeout>("drain_timeout", "Time running requests get to finish when the server stops.", 0,
                                     3600),
    number<&Config::requests_per_minute>(
        "requests_per_minute", "API requests that one key or login can send in a minute. 0: no limit.", 0, 100'000'000),
    duration<&Config::login_session_lifetime>("login_session_lifetime", "Time after which a login ends.", 60,
                                              365 * day),
    duration<&Config::invite_lifetime>("invite_lifetime", "Time in which an invite can be accepted.", 60, 90 * day),
    number<&Config::login_attempts>("login_attempts",
                                    "Wrong passwords for one account from one address before it is locked there. An "
                                    "address, and an account over all "
                                    "addresses that it never logged in from, get ten times as many.",
                                    1, 1000),
    duration<&Config::login_lockout>("login_lockout",
                                     "First lock after too many wrong passwords; doubles with each further one, up to "
                                     "24 times. It does not double for addresses from which the account has logged in.",
                                     1, day),
    text<&Config::otlp_http_listen>("otlp_http_listen",
                                    "Address that receives OpenTelemetry traces (OTLP/HTTP at /v1/traces). Empty: only "
                                    "the API's address receives them.",
                                    "ADDRESS"),
    text<&Config::otlp_grpc_listen>("otlp_grpc_listen",
                                    "Address that receives OpenTelemetry traces by OTLP/gRPC. Empty: none.", "ADDRESS"),
    text<&Config::otlp_open>(
        "otlp_open",
        "true: callers from this machine may send traces to the OTLP addresses without a key, into the space default.",
        "BOOLEAN", booleans),
    number<&Config::retention_days>(
        "retention_days", "Days before spans are deleted, in projects without their own setting. 0: never.", 0, 36'500),
    text<&Config::prices_file>(
        "prices_file",
        "Prices of models that override the built-in ones: lines of `model input output [cache_read [cache_write]] "
        "[since YYYY-MM-DD]` in USD per million tokens. A line with a date applies from that date on.",
        "FILE"),
    text<&Config::clickhouse_url>("clickhouse_url",
                                  "ClickHouse server that stores the spans (http://host:8123); several addresses of "
                                  "one, separated by commas: the next "
                                  "is used when one does not respond. Empty: the engine in the data directory.",
                                  "URLS"),
    text<&Config::clickhouse_user>("clickhouse_user", "User at clickhouse_url.", "NAME"),
    secret(text<&Config::clickhouse_password>("clickhouse_password", "Password at clickhouse_url.", "TEXT")),
    text<&Config::clickhouse_ca_file>("clickhouse_ca_file",
                                      "PEM file of CA certificates for clickhouse_url. Empty: the system's.", "FILE"),
    text<&Config::clickhouse_reader_user>(
        "clickhouse_reader_user",
        "User at clickhouse_url for SQL queries of members. It can read the databases hone_project_* only "
        "(docs/query-traces.md). Empty: SQL queries are disabled.",
        "NAME"),
    secret(text<&Config::clickhouse_reader_password>("clickhouse_reader_password",
                                                     "Password of clickhouse_reader_user.", "TEXT")),
    text<&Config::clickhouse_cluster>(
        "clickhouse_cluster",
        "Cluster of one shard with replicas at clickhouse_url: tables are created on all of its servers, replicated "
        "(docs/scale.md). Empty: tables are on one server.",
        "NAME"),
    text<&Config::engine_library>(
        "engine_library", "The span engine's library. Empty: HONE_CHDB_LIBRARY, or libchdb.so beside the program.",
        "FILE"),
    text<&Config::engine_unconfined>(
        "engine_unconfined",
        "true: the span engine starts even where the kernel cannot confine it to its directory (no Landlock or "
        "seccomp). A fault in the engine can then affect everything that the server's user can access.",
        "BOOLEAN", booleans),
    bytes<&Config::engine_memory>("engine_memory", "Memory that the span engine's queries may use together.", 256 << 20,
                                  1LL << 40),
    duration<&Config::engine_idle_stop>(
        "engine_idle_stop",
        "Time after which an idle span engine is stopped; it starts again automatically. 0s: never.", 0, day),
    bytes<&Config::span_log_limit>(
        "span_log_limit",
        "Disk space for spans that are accepted and not stored yet; above it new spans are rejected and senders retry.",
        64 << 20, 1LL << 44),
    bytes<&Config::span_log_object_limit>(
        "span_log_object_limit",
        "Size of accepted spans that may wait in object_store: parts of the span log go there while it fills more than "
        "half of span_log_limit. 0: they stay on the disk, as they do with object_store = file.",
        0, 1LL << 50),
    duration<&Config::span_wait_limit>("span_wait_limit",
                                       "Time that accepted spans may wait to be stored before `/readyz`, `hone check`, "
                                       "the web UI and a notice report it.",
                                       1, day),
    number<&Config::ingest_threads>("ingest_threads", "Threads that receive traces.", 1, 64),
    number<&Config::query_threads>("query_threads", "Threads that run queries of spans.", 1, 64),
    number<&Config::sandbox_ready>("sandbox_ready",
                                   "Prepared sandboxes after the first start, so that later runs start faster.", 0, 64),
    text<&Config::kubernetes_kubeconfig>(
        "kubernetes_kubeconfig",
        "File that describes how a Kubernetes cluster is reached, `in-cluster` for a server that runs in a pod of it, "
        "or `sealed`: what `hone cluster set` has stored, encrypted. Empty: provider kubernetes is not available "
        "(docs/providers.md).",
        "FILE"),
    text<&Config::kubernetes_context>("kubernetes_context", "Context of kubernetes_kubeconfig. Empty: its current one.",
                                      "NAME"),
    text<&Config::kubernetes_namespace>(
        "kubernetes_namespace", "Namespace of the pods, which should hold nothing else. Empty: that of the context.",
        "NAME"),
    text<&Config::kubernetes_image>("kubernetes_image", "Image of the pods: /bin/sh, git and what workers use.",
                                    "IMAGE"),
    text<&Config::kubernetes_tools_image>(
        "kubernetes_tools_image",
        "Image with the program /hone-tools/hone-pod of this version. Empty: kubernetes_image has it.", "IMAGE"),
    text<&Config::kubernetes_pull_secrets>(
        "kubernetes_pull_secrets",
        "Secrets of the namespace with which nodes pull both images, separated by commas. Empty: none.", "LIST"),
    text<&Config::kubernetes_node_selector>(
        "kubernetes_node_selector",
        "Labels that the nodes of pods must have, as NAME=VALUE separated by commas. Empty: any node.", "LIST"),
    text<&Config::kubernetes_runtime_class>(
        "kubernetes_runtime_class",
        "RuntimeClass of pods whose preset requires tier gvisor. Its runtime must be gVisor, which each pod proves.",
        "NAME"),
    text<&Config::kubernetes_storage_class>(
        "kubernetes_storage_class",
        "Storage class of the volume that each session has for its workspace and its home; `default`: that of the "
        "cluster. Empty: both end with the pod.",
        "NAME"),
    text<&Config::kubernetes_pod_user>("kubernetes_pod_user",
                                       "How users of pods differ: own_uid (a number for each session), user_namespace "
                                       "(hostUsers: false, on nodes that "
                                       "have it) or assigned (by the cluster).",
                                       "KIND"),
    number<&Config::kubernetes_ready>("kubernetes_ready",
                                      "Pods that are kept prepared for runs like the last one, so that they start "
                                      "faster; each takes the memory and processors of its run. Not with "
                                      "kubernetes_storage_class.",
                                      0, 64),
    text<&Config::public_url>("public_url",
                              "Public address of this server, such as https://hone.example.com. Links in notices start "
                              "with it. Empty: notices have no links.",
                              "URL"),
    text<&Config::password_logins>(
        "password_logins",
        "Accounts that can log in with a password: all, or e-mail addresses separated by commas, for emergencies; all "
        "others then use single sign-on. Each use is audited and sends a notice to the owners.",
        "LIST"),
    text<&Config::second_factor_required>(
        "second_factor_required",
        "true: logins with a password have no permissions until the account has a second factor. Single sign-on is "
        "exempt: its provider decides.",
        "BOOLEAN", booleans),
    duration<&Config::sign_on_lifetime>(
        "sign_on_lifetime",
        "Time after which a login of single sign-on ends. Groups are read at each login: lost roles end with it at the "
        "latest.",
        60, 90 * day),
    text<&Config::sign_on_private_addresses>(
        "sign_on_private_addresses",
        "true: providers of single sign-on may be on private networks and on this machine.", "BOOLEAN", booleans),
    text<&Config::notice_private_addresses>(
        "notice_private_addresses",
        "true: webhooks may be on private networks and on this machine. A member who can add a destination can then "
        "send requests there.",
        "BOOLEAN", booleans),
    text<&Config::smtp_host>("smtp_host", "Mail server for notices by e-mail. Empty: no e-mail is sent.", "HOST"),
    number<&Config::smtp_port>("smtp_port", "Port of the mail server.", 1, 65'535),
    text<&Config::smtp_security>(
        "smtp_security",
        "Encryption of the connection to the mail server: starttls, tls (from the start, often port 465), none.",
        "MODE", smtp_securities),
    text<&Config::smtp_from>("smtp_from", "Sender address of mails.", "ADDRESS"),
    text<&Config::smtp_user>("smtp_user", "User at the mail server. Empty: no login.", "NAME"),
    secret(text<&Config::smtp_password>("smtp_password", "Password at the mail server.", "TEXT")),
    text<&Config::smtp_password_file>("smtp_password_file", "File with the password of the mail server.", "FILE"),
    text<&Config::telemetry_endpoint>(
        "telemetry_endpoint",
        "Where this server sends spans and metrics about itself over OTLP/HTTP, such as http://collector:4318; "
        "/v1/traces and /v1/metrics are added. Empty: nowhere (docs/health.md).",
        "URL"),
    secret(text<&Config::telemetry_headers>(
        "telemetry_headers",
        "Header fields for telemetry_endpoint, as Name=value separated by commas; percent-encode commas and blanks.",
        "TEXT")),
    text<&Config::telemetry_ca_file>(
        "telemetry_ca_file", "PEM file of CA certificates for telemetry_endpoint. Empty: the system's.", "FILE"),
    duration<&Config::telemetry_interval>("telemetry_interval", "How often metrics are sent to telemetry_endpoint.", 1,
                                          day),
};

} // namespace

std::span<const Setting> settings() {
    return list;
}

} // namespace hone::config
