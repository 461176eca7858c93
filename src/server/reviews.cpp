#include "server/reviews.h"

namespace hone::server {

ReviewDuties::ReviewDuties(const ReviewParts& parts)
    : m_parts(parts),
      m_label_publisher(*parts.spans),
      m_services(parts.database, parts.clock, parts.access, parts.runs),
      m_http(parts.access.audit, parts.skills, parts.vault, parts.extra_ca_file, parts.data_directory,
             parts.upstream_proxy, parts.without_proxy),
      m_contexts(parts.database, parts.runs.artifacts, m_services, parts.public_url) {
    m_services.set_label_sink(m_label_publisher);
}

ReviewDuties::~ReviewDuties() {
    if (auto* quarantine = m_parts.repositories.quarantine()) quarantine->set_listener(nullptr);
    if (auto* mirrors = m_parts.repositories.mirrors()) mirrors->set_diagnose({});
    // Each of them wakes another: all stop before the first is destroyed.
    for (std::optional<Duty>* duty : {&m_delivering, &m_verifying, &m_inspecting, &m_publishing})
        if (*duty) (*duty)->stop();
}

Result<> ReviewDuties::start() {
    static constexpr Duration publish_period = std::chrono::seconds(5);
    m_publishing.emplace(DutyOptions{"publication of labels", publish_period}, [this]() -> Result<Duration> {
        const bool more = TRY(m_services.labels->step());
        return more ? Duration::zero() : publish_period;
    });
    m_publishing->start();
    const forge::Git* git = m_parts.repositories.git();
    forge::Quarantine* quarantine = m_parts.repositories.quarantine();
    if (m_parts.provider == nullptr || git == nullptr || quarantine == nullptr) return {};
    const std::string scratch = m_parts.data_directory + "/git/review";
    m_store = TRY(sandbox::Store::open(m_parts.data_directory));
    m_services.branches.set_server(m_parts.server, m_parts.others);
    m_services.pull_requests.set_server(m_parts.server);
    TRY(m_services.branches.restart());
    m_repos.emplace(m_parts.repositories.repos(), *quarantine);
    m_inspector.emplace(m_services.branches, *m_repos, *git, m_parts.clock, scratch);
    m_setup.emplace(*git, *m_parts.provider, *m_store);
    m_verifier.emplace(m_services.branches, m_services, *m_repos, *m_parts.provider, *m_store, &*m_setup);
    m_delivery.emplace(review::DeliveryParts{m_parts.database, m_parts.clock, m_parts.runs.artifacts,
                                             m_services.branches, m_services.pull_requests, m_services, *m_repos, *git,
                                             m_http, m_contexts, scratch});
    make_duties();
    m_services.connect(
        *m_inspector, *m_delivery, [this] { m_delivering->wake(); },
        [this](const review::PullRequest& one) { return bring_commits(one); });
    if (forge::Mirrors* mirrors = m_parts.repositories.mirrors())
        mirrors->set_diagnose([this](const forge::Remote& remote, const forge::Diagnosis& known) {
            return forge::diagnose(m_http, m_delivery->finder(), remote, known);
        });
    m_services.reviews.set_listener([this] { m_delivering->wake(); });
    m_services.branches.set_listener([this] { m_inspecting->wake(); });
    m_delivering->start();
    m_verifying->start();
    m_inspecting->start();
    quarantine->set_listener(&m_services.branches);
    return {};
}

Result<> ReviewDuties::bring_commits(const review::PullRequest& one) {
    forge::Mirrors* const mirrors = m_parts.repositories.mirrors();
    forge::Quarantine* const quarantine = m_parts.repositories.quarantine();
    if (mirrors == nullptr || quarantine == nullptr) return unavailable("this machine cannot isolate git");
    const forge::RepoId id(one.repo_id);
    constexpr Duration longest_fetch = std::chrono::seconds(30);
    const Duration end = m_parts.clock.steady() + longest_fetch;
    TRY(mirrors->fetch(id, [&] { return m_parts.clock.steady() > end; }));
    const auto refs = TRY(mirrors->refs(id));
    const forge::Ref* const there = forge::find_ref(refs, "refs/heads/" + one.branch);
    if (there == nullptr) return conflict("the branch " + one.branch + " was deleted on the forge");
    return quarantine->set_branch(TRY(quarantine->find(one.run_id, id)), one.branch, there->commit);
}

void ReviewDuties::make_duties() {
    static constexpr Duration period = std::chrono::seconds(5);
    // Each thread serves another forge, so that one that hangs delays only its own.
    static constexpr size_t delivery_threads = 4;
    m_delivering.emplace(DutyOptions{"delivery", period, delivery_threads}, [this]() -> Result<Duration> {
        const bool more = TRY(m_delivery->step());
        return more ? Duration::zero() : period;
    });
    m_verifying.emplace(DutyOptions{"verification", period}, [this]() -> Result<Duration> {
        const bool more = TRY(m_verifier->step());
        if (more) m_inspecting->wake(); // a verified branch may be approved by its policy
        return more ? Duration::zero() : period;
    });
    m_inspecting.emplace(DutyOptions{"inspection", period}, [this]() -> Result<Duration> {
        TRY(m_services.branches.fail_lost());
        const bool inspected = TRY(m_inspector->step());
        if (inspected) m_verifying->wake();
        const bool approved = TRY(m_services.reviews.approve_automatic());
        return inspected || approved ? Duration::zero() : period;
    });
}

} // namespace hone::server
