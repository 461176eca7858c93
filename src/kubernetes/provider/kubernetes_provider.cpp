#include "kubernetes/provider/kubernetes_provider.h"

#include "base/file.h"
#include "base/id.h"
#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "kubernetes/api/object.h"
#include "kubernetes/pod/admission.h"
#include "kubernetes/pod/pod_records.h"
#include "kubernetes/provider/pod_layers.h"
#include "kubernetes/provider/pod_sandbox.h"
#include "kubernetes/provider/pod_spec_check.h"
#include "kubernetes/provider/pod_threads.h"
#include "kubernetes/provider/pod_watch.h"
#include "kubernetes/provider/probe_addresses.h"
#include "kubernetes/provider/ready_pods.h"

#include <set>

namespace hone::kubernetes {

using sandbox::SandboxId, sandbox::SandboxSpec;

namespace {

constexpr Duration channel_patience = std::chrono::seconds(60);
constexpr Duration list_patience = std::chrono::seconds(5);    // with the first list, by who needs one pod of it
constexpr Duration longest_pending = std::chrono::minutes(10); // without a cause that has a limit of its own
constexpr int64_t end_seconds = 5;
constexpr Duration unclaimed_for = std::chrono::minutes(10); // then a pod that nothing here knows is deleted
constexpr Duration reader_kept = std::chrono::minutes(2);    // after its last use

// Pods of another installation are never touched: a random name, kept.
Result<std::string> installation_name(const std::string& folder, const Clock& clock) {
    const std::string path = folder + "/installation";
    TRY(make_directories(folder, 0700));
    if (!file_exists(path)) TRY(write_file(path, lowercase_ascii(make_ulid(clock.now()))));
    return read_file(path, 100);
}

class KubernetesProvider final : public sandbox::Provider {
public:
    KubernetesProvider(ProviderOptions options, std::unique_ptr<Credentials> credentials, const Clock& clock)
        : m_options(std::move(options)),
          m_clock(clock),
          m_epoch(to_ns(clock.now()) / 1000),
          m_credentials(std::move(credentials)),
          m_api(*m_credentials, clock),
          m_opened(clock.steady()),
          m_threads(m_api, clock, {m_options.name_space, m_options.pods.installation, m_options.storage_class}),
          m_layers(m_options.store ? std::optional<PodLayers>(*m_options.store) : std::nullopt),
          m_watch(m_api, {pods_path(), selector()},
                  [this](const std::string& pod, const PodState& state) { pod_ended(pod, state); }),
          m_ready(std::in_place, m_options.ready, clock,
                  ReadyPods::Actions{
                      [this](const SandboxId& id, PodRequest request, const sandbox::StartProgress& progress) {
                          return make_ready(id, std::move(request), progress);
                      },
                      [this](const ReadyPod& pod) { return discard(pod); }}) {}

    ~KubernetesProvider() override {
        m_ready.reset();
        std::map<std::string, std::shared_ptr<PodConnection>> connections;
        {
            const Lock lock(m_mutex);
            connections.swap(m_connections);
            m_readers.clear();
        }
        for (auto& [pod, connection] : connections) connection->stop();
    }

    sandbox::Capabilities capabilities() override {
        sandbox::Capabilities declared;
        declared.tiers.push_back(sandbox::Tier::ns);
        if (m_options.pods.runtime_classes.contains(sandbox::Tier::gvisor))
            declared.tiers.push_back(sandbox::Tier::gvisor);
        declared.execute = declared.pty = declared.broker = declared.reattach = true;
        declared.threads = m_threads.have_volumes();
        declared.layers = m_layers.has_value();
        declared.limits_by = sandbox::LimitKeeper::cgroup2; // of most nodes; a view has what its node uses
        return declared;
    }

    // The archive of a home is not that of another version of this program, nor of another image.
    std::string layer_root() override { return "kubernetes, home 1, " + m_options.pods.image; }

