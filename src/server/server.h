// Builds, starts and stops every part in order: lock, keys, database, access, API, HTTP edge, background duties. The
// parts are plain members; C++ destroys them in reverse. Wiring only. Used by commands/serve.cpp and by tests.
#pragma once

#include "api/api.h"
#include "config/config.h"
#include "evaluate/evaluate.h"
#include "identity/identity.h"
#include "objects/object_store.h"
#include "run/outputs/outputs.h"
#include "server/adapters/account_mail.h"
#include "server/adapters/cluster.h"
#include "server/adapters/issue_forge.h"
#include "server/adapters/layer_objects.h"
#include "server/adapters/sandbox_audit.h"
#include "server/adapters/skill_source.h"
#include "server/automations.h"
#include "server/backup/log_archive.h"
#include "server/demo/demo.h"
#include "server/evaluation/evaluator_runs.h"
#include "server/evaluation/example_files.h"
#include "server/evaluation/judge_access.h"
#include "server/evaluation/task_sources.h"
#include "server/licenses.h"
#include "server/membership/membership.h"
#include "server/membership/role_edge.h"
#include "server/monitors.h"
#include "server/operations/exports.h"
#include "server/otlp/otlp_edge.h"
#include "server/otlp/otlp_grpc.h"
#include "server/otlp/self_telemetry.h"
#include "server/people.h"
#include "server/reviews.h"
#include "server/space_storage.h"
#include "server/storage_duty.h"
#include "server/sweeper.h"
#include "server/workers.h"
#include "signal/replay/fix_replays.h"
#include "sql/directory_lock.h"

namespace hone::server {

extern const char* const version;

class Server final : private api::Installation {
public:
    // Opens or creates the data directory and starts to serve. `admin_password` is HONE_ADMIN_PASSWORD. `before_duties`
    // is called when everything is open and nothing works in the background yet.
    static Result<std::unique_ptr<Server>> start(config::Loaded loaded, const Clock& clock,
                                                 const std::optional<std::string>& admin_password,
                                                 const std::function<void()>& before_duties = {});
    ~Server() override;

    // "http://127.0.0.1:7070"
    const std::string& url() const { return m_url; }
    // Where OTLP is taken; empty when only the API takes it.
    const std::string& otlp_url() const { return m_otlp_url; }
    // Set when this start created the installation.
    const std::optional<access::FirstStart>& first_start() const { return m_first_start; }
    // What `hone demo` uses; while the server lives.
    DemoParts demo_parts();
    // Finishes running requests, then stops serving. Destroying without it cuts them.
    void drain();
    Result<> reload();

private:
    Server(config::Loaded loaded, const Clock& clock);
    Result<> open_data(const std::optional<std::string>& admin_password);
    Result<> check_migrations() const;
    Result<> open_membership();
    Result<> start_duties();
    Result<> open_local_edge();
    Result<> open_secrets();
    void open_identities();
    Result<> open_spans();
    Result<> open_repositories();
    Result<> open_workers();
    Result<> share_layers();
    Result<> open_improvement();
    Result<> open_storage();
    Result<> open_edge();
    Result<> open_self_telemetry();
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
    std::vector<api::SettingView> settings(const access::Caller& caller) const override;
    std::string not_ready() const override;
    std::string metrics() const override;
    std::vector<api::LicenseView> licenses() const override { return read_licenses(dependencies_document); }
    Result<std::unique_ptr<net::BodySource>> backup(const access::Caller& caller) override;
    Result<api::StoredBackup> store_backup(const access::Caller& caller) override;
    Result<std::vector<api::StoredBackup>> stored_backups(const access::Caller& caller) override;
    Result<api::StoredExport> store_export(const access::Caller& caller, const access::Project& project,
                                           net::BodySource& source, std::string_view ending) override {
        return m_exports->store(caller, project, source, ending);
    }
    Result<std::vector<api::StoredExport>> stored_exports(const access::Project& project) override {
        return m_exports->list(project);
    }
    Result<api::ExportContent> export_content(const access::Project& project, const std::string& name,
                                              bool direct) override {
        return m_exports->content(project, name, direct);
    }
    Result<> remove_export(const access::Caller& caller, const access::Project& project,
                           const std::string& name) override {
        return m_exports->remove(caller, project, name);
    }
    Result<std::vector<api::SpaceStorage>> storage(const access::Caller& caller) override {
        return m_space_storage->rows(caller);
    }
    Result<std::vector<api::ServerView>> servers(const access::Caller& caller) override;
    Result<std::vector<api::FindingView>> diagnosis(const access::Caller& caller) override;
    Result<api::CapacityView> capacity(const access::Caller& caller) override;
    Result<api::ClusterCredentialView> cluster_credential(const access::Caller& caller) override;
    Result<api::ClusterCredentialView> set_cluster_credential(const access::Caller& caller,
                                                              const api::SetClusterCredential& body) override;
    Result<> remove_cluster_credential(const access::Caller& caller) override;
    void wake_duties() override {
        m_sweeper->wake();
        m_storage->wake();
    }
    bool sends_mail() const override { return m_account_mail && m_account_mail->is_possible(); }
    void send_password_reset(const access::PasswordReset& reset) override { m_account_mail->send(reset); }

