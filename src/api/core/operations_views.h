// What people who run Hone read about it: the servers that share its database, a diagnosis, its capacity. Views of the
// API; server/ fills them in.
#pragma once

#include "base/fields.h"
#include "base/time.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::api {

struct ServerView {
    std::string name;
    std::string address;
    std::string version;
    int64_t schema_version = 0;
    std::string roles;
    std::string span_store;
    std::string object_store;
    Time started_at{};
    Time lease_until{};
    bool live = false;
    bool this_server = false;
    static constexpr Pack fields{
        Field{"name", &ServerView::name, "Stays through restarts."},
        Field{"address", &ServerView::address, ""},
        Field{"version", &ServerView::version, ""},
        Field{"schema_version", &ServerView::schema_version, "The newest that its program has."},
        Field{"roles", &ServerView::roles, "api, ingest, scheduler, worker; separated by commas."},
        Field{"span_store", &ServerView::span_store, "Where it stores spans."},
        Field{"object_store", &ServerView::object_store,
              "Where it keeps artifacts and other objects; empty for versions that do not state it."},
        Field{"started_at", &ServerView::started_at, ""},
        Field{"lease_until", &ServerView::lease_until, "By the clock of the database; renewed every 5 seconds."},
        Field{"live", &ServerView::live, "Whether its lease lasts."},
        Field{"this_server", &ServerView::this_server, "Whether it is the one that responds."},
    };
};

struct FindingView {
    std::string name;
    std::string state; // ok, warning, problem
    std::string detail;
    std::string advice;
    static constexpr Pack fields{
        Field{"name", &FindingView::name, "What was checked."},
        Field{"state", &FindingView::state, "ok, warning or problem."},
        Field{"detail", &FindingView::detail, ""},
        Field{"advice", &FindingView::advice, "What to do; empty for ok."},
    };
};

struct CapacityView {
    int64_t spans = 0;
    int64_t spans_bytes = 0;
    int64_t bytes_per_span = 0;
    int64_t days_with_spans = 0;
    int64_t spans_per_day = 0;
    int64_t span_bytes_per_day = 0;
    int64_t disk_bytes = 0;
    int64_t disk_free_bytes = 0;
    std::optional<int64_t> days_until_full;
    int64_t model_cost_micro_usd_per_day = 0;
    int64_t model_calls_per_day = 0;
    Time measured_at{};
    static constexpr Pack fields{
        Field{"spans", &CapacityView::spans, "Stored spans of all projects."},
        Field{"spans_bytes", &CapacityView::spans_bytes, "Their compressed size."},
        Field{"bytes_per_span", &CapacityView::bytes_per_span, ""},
        Field{"days_with_spans", &CapacityView::days_with_spans, "From the oldest span to the newest."},
        Field{"spans_per_day", &CapacityView::spans_per_day, "Mean over these days."},
        Field{"span_bytes_per_day", &CapacityView::span_bytes_per_day, ""},
        Field{"disk_bytes", &CapacityView::disk_bytes, "Disk of the data directory."},
        Field{"disk_free_bytes", &CapacityView::disk_free_bytes, ""},
        Field{"days_until_full", &CapacityView::days_until_full,
              "At this rate and without retention; null: no rate, or spans are stored elsewhere."},
        Field{"model_cost_micro_usd_per_day", &CapacityView::model_cost_micro_usd_per_day,
              "Cost of the model calls of runs, mean of the last 7 days; calls without a price are not counted."},
        Field{"model_calls_per_day", &CapacityView::model_calls_per_day, "Mean of the last 7 days."},
        Field{"measured_at", &CapacityView::measured_at, ""},
    };
};

// What is shown of the credentials for a cluster; they themselves are sealed.
struct ClusterCredentialView {
    bool stored = false;
    std::string server;
    std::string name_space;
    std::string context;
    std::string kind;
    std::optional<Time> set_at;
    bool in_use = false;
    static constexpr Pack fields{
        Field{"stored", &ClusterCredentialView::stored, "Whether there are any."},
        Field{"server", &ClusterCredentialView::server, "Address of the cluster's API."},
        Field{"name_space", &ClusterCredentialView::name_space, "Namespace of the context."},
        Field{"context", &ClusterCredentialView::context, "Context that was chosen; empty: the current one."},
        Field{"kind", &ClusterCredentialView::kind, "token or client certificate."},
        Field{"set_at", &ClusterCredentialView::set_at, ""},
        Field{"in_use", &ClusterCredentialView::in_use,
              "Whether this server was set to use them (kubernetes_kubeconfig is `sealed`)."},
    };
};

struct SetClusterCredential {
    std::string kubeconfig;
    std::optional<std::string> context;
    static constexpr Pack fields{
        Field{"kubeconfig", &SetClusterCredential::kubeconfig,
              "Text of a kubeconfig with its certificates and credentials in it; it may not name files or programs."},
        Field{"context", &SetClusterCredential::context, "Context to use; none: the current one."},
    };
};

} // namespace hone::api