    Result<std::unique_ptr<sandbox::Sandbox>> start(const SandboxSpec& spec,
                                                    const sandbox::StartProgress& progress) override {
        TRY(check_spec(spec, m_layers.has_value()));
        TRY(remove_readers(spec.thread));
        const SandboxId id = make_id<sandbox::SandboxTag>(m_clock);
        PodRequest request;
        request.sandbox = id;
        request.limits = *spec.limits;
        request.tier = *spec.minimum_tier;
        request.user_key = spec.thread.value_or(id.text());
        request.mounts = TRY(targets_of(spec));
        request.keep_home = *spec.keep_home;
        if (spec.thread && m_threads.have_volumes())
            request.volume_claim = TRY(m_threads.claim(*spec.thread, *spec.limits.value.disk_bytes));
        // One that builds a layer is no reason to prepare others like it.
        if (auto taken = spec.capture ? std::nullopt : m_ready->take(request)) {
            const auto prepared = prepare(taken->id, *taken->connection, spec, progress);
            if (prepared.ok()) return make_sandbox(taken->id, std::move(taken->connection), spec);
            remove_failed(taken->id);
            // A pod that ended since it was prepared is no reason to fail.
            if (prepared.error().code != Code::unavailable) return prepared.error();
        }
        const Starting starting(*this, pod_name(id));
        auto uid = create_pod(request);
        if (!uid.ok() && uid.error().code == Code::busy && m_ready->make_room()) uid = create_pod(request);
        if (!uid.ok()) return std::move(uid).error();
        auto started = [&]() -> Result<std::shared_ptr<PodConnection>> {
            TRY(await_ready(pod_name(id), uid.value(), progress));
            auto connection = TRY(connect(id, has_not_ended));
            TRY(prepare(id, *connection, spec, progress));
            return connection;
        }();
        if (started.ok()) return make_sandbox(id, std::move(started).value(), spec);
        const Error failed = reason_of_end(pod_name(id), uid.value(), started.error());
        remove_failed(id);
        return failed;
    }

    Result<std::unique_ptr<sandbox::Sandbox>> attach(const SandboxId& id) override {
        {
            const Lock lock(m_mutex);
            if (const auto found = m_connections.find(pod_name(id)); found != m_connections.end())
                return make_sandbox(id, found->second);
        }
        const Starting starting(*this, pod_name(id));
        const PodCheck is_there = [&id](const PodState& state) -> Result<> {
            if (state.phase == PodPhase::ended) return not_found("sandbox " + id.text() + ": " + state.text);
            if (state.is_terminating) return not_found("sandbox " + id.text() + ": the pod is being deleted");
            return {};
        };
        const PodState last = TRY(last_state(pod_name(id)));
        TRY(is_there(last));
        auto connection = TRY(connect(id, is_there));
        return make_sandbox(id, std::move(connection));
    }

    Result<std::vector<SandboxId>> list() override {
        std::vector<SandboxId> ids;
        const auto take = [&](const json::Value& pod) {
            if (!text_at(pod, {"metadata", "deletionTimestamp"}).empty()) return;
            auto id = parse_id<sandbox::SandboxTag>(text_at(pod, {"metadata", "labels", sandbox_label}));
            if (id.ok() && !m_ready->has(id.value())) ids.push_back(std::move(id).value());
        };
        TRY(m_api.list_each(pods_path(), selector(), {take, [&] { ids.clear(); }}));
        return ids;
    }

    // Its processes first: a delete takes effect only when the node has received it.
    Result<> destroy(const SandboxId& id) override {
        std::shared_ptr<PodConnection> connection;
        {
            const Lock lock(m_mutex);
            auto found = m_connections.extract(pod_name(id));
            if (!found.empty()) connection = std::move(found.mapped());
        }
        if (connection && !connection->ended()) {
            sandbox::ShimRequest request;
            request.verb = sandbox::ShimVerb::destroy;
            if (const auto ended = connection->call(request, Duration(0)); !ended.ok())
                log(Level::info, "pod not stopped before its deletion",
                    {{"sandbox", id.text()}, {"why", ended.error().message}});
        }
        if (connection) connection->stop();
        return remove_pod(pod_name(id));
    }

    bool await_ready(int64_t timeout_ms) override { return m_ready->await_full(std::chrono::milliseconds(timeout_ms)); }

