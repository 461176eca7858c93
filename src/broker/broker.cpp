#include "broker/broker.h"

#include "base/log.h"
#include "broker/egress/placeholder.h"
#include "broker/egress/proxy.h"
#include "broker/wire/authority.h"
#include "crypto/seal.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace hone::broker {

namespace {

// Enough for OpenSSL and the system's resolver, little enough for hundreds of connections.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t stack_bytes = 2 << 20;
#else
constexpr size_t stack_bytes = 256 << 10;
#endif
constexpr auto breath = std::chrono::milliseconds(50); // when descriptors have run out

enum class ListenerKind { proxy, gateway };

} // namespace

struct Broker::State {
    // One listening socket.
    struct Listener {
        Fd socket;
        ListenerKind kind;
        std::shared_ptr<AttachedRun> attached; // shared: connections keep it beyond detach
    };
    struct Work {
        State& state;
        std::shared_ptr<AttachedRun> attached;
        ListenerKind kind;
        Fd socket;
    };

    State(BrokerOptions settings, const Dialer& dial, const Clock& time, GatewayHandler* handler)
        : options(std::move(settings)),
          dialer(dial),
          clock(time),
          gateway(handler) {}

    void accept_all();
    void accept_from(const std::shared_ptr<Listener>& listener);
    void start_connection(const std::shared_ptr<AttachedRun>& attached, ListenerKind kind, Fd socket);
    static void* run_connection(void* work);
    Result<> watch(uint64_t key, int descriptor);

    const BrokerOptions options;
    const Dialer& dialer;
    const Clock& clock;
    GatewayHandler* const gateway;
    Fd epoll;
    Cancel stop;

    Mutex mutex;
    Condition changed;
    std::map<std::string, std::shared_ptr<AttachedRun>> runs GUARDED_BY(mutex);
    std::map<uint64_t, std::shared_ptr<Listener>> listeners GUARDED_BY(mutex); // shared: accepts without the lock
    uint64_t next_key GUARDED_BY(mutex) = 1;
    int64_t live GUARDED_BY(mutex) = 0;
    std::thread acceptor;
};

Result<> Broker::State::watch(uint64_t key, int descriptor) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = key;
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) return system_error("epoll_ctl", errno);
    return {};
}

void Broker::State::accept_all() {
    std::array<epoll_event, 64> events{};
    while (!stop.fired()) {
        const int ready = ::epoll_wait(epoll.get(), events.data(), static_cast<int>(events.size()), -1);
        for (int i = 0; i < ready; ++i) {
            std::shared_ptr<Listener> listener;
            {
                const Lock lock(mutex);
                const auto found = listeners.find(events[static_cast<size_t>(i)].data.u64);
                if (found != listeners.end()) listener = found->second;
            }
            if (listener) accept_from(listener);
        }
    }
}

void Broker::State::accept_from(const std::shared_ptr<Listener>& listener) {
    auto accepted = net::accept_one(listener->socket.get());
    if (!accepted.ok()) {
        std::this_thread::sleep_for(breath);
        return;
    }
    if (!accepted.value().descriptor.is_open()) return;
    start_connection(listener->attached, listener->kind, std::move(accepted.value().descriptor));
}

void Broker::State::start_connection(const std::shared_ptr<AttachedRun>& attached, ListenerKind kind, Fd socket) {
    {
        const Lock lock(mutex);
        // Above the limit the connection is closed immediately: a response would need a thread.
        if (live >= options.connections || attached->m_connections >= attached->caps().connections) return;
        ++live;
        ++attached->m_connections;
    }
    auto work = std::make_unique<Work>(Work{*this, attached, kind, std::move(socket)});
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, stack_bytes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    const int failed = pthread_create(&thread, &attributes, run_connection, work.get());
    pthread_attr_destroy(&attributes);
    if (failed == 0) {
        (void)work.release(); // the thread's now
        return;
    }
    log(Level::warning, "broker cannot start a thread", {{"run", attached->run_id()}, {"error", failed}});
    --attached->m_connections;
    const Lock lock(mutex);
    --live;
}

void* Broker::State::run_connection(void* argument) {
    std::unique_ptr<Work> work(static_cast<Work*>(argument));
    State& state = work->state;
    try {
        const int descriptor = work->socket.get();
        Channel client(net::Socket(std::move(work->socket)), work->attached->cancel());
        {
            const LiveSockets::Entry entry(work->attached->live_sockets(), descriptor);
            if (work->kind == ListenerKind::proxy)
                serve_proxy(*work->attached, client);
            else if (state.gateway != nullptr)
                state.gateway->serve(*work->attached, client);
        }
        client.close();
    } catch (const std::exception& error) {
        log(Level::error, "broker connection failed", {{"run", work->attached->run_id()}, {"error", error.what()}});
    }
    --work->attached->m_connections;
    work.reset();
    const Lock lock(state.mutex);
    --state.live;
    state.changed.notify_all();
    return nullptr;
}

Broker::Broker(std::unique_ptr<State> state) : m_state(std::move(state)) {}