    const config::Loaded m_loaded;
    const config::Config& m_config;
    const Clock& m_clock;
    const Time m_started_at;
    int64_t m_schema_version = 0;
    Roles m_roles;
    std::string m_url;
    std::string m_otlp_url;
    std::string m_otlp_grpc_url;
    std::optional<access::FirstStart> m_first_start;

    std::optional<sql::DirectoryLock> m_lock;
    std::unique_ptr<objects::ObjectStore> m_objects;
    std::atomic<bool> m_is_storing_backup{false};
    std::atomic<bool> m_is_draining{false};
    std::unique_ptr<sandbox::Provider> m_sandboxes; // null: `m_no_sandboxes` states why
    std::optional<ClusterCredentials> m_cluster_credentials;
    std::unique_ptr<sandbox::Provider> m_cluster; // null: none is set
    std::string m_no_sandboxes;
    std::unique_ptr<sql::Database> m_database;
    std::optional<access::Access> m_access;
    std::optional<SandboxAudit> m_sandbox_audit;
    std::optional<Membership> m_membership;
    crypto::SecretBytes m_environment_key; // HONE_MASTER_KEY, until the keys are open
    crypto::SecretBytes m_environment_old_key;
    std::unique_ptr<secret::MasterKeys> m_master_keys;
    std::optional<secret::Vault> m_vault;
    std::optional<skill::Skills> m_skills;
    std::unique_ptr<NoticeDuties> m_notices;
    std::optional<AccountMail> m_account_mail;
    std::optional<identity::Identities> m_identities;
    std::optional<telemetry::TraceProjects> m_trace_projects;
    std::optional<LogArchive> m_log_archive; // null: the span log stays on the disk
    std::unique_ptr<telemetry::Telemetry> m_telemetry;
    std::optional<telemetry::Spans> m_spans;
    std::optional<telemetry::SpanDuties> m_span_duties;
    std::unique_ptr<Repositories> m_repositories;
    std::optional<GitSkillSource> m_skill_source;
    std::optional<SharedPlaces> m_places;
    std::optional<LayerObjects> m_layer_objects; // with an object store that other servers may use
    std::unique_ptr<Workers> m_workers;
    std::unique_ptr<ReviewDuties> m_reviews;
    std::optional<run::Outputs> m_outputs;
    std::unique_ptr<StorageDuty> m_storage;
    std::optional<AutomationDuties> m_automations;
    std::optional<IssueForge> m_issue_forge;
    std::optional<ExperimentSources> m_task_sources;
    std::optional<EvaluatorSecrets> m_evaluator_secrets;
    std::optional<EvaluatorRuns> m_evaluator_runs;
    std::optional<ArtifactFiles> m_artifact_files;
    std::optional<evaluate::Evaluate> m_evaluate;
    std::optional<signal::Signal> m_signal;
    std::optional<signal::FixReplays> m_fix_replays;
    std::optional<Duty> m_replaying; // of fixes
    std::optional<PeopleDuties> m_people;
    std::optional<MonitorDuties> m_monitors;
    std::optional<SpaceStorageRows> m_space_storage;
    std::optional<api::Api> m_api;
    std::optional<Sweeper> m_sweeper;
    std::optional<Exports> m_exports;
    std::optional<RoleEdge> m_role_edge;
    std::unique_ptr<net::Server> m_edge;
    std::unique_ptr<net::Server> m_local_edge; // for workers, where m_edge does not serve the API
    std::optional<OtlpEdge> m_otlp_handler;
    std::unique_ptr<net::Server> m_otlp_edge;
    std::unique_ptr<grpc_bytes::GrpcServer> m_otlp_grpc;
    std::optional<SelfTelemetry> m_self_telemetry; // last: it reads the metrics of the others
};

} // namespace hone::server