    // Pods that nothing here knows: those that have ended, and all of them when every run had time to connect again.
    // One request for each, with what the list has; a pod that cannot be deleted does not keep the others.
    Result<int64_t> reconcile() override {
        TRY(remove_readers({}));
        const bool are_known = m_clock.steady() - m_opened > unclaimed_for;
        std::map<std::string, std::string> over; // name → uid
        const auto take = [&](const json::Value& pod) {
            const PodState state = read_pod_state(pod);
            if (!state.is_terminating && (state.phase == PodPhase::ended || are_known))
                over[text_at(pod, {"metadata", "name"})] = text_at(pod, {"metadata", "uid"});
        };
        TRY(m_api.list_each(pods_path(), selector(), {take, [&] { over.clear(); }}));
        int64_t removed = 0;
        std::optional<Error> first;
        for (const auto& [name, uid] : over) {
            {
                const Lock lock(m_mutex);
                if (m_connections.contains(name) || m_starting.contains(name)) continue;
            }
            const ApiResponse response = TRY(request_removal(name, uid));
            removed += is_gone(response) ? 1 : 0;
            if (!is_gone(response) && !first) first = error_of(response, "delete the pod " + name);
        }
        if (first) return *first;
        return removed;
    }

    // By a pod of its own, which stays for a moment: people open one file after another.
    Result<std::unique_ptr<sandbox::Files>> thread_files(const std::string& thread) override {
        if (!m_threads.have_volumes()) return not_found("workspace: that of a run in a pod ends with the pod");
        TRY(remove_readers({}));
        const Lock one_at_a_time(m_reading);
        if (auto reader = find_reader(thread)) return reader->files();
        if (!TRY(m_threads.exists(thread))) return not_found("volume of the session");
        std::shared_ptr<sandbox::Sandbox> reader = TRY(start(reader_spec(thread), {}));
        const Lock lock(m_mutex);
        m_readers[thread] = {reader, m_clock.steady()};
        return reader->files();
    }
    Result<> fork_thread(const std::string& /*from*/, const std::string& /*to*/) override {
        return unavailable("the volume of a session in a cluster cannot be copied");
    }
    Result<int64_t> remove_other_threads(const std::vector<std::string>& kept) override {
        return m_threads.remove_others(kept);
    }

private:
    // While it exists, the pod is not one that nothing knows, and what is seen of it stays.
    class Starting {
    public:
        Starting(KubernetesProvider& provider, std::string pod) : m_provider(provider), m_pod(std::move(pod)) {
            m_provider.m_watch.expect(m_pod);
            const Lock lock(m_provider.m_mutex);
            m_provider.m_starting.insert(m_pod);
        }
        ~Starting() {
            m_provider.m_watch.forget(m_pod);
            const Lock lock(m_provider.m_mutex);
            m_provider.m_starting.extract(m_pod); // two may connect to the same pod
        }
        Starting(const Starting&) = delete;
        Starting& operator=(const Starting&) = delete;

    private:
        KubernetesProvider& m_provider;
        const std::string m_pod;
    };
    struct Reader {
        std::shared_ptr<sandbox::Sandbox> sandbox; // shared with those who read
        Duration used{};
    };

    std::shared_ptr<sandbox::Sandbox> find_reader(const std::string& thread) {
        const Lock lock(m_mutex);
        const auto found = m_readers.find(thread);
        if (found == m_readers.end()) return nullptr;
        found->second.used = m_clock.steady();
        return found->second.sandbox;
    }

    // Those that were not used for two minutes, and the one of this thread: its volume is needed.
    Result<> remove_readers(const std::optional<std::string>& thread) {
        std::vector<std::shared_ptr<sandbox::Sandbox>> over;
        {
            const Lock lock(m_mutex);
            std::erase_if(m_readers, [&](const auto& each) {
                const bool is_over = each.first == thread || m_clock.steady() - each.second.used > reader_kept;
                if (is_over) over.push_back(each.second.sandbox);
                return is_over;
            });
        }
        for (const auto& reader : over) TRY(reader->destroy());
        return {};
    }

