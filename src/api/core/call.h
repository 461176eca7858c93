// What a handler gets of a request, and the shapes it can return. Handlers are plain functions:
//   Result<One<Project>> create_project(const Call&, const InSpace& query, const CreateProject& body)
// A parameter whose type has `is_query` is read from the query string, any other from the JSON body.
#pragma once

#include "access/access.h"
#include "api/core/operations_views.h"
#include "net/http/http.h"

#include <map>
#include <memory>

namespace hone::telemetry {
struct Spans;
}
namespace hone::run {
struct RunServices;
class ReviewServices;
class Outputs;
class Storage;
} // namespace hone::run
namespace hone::skill {
class Skills;
}
namespace hone::secret {
class Vault;
}
namespace hone::broker {
class UsageLedger;
class Budgets;
} // namespace hone::broker
namespace hone::automation {
class Automations;
class Scheduler;
} // namespace hone::automation
namespace hone::monitor {
class Monitors;
}
namespace hone::notice {
class Notices;
class Destinations;
class Sender;
} // namespace hone::notice
namespace hone::signal {
class Signal;
class FixReplays;
} // namespace hone::signal
namespace hone::evaluate {
struct Evaluate;
}
namespace hone::identity {
struct Identities;
}
namespace hone::forge {
class Catalog;
class Hooks;
} // namespace hone::forge

