// Builds, starts and stops every part in order: lock, keys, database, access, API, HTTP edge, background duties. The
// parts are plain members; C++ destroys them in reverse. Used by serve.cpp and by tests.
#pragma once

#include "api/api.h"
#include "api/signal_services.h"
#include "base/duty.h"
#include "config/config.h"
#include "server/automations.h"
#include "server/issue_forge.h"
#include "server/monitors.h"
#include "server/otlp_edge.h"
#include "server/otlp_grpc.h"
#include "server/review_desk.h"
#include "server/sandbox_audit.h"
#include "server/skill_source.h"
#include "server/span_duties.h"
#include "server/workshop.h"
#include "sql/directory_lock.h"

#include <functional>

namespace hone::server {

extern const char* const version;

// What is deleted or written once a minute. step() is what tests call.
class Sweeper {
public:
    Sweeper(access::Access& access, api::Idempotency& idempotency, SpanDuties& spans, secret::Vault& vault,
            MonitorDuties& monitors)
        : m_access(access),
          m_idempotency(idempotency),
          m_spans(spans),
          m_vault(vault),
          m_monitors(monitors),
          m_duty({"sweeper", std::chrono::minutes(1)}, [this]() -> Result<> {
              step();
              return {};
          }) {}
    void step();
    void start() { m_duty.start(); }
    // Runs a step soon, without waiting for its time.
    void wake() { m_duty.wake(); }

private:
    access::Access& m_access;
    api::Idempotency& m_idempotency;
    SpanDuties& m_spans;
    secret::Vault& m_vault;
    MonitorDuties& m_monitors;
    Duty m_duty; // the last member: its thread ends before what it uses is destroyed
};

class Server final : private api::Installation {
public:
    // Opens or creates the data directory and starts to serve. `admin_password` is HONE_ADMIN_PASSWORD.
    static Result<std::unique_ptr<Server>> start(config::Loaded loaded, const Clock& clock,
                                                 const std::optional<std::string>& admin_password);
    ~Server() override;

    // "http://127.0.0.1:7070"
    const std::string& url() const { return m_url; }
    // Where OTLP is taken; empty when only the API takes it.
    const std::string& otlp_url() const { return m_otlp_url; }
    // Set when this start created the installation.
    const std::optional<access::FirstStart>& first_start() const { return m_first_start; }
    using Say = std::function<void(const std::string&)>;
    // Loads the demo project, switches Signal on and lets the playbook look at it, once; tells each step to `say`.
    // Returns when the investigations are there.
    Result<> open_demo(const Say& say);
    // Finishes running requests, then stops serving. Destroying without it cuts them.
    void drain();
    Result<> reload();

private:
    Server(config::Loaded loaded, const Clock& clock);
    Result<> open_data(const std::optional<std::string>& admin_password);
    Result<> open_secrets();
    Result<> open_workshop();
    Result<std::string> load_demo_traces(const access::SpaceId& space, const Say& say);
    Result<run::RunId> start_demo_run(const access::SpaceId& space, const Say& say);
    Result<> tell_run(const run::RunId& id, const Say& say);
    Result<> tell_issues(const access::SpaceId& space, const std::string& project, const Say& say);
    Result<> make_demo_automations(const access::SpaceId& space, const Say& say);
    Result<> open_spans();
    Result<> open_edge();
    Result<> open_otlp();
    Result<> open_otlp_http();
    Result<> open_otlp_grpc();
    Result<> without_default(std::string_view setting, const Error& error) const;
    net::ServerOptions edge_options() const;
    Result<> write_addresses() const;

    std::string version() const override { return server::version; }
    Time started_at() const override { return m_started_at; }
    int64_t schema_version() const override { return m_schema_version; }
    std::string database_engine() const override;
    int64_t data_dir_bytes() const override;
    std::vector<api::SettingView> settings() const override;
    std::string not_ready() const override;
    std::string metrics() const override;
    Result<std::unique_ptr<net::BodySource>> backup(const access::Caller& caller) override;
    void wake_duties() override { m_sweeper->wake(); }

    const config::Loaded m_loaded;
    const config::Config& m_config;
    const Clock& m_clock;
    const Time m_started_at;
    int64_t m_schema_version = 0;
    std::string m_url;
    std::string m_otlp_url;
    std::string m_otlp_grpc_url;
    std::optional<access::FirstStart> m_first_start;

    std::optional<sql::DirectoryLock> m_lock;
    std::unique_ptr<sandbox::Provider> m_sandboxes; // null: `m_no_sandboxes` says why
    std::string m_no_sandboxes;
    std::unique_ptr<sql::Database> m_database;
    std::optional<access::Access> m_access;
    std::optional<SandboxAudit> m_sandbox_audit;
    crypto::SecretBytes m_environment_key; // HONE_MASTER_KEY, until the keys are open
    crypto::SecretBytes m_environment_old_key;
    std::unique_ptr<secret::MasterKeys> m_master_keys;
    std::optional<secret::Vault> m_vault;
    std::optional<skill::Skills> m_skills;
    std::unique_ptr<NoticeDuties> m_notices;
    std::optional<api::TraceProjects> m_trace_projects;
    std::unique_ptr<telemetry::Telemetry> m_telemetry;
    std::optional<api::Spans> m_spans;
    std::optional<SpanDuties> m_span_duties;
    std::unique_ptr<Repositories> m_repositories;
    std::optional<SkillSource> m_skill_source;
    std::unique_ptr<Workshop> m_workshop;
    std::unique_ptr<ReviewDesk> m_review_desk;
    std::optional<AutomationDuties> m_automations;
    std::optional<IssueForge> m_issue_forge;
    std::optional<signal::Signal> m_signal;
    std::optional<api::SignalServices> m_signal_services;
    std::optional<MonitorDuties> m_monitors;
    std::optional<api::Api> m_api;
    std::optional<Sweeper> m_sweeper;
    std::unique_ptr<net::Server> m_edge;
    std::optional<OtlpEdge> m_otlp_handler;
    std::unique_ptr<net::Server> m_otlp_edge;
    std::unique_ptr<grpc_bytes::GrpcServer> m_otlp_grpc;
};

// Sub-commands of the binary that run without a server, or are one.
int serve_main(int argc, char** argv);
int demo_main(int argc, char** argv);
int harness_main(int argc, char** argv);
int check_main(int argc, char** argv);
int restore_main(int argc, char** argv);
int print_main(int argc, char** argv);

} // namespace hone::server