    std::string pods_path() const { return "/api/v1/namespaces/" + m_options.name_space + "/pods"; }
    std::string selector() const {
        return std::string(installation_label) + "=" + m_options.pods.installation + "," + std::string(role_label) +
               "=worker";
    }

    std::unique_ptr<sandbox::Sandbox> make_sandbox(const SandboxId& id, std::shared_ptr<PodConnection> connection,
                                                   const SandboxSpec& spec = {}) {
        SaveCapture save;
        if (spec.capture)
            save = [this, id, connection, directory = *spec.capture,
                    limits = limits_of_home(*spec.limits)](const std::function<bool()>& cancelled) {
                return m_layers->save(*connection, directory, image_of(id), limits, cancelled);
            };
        return sandbox_of(
            id, std::move(connection), [this, id] { return destroy(id); }, std::move(save));
    }

    // What its node runs.
    std::string image_of(const SandboxId& id) const {
        const auto seen = m_watch.find(pod_name(id));
        return seen ? seen->state.image : std::string();
    }

    void pod_ended(const std::string& pod, const PodState& state) {
        std::shared_ptr<PodConnection> connection;
        {
            const Lock lock(m_mutex);
            if (const auto found = m_connections.find(pod); found != m_connections.end()) connection = found->second;
        }
        if (connection) connection->set_ended(state);
    }

    // Its uid. A pod that the cluster changed is deleted.
    Result<std::string> create_pod(const PodRequest& request) {
        const json::Value sent = TRY(pod_of(m_options.pods, request));
        const auto posted = m_api.create(pods_path(), sent);
        if (!posted.ok()) return busy("The cluster does not respond: " + posted.error().message);
        const ApiResponse& created = posted.value();
        if (!created.ok()) {
            const CreateProblem problem = explain_refusal(created);
            if (problem.refusal == CreateRefusal::quota || problem.refusal == CreateRefusal::later)
                return busy(problem.text);
            return conflict(problem.text);
        }
        const std::string uid = text_at(created.body, {"metadata", "uid"});
        const std::vector<Difference> differences = admission_differences(sent, created.body);
        if (differences.empty()) return uid;
        TRY(m_api.remove(pods_path() + "/" + pod_name(request.sandbox), delete_options(uid, 0)));
        return conflict("the cluster changed the pod, so it was deleted: " + differences.front().path + " " +
                        differences.front().what);
    }

    // Until the worker's container runs; as patient as the cause of the wait deserves.
    Result<> await_ready(const std::string& pod, const std::string& uid, const sandbox::StartProgress& progress) {
        const Duration began = m_clock.steady();
        Duration since = began; // that this cause is seen
        PodCause cause = PodCause::none;
        for (;;) {
            const auto seen = m_watch.find(pod);
            if (seen && seen->uid == uid && seen->state.is_ready) return {};
            if (seen && seen->uid == uid && seen->state.cause == PodCause::deleted)
                return unavailable("the pod was deleted before it was ready");
            if (seen && seen->uid == uid && seen->state.phase == PodPhase::ended)
                return unavailable(explain_pod(m_api, m_options.name_space, pod, uid, seen->state));
            const Duration now = m_clock.steady();
            if (seen && seen->state.cause != cause) {
                cause = seen->state.cause;
                since = now;
            }
            const Patience patience = patience_with(cause);
            if (now - began > longest_pending ||
                (patience.then != Patience::Then::wait && now - since > patience.after)) {
                const std::string why =
                    explain_pod(m_api, m_options.name_space, pod, uid, seen ? seen->state : PodState{});
                return patience.then == Patience::Then::queue ? busy(why) : unavailable(why);
            }
            if (progress && !progress(seen && cause != PodCause::none ? seen->state.text : std::string()))
                return conflict("the start was cancelled");
            m_watch.wait(pod, seen ? seen->change : 0, std::chrono::seconds(1));
        }
    }

