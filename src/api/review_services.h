// What the API needs of reviews: branches, what people say about artifacts, pull requests. Stands on RunServices and
// shows runs to review/ (RunSource). Built once by server/, which adds what looks into repositories. Thread-safe.
#pragma once

#include "api/run_services.h"
#include "review/delivery.h"
#include "review/inspector.h"
#include "review/label_outbox.h"
#include "review/pull_requests.h"
#include "review/reviews.h"

namespace hone::api {

struct ReviewServices final : review::RunSource {
    ReviewServices(sql::Database& given, const Clock& clock, access::Access& access, RunServices& run_services)
        : database(given),
          runs(run_services),
          branches(given, clock, run_services.artifacts, *this),
          reviews(given, clock, access, run_services.artifacts, branches, *this),
          pull_requests(given, clock, access),
          m_clock(clock) {}

    // Once, before requests come: where approved labels go.
    void set_label_sink(review::LabelSink& sink) { labels.emplace(database, m_clock, runs.artifacts, sink); }
    // Tries to publish approved labels now; what fails is retried by the background step.
    void publish_labels(const review::ArtifactId& artifact);

    // review::RunSource
    Result<review::RunFacts> facts(const std::string& run) override;
    Result<> note(const std::string& run, const review::ArtifactId& artifact, const std::string& line) override;
    Result<> tell(const access::Caller& caller, const std::string& run, const std::string& message) override;

    sql::Database& database;
    RunServices& runs;
    review::Branches branches;
    review::Reviews reviews;
    review::PullRequests pull_requests;
    review::Inspector* inspector = nullptr; // null: this machine cannot isolate, revisions cannot be compared
    review::Delivery* delivery = nullptr;   // null: this machine cannot isolate, forges are not spoken to
    std::function<void()> wake_delivery;    // a pull request is to be checked now
    std::optional<review::LabelOutbox> labels;

private:
    const Clock& m_clock;
};

} // namespace hone::api