Result<std::unique_ptr<Broker>> Broker::start(BrokerOptions options, const Dialer& dialer, const Clock& clock,
                                              GatewayHandler* gateway) {
    auto state = std::make_unique<State>(std::move(options), dialer, clock, gateway);
    state->epoll = Fd(::epoll_create1(EPOLL_CLOEXEC));
    if (!state->epoll.is_open()) return system_error("epoll_create1", errno);
    TRY(state->watch(0, state->stop.descriptor()));
    State* raw = state.get();
    state->acceptor = std::thread([raw] { raw->accept_all(); });
    return std::unique_ptr<Broker>(new Broker(std::move(state)));
}

Broker::~Broker() {
    m_state->stop.fire();
    m_state->acceptor.join();
    std::vector<std::string> runs;
    {
        const Lock lock(m_state->mutex);
        for (const auto& [run_id, attached] : m_state->runs) runs.push_back(run_id);
    }
    for (const std::string& run_id : runs) remove(run_id, false);
    const Lock lock(m_state->mutex);
    while (m_state->live > 0) m_state->changed.wait(m_state->mutex);
}

Result<std::shared_ptr<AttachedRun>> Broker::attach(RunAccess access, Listeners listeners) {
    if (!access.decisions) return invalid("a run needs a recorder of the broker's decisions");
    auto policy = TRY(Policy::compile(access.mode, access.grant, access.rules, access.forges));
    for (const PrivateHost& host : m_state->options.private_hosts)
        if (host.is_open_to(access.grant)) access.private_hosts.push_back(host.place);
    if (!access.seed) access.seed = std::make_shared<const crypto::SecretBytes>(crypto::random_secret(32));
    auto authority = TRY(Authority::create(access.run_id, *access.seed, m_state->clock.now()));
    const std::shared_ptr<AttachedRun> attached(
        new AttachedRun(access, std::move(policy), std::move(authority), m_state->dialer, m_state->clock));
    const Lock lock(m_state->mutex);
    if (m_state->stop.fired()) return unavailable("the broker is stopping");
    if (m_state->runs.contains(access.run_id)) return conflict("run " + access.run_id + " is attached already");
    for (auto [socket, kind] :
         {std::pair{&listeners.proxy, ListenerKind::proxy}, {&listeners.gateway, ListenerKind::gateway}}) {
        if (!socket->is_open()) continue;
        ::fcntl(socket->get(), F_SETFL, ::fcntl(socket->get(), F_GETFL) | O_NONBLOCK);
        const uint64_t key = m_state->next_key++;
        const int descriptor = socket->get();
        m_state->listeners[key] =
            std::make_shared<State::Listener>(State::Listener{std::move(*socket), kind, attached});
        if (auto watched = m_state->watch(key, descriptor); !watched.ok()) {
            std::erase_if(m_state->listeners, [&](const auto& entry) { return entry.second->attached == attached; });
            return watched.error();
        }
    }
    m_state->runs[access.run_id] = attached;
    return attached;
}

Result<> Broker::update(const RunAccess& access) {
    // Compiled first: a bad policy changes nothing.
    const auto policy = TRY(Policy::compile(access.mode, access.grant, access.rules, access.forges));
    std::shared_ptr<AttachedRun> attached;
    {
        const Lock lock(m_state->mutex);
        const auto found = m_state->runs.find(access.run_id);
        if (found == m_state->runs.end()) return not_found("run " + access.run_id);
        attached = found->second;
    }
    {
        const Lock lock(attached->m_mutex);
        attached->m_policy = policy;
        attached->m_caps = access.caps;
    }
    attached->m_live_sockets.cut_if([&](const HostPort& target) { return !policy->decide_connect(target).allowed; });
    return {};
}

void Broker::detach(const std::string& run_id) {
    remove(run_id, true);
}

void Broker::remove(const std::string& run_id, bool run_has_ended) {
    std::shared_ptr<AttachedRun> attached;
    std::vector<std::shared_ptr<State::Listener>> closing;
    {
        const Lock lock(m_state->mutex);
        const auto found = m_state->runs.find(run_id);
        if (found == m_state->runs.end()) return;
        attached = std::move(found->second);
        m_state->runs.erase(found);
        for (auto entry = m_state->listeners.begin(); entry != m_state->listeners.end();) {
            if (entry->second->attached == attached) {
                ::epoll_ctl(m_state->epoll.get(), EPOLL_CTL_DEL, entry->second->socket.get(), nullptr);
                closing.push_back(std::move(entry->second));
                entry = m_state->listeners.erase(entry);
            } else {
                ++entry;
            }
        }
    }
    attached->m_cancel.fire();
    attached->m_live_sockets.cut_all();
    // The shim keeps copies of the listeners: closing ours would leave them open for connections that are never served.
    if (!run_has_ended) return;
    for (const auto& listener : closing) ::shutdown(listener->socket.get(), SHUT_RDWR);
}

int64_t Broker::live_connections() const {
    const Lock lock(m_state->mutex);
    return m_state->live;
}

} // namespace hone::broker