    // A pod that the cluster took before the run had begun is no fault of the run: another one is made.
    Error reason_of_end(const std::string& pod, const std::string& uid, const Error& error) const {
        const auto seen = m_watch.find(pod);
        const bool is_ended = seen && seen->uid == uid && seen->state.phase == PodPhase::ended;
        if (!is_ended || error.code != Code::unavailable) return error;
        if (seen->state.cause != PodCause::taken && seen->state.cause != PodCause::node_lost) return error;
        return busy(seen->state.text);
    }

    // By the watch, which has all pods from one list; a pod that it does not have may be newer than its last event.
    Result<PodState> last_state(const std::string& pod) {
        if (m_watch.await_listed(list_patience))
            if (const auto seen = m_watch.find(pod)) return seen->state;
        const ApiResponse read = TRY(m_api.get(pods_path() + "/" + pod));
        if (!read.ok()) return error_of(read, "read the pod");
        return read_pod_state(read.body);
    }

    static bool is_gone(const ApiResponse& removed) {
        return removed.ok() || removed.status == 404 || removed.status == 409;
    }
    Result<ApiResponse> request_removal(const std::string& pod, const std::string& uid) {
        return m_api.remove(pods_path() + "/" + pod, delete_options(uid, end_seconds));
    }
    Result<> remove_pod(const std::string& pod) {
        std::string uid;
        if (const auto seen = m_watch.find(pod); seen && seen->exists) uid = seen->uid;
        if (uid.empty()) {
            const ApiResponse read = TRY(m_api.get(pods_path() + "/" + pod));
            if (read.status == 404) return {};
            if (!read.ok()) return error_of(read, "read the pod");
            uid = text_at(read.body, {"metadata", "uid"});
        }
        const ApiResponse removed = TRY(request_removal(pod, uid));
        if (is_gone(removed)) return {};
        return error_of(removed, "delete the pod");
    }

    // An error: nothing is to be expected of a pod in this state.
    using PodCheck = std::function<Result<>(const PodState&)>;
    static Result<> has_not_ended(const PodState& state) {
        if (state.phase == PodPhase::ended) return unavailable(state.text);
        return {};
    }

    Result<std::shared_ptr<PodConnection>> connect(const SandboxId& id, const PodCheck& check) {
        PodChannelOptions options;
        options.exec = {m_options.name_space,
                        pod_name(id),
                        std::string(worker_container),
                        {"/hone-bin/hone-pod", "channel"},
                        true,
                        true};
        options.identity.side = LinkSide::server;
        options.identity.sandbox = id.text();
        options.identity.epoch = m_epoch;
        options.identity.session = to_hex(crypto::random_bytes(16));
        auto connection = std::make_shared<PodConnection>(m_api, std::move(options), m_options.folder);
        const auto check_now = [&]() -> Result<> {
            const auto seen = m_watch.find(pod_name(id));
            return seen ? check(seen->state) : Result<>();
        };
        TRY(connection->open(channel_patience, check_now));
        {
            const Lock lock(m_mutex);
            connection = m_connections.emplace(pod_name(id), connection).first->second;
        }
        // The watch reports an end to connections that are in the list: not one while this one was opened.
        if (const auto seen = m_watch.find(pod_name(id)); seen && seen->state.phase == PodPhase::ended)
            connection->set_ended(seen->state);
        return connection;
    }

    Result<> close_network(PodConnection& connection) {
        std::vector<std::string> addresses = m_options.probe_addresses;
        for (std::string& address : addresses_of(m_credentials->access().server))
            addresses.push_back(std::move(address));
        return connection.probe(addresses);
    }

    // A pod without a run.
    Result<ReadyPod> make_ready(const SandboxId& id, PodRequest request, const sandbox::StartProgress& progress) {
        ReadyPod pod{id, nullptr};
        request.sandbox = pod.id;
        request.user_key = pod.id.text();
        request.idle_seconds = std::chrono::duration_cast<std::chrono::seconds>(2 * ready_pod_kept).count();
        const Starting starting(*this, pod_name(pod.id));
        const std::string uid = TRY(create_pod(request));
        const auto made = [&]() -> Result<> {
            TRY(await_ready(pod_name(pod.id), uid, progress));
            pod.connection = TRY(connect(pod.id, has_not_ended));
            return close_network(*pod.connection);
        }();
        if (made.ok()) return pod;
        remove_failed(pod.id);
        return made.error();
    }