namespace hone::api {

class RunFollowers;

struct SettingView {
    std::string name;
    std::string doc;
    std::string value;
    std::string source;
    static constexpr Pack fields{
        Field{"name", &SettingView::name, ""},
        Field{"doc", &SettingView::doc, ""},
        Field{"value", &SettingView::value, "Masked when it is a secret."},
        Field{"source", &SettingView::source, "default, file, environment or flag."},
    };
};

struct LicenseView {
    std::string name;
    std::string purpose;
    std::string license;
    static constexpr Pack fields{
        Field{"name", &LicenseView::name, ""},
        Field{"purpose", &LicenseView::purpose, ""},
        Field{"license", &LicenseView::license, ""},
    };
};

struct SpaceStorage {
    std::optional<access::SpaceId> space_id;
    std::string space_name;
    int64_t total_bytes = 0;
    int64_t spans = 0;
    int64_t traces_bytes = 0;
    int64_t artifacts_bytes = 0;
    int64_t threads_bytes = 0;
    int64_t layers_bytes = 0;
    int64_t repositories_bytes = 0;
    int64_t other_bytes = 0;
    Time measured_at{};
    static constexpr Pack fields{
        Field{"space_id", &SpaceStorage::space_id, "null: what belongs to no space."},
        Field{"space_name", &SpaceStorage::space_name, ""},
        Field{"total_bytes", &SpaceStorage::total_bytes, ""},
        Field{"spans", &SpaceStorage::spans, ""},
        Field{"traces_bytes", &SpaceStorage::traces_bytes, "Its share of the compressed parts, by rows."},
        Field{"artifacts_bytes", &SpaceStorage::artifacts_bytes, "Artifacts of runs, each content once."},
        Field{"threads_bytes", &SpaceStorage::threads_bytes, "Workspaces that sessions keep for follow-ups."},
        Field{"layers_bytes", &SpaceStorage::layers_bytes, "Roots that init scripts prepared."},
        Field{"repositories_bytes", &SpaceStorage::repositories_bytes, "Mirrors of repositories."},
        Field{"other_bytes", &SpaceStorage::other_bytes,
              "Of no space: the database, the span log, images, harnesses, what is being deleted."},
        Field{"measured_at", &SpaceStorage::measured_at, "At most a minute ago."},
    };
};

// A backup in the object store of the installation.
struct StoredBackup {
    std::string name;
    int64_t bytes = 0;
    Time created_at{};
    std::string store;
    static constexpr Pack fields{
        Field{"name", &StoredBackup::name, "For `hone restore store:NAME`."},
        Field{"bytes", &StoredBackup::bytes, ""},
        Field{"created_at", &StoredBackup::created_at, ""},
        Field{"store", &StoredBackup::store, "Where it is."},
    };
};

// An export of spans in the object store of the installation.
struct StoredExport {
    std::string name;
    int64_t bytes = 0;
    Time created_at{};
    Time expires_at{};
    static constexpr Pack fields{
        Field{"name", &StoredExport::name, ""},
        Field{"bytes", &StoredExport::bytes, ""},
        Field{"created_at", &StoredExport::created_at, ""},
        Field{"expires_at", &StoredExport::expires_at, "It is deleted then, by `export_lifetime`."},
    };
};

// One of both: where a client reads it without credentials, or the bytes.
struct ExportContent {
    std::string address{};
    std::unique_ptr<net::BodySource> stream{};
};

// What only the server as a whole knows; implemented by server/.
class Installation {
public:
    virtual ~Installation() = default;
    virtual std::string version() const = 0;
    virtual Time started_at() const = 0;
    virtual int64_t schema_version() const = 0;
    virtual std::string database_engine() const = 0;
    virtual int64_t data_dir_bytes() const = 0;
    // Empty for callers without user_manage.
    virtual std::vector<SettingView> settings(const access::Caller& caller) const = 0;
    // Why requests cannot be served now; empty when they can.
    virtual std::string not_ready() const = 0;
    // Lines in Prometheus' text format beside the API's own.
    virtual std::string metrics() const = 0;
    // What the program is made of.
    virtual std::vector<LicenseView> licenses() const { return {}; }
    // A row for each space in the order of their ids, then one for the rest of the data directory.
    virtual Result<std::vector<SpaceStorage>> storage(const access::Caller& caller) = 0;
    virtual Result<std::unique_ptr<net::BodySource>> backup(const access::Caller& caller) = 0;
    // A backup into the object store; busy while another one is written. And those that are there, newest first.
    virtual Result<StoredBackup> store_backup(const access::Caller& caller) = 0;
    virtual Result<std::vector<StoredBackup>> stored_backups(const access::Caller& caller) = 0;
    // Exports of a project in the object store. The caller has found the project with the permission.
    virtual Result<StoredExport> store_export(const access::Caller&, const access::Project&, net::BodySource&,
                                              std::string_view) {
        return StoredExport();
    }
    virtual Result<std::vector<StoredExport>> stored_exports(const access::Project&) {
        return std::vector<StoredExport>();
    }
    virtual Result<ExportContent> export_content(const access::Project&, const std::string&, bool) {
        return not_found("export");
    }
    virtual Result<> remove_export(const access::Caller&, const access::Project&, const std::string&) {
        return not_found("export");
    }
    // The servers that share the database, what is slow, full, late or misconfigured, and how much fits.
    virtual Result<std::vector<ServerView>> servers(const access::Caller&) { return std::vector<ServerView>(); }
    virtual Result<std::vector<FindingView>> diagnosis(const access::Caller&) { return std::vector<FindingView>(); }
    virtual Result<CapacityView> capacity(const access::Caller&) { return CapacityView(); }
    // The sealed credentials for a cluster; a server uses them from its next start on.
    virtual Result<ClusterCredentialView> cluster_credential(const access::Caller&) { return ClusterCredentialView(); }
    virtual Result<ClusterCredentialView> set_cluster_credential(const access::Caller&, const SetClusterCredential&) {
        return ClusterCredentialView();
    }
    virtual Result<> remove_cluster_credential(const access::Caller&) { return {}; }
    // Whether a password link can be sent by mail, and sending one in the background.
    virtual bool sends_mail() const { return false; }
    virtual void send_password_reset(const access::PasswordReset&) {}
    // Something was deleted whose data the background duties delete: they run now.
    virtual void wake_duties() {}
};

// What handlers call. Everything is always there: what a machine cannot do (isolate git, start the span engine) the
// domain object itself returns `unavailable` with the reason.
struct Services {
    access::Access& access;
    const Clock& clock;
    Installation& installation;
    identity::Identities& identities;
    telemetry::Spans& spans;
    run::RunServices& run;
    run::ReviewServices& review;
    run::Outputs& outputs;
    run::Storage& storage;
    skill::Skills& skills;
    secret::Vault& vault;
    broker::UsageLedger& usage;
    broker::Budgets& budgets;
    automation::Automations& automations;
    automation::Scheduler& scheduler;
    monitor::Monitors& monitors;
    notice::Notices& notices;
    notice::Destinations& destinations;
    notice::Sender& sender;
    signal::Signal& signal;
    signal::FixReplays& fix_replays;
    evaluate::Evaluate& evaluate;
    forge::Catalog& repos;
    forge::Hooks& forge_hooks;
};

struct Call {
    const net::RequestHead& head;
    const access::Caller& caller;
    Services& services;
    RunFollowers& run_followers;
    std::map<std::string, std::string, std::less<>> path; // "project" -> "my app"
    mutable std::vector<net::Header> response_headers{};  // Set-Cookie and the like
    net::BodyReader* body_stream = nullptr;               // of a route that takes its body piece by piece
    bool ignores_unknown_query = false;                   // as its route states

    const std::string& at(std::string_view parameter) const {
        const auto found = path.find(parameter);
        CHECK_OR_ABORT(found != path.end());
        return found->second;
    }
    access::Access& access() const { return services.access; }
};

// A body that is not JSON; lives as long as the request.
struct RawBody {
    std::string_view bytes;
};

// A body of any length that the handler pulls; lives as long as the call.
struct StreamedBody {
    net::BodyReader* reader = nullptr;
};

// {"data": {…}}
template <class T>
struct One {
    T data;
};
// {"data": […], "next_cursor": …}
template <class T>
using List = access::Page<T>;
// {"data": {}}
struct Nothing {
    static constexpr Pack<> fields{};
};
// 204
struct NoContent {};

} // namespace hone::api
