#include "server/review_desk.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "broker/wire/authority.h"
#include "forge/credential.h"

namespace hone::server {

namespace {

// The installation's own authorities beside the system's, in one file.
net::ClientOptions client_options(const std::string& extra_ca_file, const std::string& directory) {
    net::ClientOptions options;
    const auto extra = extra_ca_file.empty() ? Result<std::string>(std::string()) : read_file(extra_ca_file);
    if (extra.ok() && !extra.value().empty()) {
        const std::string bundle = directory + "/forge-authorities.pem";
        const auto written = write_file(bundle, broker::system_authorities() + "\n" + extra.value(), 0600);
        if (written.ok()) options.ca_file = bundle;
    }
    options.idle_connections = 0; // each request is dialled at an address that was checked for it
    return options;
}

// "Bearer {}" and the like; what follows Basic is encoded.
std::string header_value(const std::string& format, std::string_view secret) {
    std::string value = format.empty() ? "Bearer {}" : format;
    const size_t place = value.find("{}");
    if (place != std::string::npos) value.replace(place, 2, secret);
    if (value.starts_with("Basic ")) value = "Basic " + to_base64(std::string_view(value).substr(6));
    return value;
}

// Links to some of an issue's traces; without a public address their ids.
std::vector<std::string> evidence_of(const std::string& examples, const std::string& home,
                                     const access::ProjectId& project) {
    std::vector<std::string> links;
    const auto list = json::parse(examples);
    if (!list.ok() || !list.value().is_array()) return links;
    for (const json::Value& one : list.value().get_array()) {
        const json::Value* trace = one.is_object() ? one.get_object().if_contains("trace_id") : nullptr;
        if (trace == nullptr || !trace->is_string() || links.size() >= 5) continue;
        const std::string id(trace->get_string());
        links.push_back(home.empty() ? "Trace " + id : home + "/projects/" + project.text() + "/traces/" + id);
    }
    return links;
}

} // namespace

ReviewDesk::ReviewDesk(const ReviewDeskParts& parts)
    : m_parts(parts),
      m_services(parts.database, parts.clock, parts.access, parts.runs),
      m_resolver(broker::system_resolver()),
      m_check(broker::default_address_check()),
      m_http(client_options(parts.extra_ca_file, parts.data_directory)) {}

ReviewDesk::~ReviewDesk() {
    // Each of them wakes another: all stop before the first is destroyed.
    for (std::optional<Duty>* duty : {&m_delivering, &m_verifying, &m_inspecting})
        if (*duty) (*duty)->stop();
    if (auto* quarantine = m_parts.repositories.quarantine()) quarantine->set_listener(nullptr);
}

Result<> ReviewDesk::start() {
    const forge::Git* git = m_parts.repositories.git();
    forge::Quarantine* quarantine = m_parts.repositories.quarantine();
    if (m_parts.provider == nullptr || git == nullptr || quarantine == nullptr) return {};
    const std::string scratch = m_parts.data_directory + "/git/review";
    m_store = TRY(sandbox::Store::open(m_parts.data_directory));
    TRY(m_services.branches.restart_verifications());
    review::RepoSource& repos = *this;
    m_inspector.emplace(m_services.branches, repos, *git, m_parts.clock, scratch);
    m_verifier.emplace(m_services.branches, m_services, repos, *m_parts.provider, *m_store);
    m_delivery.emplace(review::DeliveryParts{m_parts.database, m_parts.clock, m_parts.runs.artifacts,
                                             m_services.branches, m_services.pull_requests, m_services, *this, *git,
                                             *this, *this, scratch});
    constexpr Duration period = std::chrono::seconds(5);
    m_delivering.emplace(DutyOptions{"delivery", period}, [this]() -> Result<Duration> {
        const bool more = TRY(m_delivery->step());
        return more ? Duration::zero() : period;
    });
    m_verifying.emplace(DutyOptions{"verification", period}, [this]() -> Result<Duration> {
        const bool more = TRY(m_verifier->step());
        if (more) m_inspecting->wake(); // a verified branch may be approved by its policy
        return more ? Duration::zero() : period;
    });
    m_inspecting.emplace(DutyOptions{"inspection", period}, [this]() -> Result<Duration> {
        const bool inspected = TRY(m_inspector->step());
        if (inspected) m_verifying->wake();
        const bool approved = TRY(m_services.reviews.approve_automatic());
        return inspected || approved ? Duration::zero() : period;
    });
    m_services.inspector = &*m_inspector;
    m_services.delivery = &*m_delivery;
    m_services.wake_delivery = [this] { m_delivering->wake(); };
    m_services.reviews.set_listener([this] { m_delivering->wake(); });
    m_services.branches.set_listener([this] { m_inspecting->wake(); });
    m_delivering->start();
    m_verifying->start();
    m_inspecting->start();
    quarantine->set_listener(&m_services.branches);
    return {};
}

Result<review::RepoPlace> ReviewDesk::place(const std::string& run, const std::string& repo) {
    forge::Quarantine* quarantine = m_parts.repositories.quarantine();
    if (quarantine == nullptr) return unavailable("this machine cannot run git in a sandbox");
    const forge::RepoId id(repo);
    const forge::Repo found = TRY(m_parts.repositories.services().repos.find(access::Caller::system(), id));
    const forge::RunRepo checkout = TRY(quarantine->find(run, id));
    review::RepoPlace place;
    place.space = found.space_id;
    place.url = found.url;
    const std::string& ref = checkout.base_ref.starts_with("refs/heads/") ? checkout.base_ref : found.head_ref;
    place.default_branch = ref.starts_with("refs/heads/") ? ref.substr(11) : "main";
    place.skill_id = found.skill_id.value_or("");
    place.allow_private = found.allow_private;
    place.mounts = quarantine->mounts(checkout);
    place.directory = "/quarantine";
    if (found.url.starts_with("file://")) place.local_path = found.url.substr(7);
    return place;
}

// The issue and its investigation; else what the run itself wrote about it.
Result<review::Story> ReviewDesk::story(const review::PullRequest& about) {
    review::Story story;
    std::optional<std::string> investigation;
    std::string home = m_parts.public_url;
    while (home.ends_with('/')) home.pop_back();
    if (!home.empty()) home += "/s/" + percent_encode(about.space_id.text());
    if (!home.empty()) {
        story.run_url = home + "/runs/" + about.run_id;
        story.review_url = home + "/inbox/" + about.artifact_id.text();
        if (!about.fix_of.empty())
            story.issue_url = home + "/projects/" + about.project_id.text() + "/signal/" + about.fix_of;
    }
    if (!about.fix_of.empty()) {
        const auto rows = TRY(
            m_parts.database.query("SELECT title, investigation_id, examples FROM issues WHERE id = ?", about.fix_of));
        story.issue_title = rows.empty() ? about.fix_of : rows.front().text(0) + " (" + about.fix_of + ")";
        if (!rows.empty()) {
            investigation = rows.front().optional_text(1);
            story.evidence = evidence_of(rows.front().text(2), home, about.project_id);
        }
    }
    review::Artifacts& artifacts = m_parts.runs.artifacts;
    if (investigation) {
        const auto found = artifacts.find(access::Caller::system(), review::ArtifactId(*investigation));
        if (found.ok()) story.root_cause = TRY(artifacts.content(found.value()));
        return story;
    }
    review::ArtifactFilter filter;
    filter.run = about.run_id;
    filter.kind = review::ArtifactKind::investigation;
    const auto found = TRY(artifacts.list(access::Caller::system(), about.space_id, filter, {}));
    for (const review::Artifact& artifact : found.data)
        if (artifact.review != review::ReviewState::rejected) {
            story.root_cause = TRY(artifacts.content(artifact));
            break;
        }
    return story;
}

void ReviewDesk::ended(const review::PullRequest& about) {
    log(Level::info, "pull request ended",
        {{"pull_request", about.id.text()}, {"state", std::string(name_of(about.state))}, {"fix_of", about.fix_of}});
    const auto noted = m_services.note(about.run_id, about.artifact_id,
                                       "pull request " + std::string(name_of(about.state)) + ": " + about.url);
    if (!noted.ok()) log(Level::warning, "the end of a pull request is not noted", {{"why", noted.error().message}});
}

// The skill's credential for this address, if it has one; its use is in the audit log before it is used.
Result<> ReviewDesk::authorize(const forge::Remote& remote, const net::Url& url, net::ClientRequest& request) {
    if (remote.skill_id.empty()) return {};
    const std::vector<std::string> skills{remote.skill_id};
    const skill::Grant grant = TRY(m_parts.skills.resolve(access::Caller::system(), remote.space, skills));
    const forge::Place place{url.host, url.port, url.target.substr(0, url.target.find('?'))};
    const skill::Credential* chosen = forge::choose_credential(grant, place, forge::ForgeUse::api, request.method);
    if (chosen == nullptr) return {};
    TRY(m_parts.access.audit.record(access::Caller::system(), {"forge_request",
                                                               remote.space,
                                                               remote.purpose,
                                                               {{"method", request.method},
                                                                {"target", url.host_and_port()},
                                                                {"path", std::string(truncate_utf8(place.path, 500))},
                                                                {"secrets", json::Array{chosen->secret_name}}}}));
    const crypto::SecretBytes secret = TRY(m_parts.vault.open(remote.space, chosen->secret_id, remote.purpose));
    request.headers.push_back(
        {chosen->header.empty() ? "Authorization" : chosen->header, header_value(chosen->format, secret.reveal())});
    return {};
}

Result<net::ClientResponse> ReviewDesk::send(const forge::Remote& remote, net::ClientRequest request) {
    const net::Url url = TRY(net::parse_url(request.url));
    if (!url.tls) return invalid("forges are spoken to over https only");
    const auto reach = remote.allow_private ? net::Reach::also_private : net::Reach::public_only;
    const auto endpoints = TRY(m_resolver->resolve(url.host, url.port));
    std::string_view why = "no address";
    std::vector<const net::Endpoint*> allowed;
    for (const net::Endpoint& endpoint : endpoints) {
        if (const auto refused = m_check(endpoint, reach))
            why = *refused;
        else
            allowed.push_back(&endpoint);
    }
    if (!allowed.empty()) TRY(authorize(remote, url, request));
    request.max_redirects = 0;
    for (const net::Endpoint* endpoint : allowed) {
        request.connect_to = endpoint->text;
        auto response = m_http.send(request);
        // Only what reads may be sent twice; where nobody listens nothing was sent.
        const bool next = endpoint != allowed.back() && !response.ok() && response.error().code == Code::unavailable &&
                          (request.method == "GET" || response.error().message.find("refused") != std::string::npos);
        if (!next) return response;
    }
    return forbidden("the forge " + url.host + " cannot be reached from here: " + std::string(why) +
                     " (a repository may allow private addresses)");
}

} // namespace hone::server