    // Nothing of a run is in it, so that no process has to end first: a pod that does not respond is not waited for.
    Result<> discard(const ReadyPod& pod) {
        {
            const Lock lock(m_mutex);
            m_connections.erase(pod_name(pod.id));
        }
        pod.connection->stop();
        auto removed = remove_pod(pod_name(pod.id));
        log_failure(pod.id, removed);
        return removed;
    }
    void remove_failed(const SandboxId& id) { log_failure(id, destroy(id)); }
    static void log_failure(const SandboxId& id, const Result<>& removed) {
        if (removed.ok()) return;
        log(Level::warning, "pod cannot be deleted", {{"sandbox", id.text()}, {"why", removed.error().message}});
    }

    // Nothing of the run is in the pod before its network was found to be closed: also one that was so when it was
    // prepared.
    Result<> prepare(const SandboxId& id, PodConnection& connection, const SandboxSpec& spec,
                     const sandbox::StartProgress& progress) {
        TRY(close_network(connection));
        if (m_options.pods.user == PodUser::user_namespace) TRY(connection.require_user_namespace());
        std::vector<std::pair<std::string, std::string>> files;
        for (const sandbox::Mount& mount : *spec.mounts) files.emplace_back(mount.source, mount.target);
        TRY(connection.send_files(files));
        sandbox::ShimRequest claim;
        claim.verb = sandbox::ShimVerb::claim;
        claim.spec = spec;
        claim.spec->mounts.value.clear(); // paths of this machine
        claim.spec->layers.value.clear();
        claim.spec->capture.reset();
        if (spec.layers.value.empty()) return call_pod(connection, claim);
        // The layer comes before the first command, and behind the walls of the claim.
        claim.spec->command.reset();
        TRY(call_pod(connection, claim));
        const bool is_kept = spec.thread && *spec.keep_home && m_threads.have_volumes();
        TRY(m_layers->send(connection, *spec.layers, is_kept, image_of(id), progress));
        if (!spec.command) return {};
        sandbox::ShimRequest first;
        first.verb = sandbox::ShimVerb::execute;
        first.command = spec.command;
        return call_pod(connection, first);
    }

    static Result<> call_pod(PodConnection& connection, const sandbox::ShimRequest& request) {
        TRY(connection.call(request, std::chrono::seconds(30)));
        return {};
    }

    const ProviderOptions m_options;
    const Clock& m_clock;
    const int64_t m_epoch;
    const std::unique_ptr<Credentials> m_credentials;
    Api m_api;
    const Duration m_opened;
    PodThreads m_threads;
    const std::optional<PodLayers> m_layers;
    Mutex m_reading; // before m_mutex
    Mutex m_mutex;
    std::map<std::string, std::shared_ptr<PodConnection>> m_connections GUARDED_BY(m_mutex); // by pod
    std::multiset<std::string> m_starting GUARDED_BY(m_mutex);                               // pods
    std::map<std::string, Reader> m_readers GUARDED_BY(m_mutex);                             // by thread
    PodWatch m_watch;                 // its thread uses what stands above
    std::optional<ReadyPods> m_ready; // last: its thread uses all of it
};

} // namespace

Result<std::unique_ptr<sandbox::Provider>> open_kubernetes_provider(ProviderOptions options, const Clock& clock) {
    options.pods.installation = TRY(installation_name(options.folder, clock));
    if (options.name_space.empty()) options.name_space = options.access.name_space;
    PodRequest request; // errors of the settings are reported now
    request.sandbox = make_id<sandbox::SandboxTag>(clock);
    request.user_key = request.sandbox.text();
    TRY(pod_of(options.pods, request));
    auto credentials = TRY(Credentials::open(std::move(options.access), clock));
    return std::unique_ptr<sandbox::Provider>(
        std::make_unique<KubernetesProvider>(std::move(options), std::move(credentials), clock));
}

} // namespace hone::kubernetes
