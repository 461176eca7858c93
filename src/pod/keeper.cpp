#include "pod/keeper.h"

#include "base/id.h"
#include "pod/peer.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <netinet/in.h>
#include <sstream>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

namespace hone::pod {

namespace {

constexpr size_t piece_bytes = 64 << 10;
constexpr size_t most_candidates = 8;
constexpr size_t longest_first_words = 70 << 10;
constexpr uint16_t proxy_port = 3128, gateway_port = 3129;
// A sandbox whose servers are all away for this long is stopped.
constexpr Duration longest_absence = std::chrono::minutes(15);

kubernetes::LinkIdentity identity_of(const std::string& sandbox) {
    kubernetes::LinkIdentity identity;
    identity.side = kubernetes::LinkSide::pod;
    identity.sandbox = sandbox;
    identity.boot = make_ulid(SystemClock().now());
    return identity;
}

// Which user of the node this one is: each line of the map has a first uid here, the same outside, and a count. A pod
// without a user namespace of its own has all users of the node.
void note_user(sandbox::SandboxView& view) {
    constexpr int64_t all_users = 4294967295;
    view.host_uid = static_cast<int64_t>(::getuid());
    view.user_namespace = false;
    const auto map = read_file("/proc/self/uid_map", 64 << 10);
    if (!map.ok()) return;
    std::istringstream lines(map.value());
    for (int64_t inside = 0, outside = 0, count = 0; lines >> inside >> outside >> count;) {
        const int64_t offset = static_cast<int64_t>(::getuid()) - inside;
        if (offset < 0 || offset >= count) continue;
        view.host_uid = outside + offset;
        view.user_namespace = count < all_users;
    }
}

// Reads what is there; false at the end.
bool read_some(int from, std::string& into) {
    char piece[piece_bytes];
    const ssize_t got = ::read(from, piece, sizeof piece);
    if (got > 0) into.append(piece, static_cast<size_t>(got));
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
}

// Writes what is taken; false when nothing reads it any more.
bool write_some(int into, std::string& from) {
    const ssize_t sent = ::send(into, from.data(), from.size(), MSG_NOSIGNAL);
    if (sent > 0) from.erase(0, static_cast<size_t>(sent));
    return sent >= 0 || errno == EAGAIN || errno == EINTR;
}

} // namespace

Keeper::Keeper(KeeperOptions options) : m_options(std::move(options)), m_link(identity_of(m_options.sandbox)) {
    m_view.id = sandbox::SandboxId(m_options.sandbox);
    m_view.created = m_clock.now();
    note_user(m_view);
    m_view.pid = 1;
    m_view.disk_by = "evict";
    m_view.not_limited = {"disk_inodes", "io_bytes_per_second"};
    struct stat status {};
    m_view.limits_by = ::stat("/sys/fs/cgroup/memory.events", &status) == 0 ? sandbox::LimitKeeper::cgroup2
                                                                            : sandbox::LimitKeeper::cgroup1;
}

Result<> Keeper::listen_on(uint16_t port, Fd& into) {
    into = Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    ::setsockopt(into.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(into.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(into.get(), 128) != 0)
        return system_error("listen on port " + std::to_string(port), errno);
    return {};
}

Result<> Keeper::open() {
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
    ::umask(077);
    if (::chdir(state_folder) != 0) return system_error(std::string("enter ") + state_folder, errno);
    sigset_t all;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, nullptr);
    sigset_t noted;
    sigemptyset(&noted);
    sigaddset(&noted, SIGCHLD);
    sigaddset(&noted, SIGTERM);
    m_signals = Fd(::signalfd(-1, &noted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!m_signals.is_open()) return system_error("receive signals", errno);
    m_channels = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::string_view(channel_socket).copy(address.sun_path, sizeof address.sun_path - 1);
    ::unlink(channel_socket);
    if (::bind(m_channels.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(m_channels.get(), 8) != 0)
        return system_error("listen for channels", errno);
    TRY(listen_on(proxy_port, m_proxy));
    TRY(listen_on(gateway_port, m_gateway));
    m_channel_lost = m_clock.steady();
    return {};
}

Result<> Keeper::run() {
    TRY(open());
    for (;;) {
        keep_time();
        for (Running& running : m_commands) write_input(running);
        do {
            for (auto pump = m_pumps.begin(); pump != m_pumps.end();)
                pump = move(*pump) ? std::next(pump) : m_pumps.erase(pump);
        } while (take_events());
        reply_pending();
        if (!m_replies.empty()) m_replies.erase(0, m_link.write(kubernetes::calls_stream, m_replies));
        write_channel();
        step();
    }
}

// Waits for the next thing to do, and does it.
void Keeper::step() {
    std::vector<pollfd> waits;
    std::vector<std::function<void()>> actions;
    const auto on = [&](const Fd& descriptor, short events, std::function<void()> action) {
        if (!descriptor.is_open() || events == 0) return;
        waits.push_back({descriptor.get(), events, 0});
        actions.push_back(std::move(action));
    };
    on(m_signals, POLLIN, [this] { reap(); });
    on(m_channels, POLLIN, [this] { accept_channel(); });
    if (m_channel.is_open()) {
        on(m_channel, POLLIN, [this] { read_channel(); });
        if (!m_channel_output.empty()) on(m_channel, POLLOUT, [] {});
        on(m_proxy, POLLIN, [this] { accept_connection(proxy_port, m_proxy); });
        on(m_gateway, POLLIN, [this] { accept_connection(gateway_port, m_gateway); });
    }
    for (Candidate& candidate : m_candidates)
        on(candidate.socket, POLLIN, [this, &candidate] { read_candidate(candidate); });
    for (Pump& pump : m_pumps) {
        const bool wants_read = !pump.socket_ended && pump.to_link.empty();
        on(pump.socket, static_cast<short>((wants_read ? POLLIN : 0) | (pump.to_socket.empty() ? 0 : POLLOUT)), [] {});
    }
    const int64_t window = m_spec ? *m_spec->limits.value.output_window_bytes : 0;
    for (Running& running : m_commands) {
        on(running.outcome, POLLIN, [this, &running] { report_start(running); });
        if (!running.command.must_wait(window)) {
            on(running.command.out, POLLIN, [this, &running] { take_output(running, sandbox::Stream::out); });
            on(running.command.err, POLLIN, [this, &running] { take_output(running, sandbox::Stream::err); });
        }
        if (!running.input.empty()) on(running.command.input, POLLOUT, [] {});
    }
    if (m_probe) on(m_probe->socket, POLLIN, [this] { finish_probe(); });
    if (::poll(waits.data(), waits.size(), milliseconds_to_wait()) <= 0) return;
    for (size_t i = waits.size(); i-- > 0;) // signals last: they end commands
        if (waits[i].revents != 0) actions[i]();
    std::erase_if(m_candidates, [](const Candidate& candidate) { return !candidate.socket.is_open(); });
}

int Keeper::milliseconds_to_wait() const {
    Duration soonest = std::chrono::seconds(5);
    const Duration now = m_clock.steady();
    const auto sooner = [&](Duration at) {
        if (at != Duration{}) soonest = std::min(soonest, std::max(Duration{}, at - now));
    };
    if (m_view.state == sandbox::State::running) sooner(m_deadline);
    for (const Waiting& waiting : m_waiting) sooner(waiting.until);
    for (const Running& running : m_commands)
        if (!running.command.exited)
            sooner(running.command.kill_at != Duration{} ? running.command.kill_at : running.command.deadline);
    sooner(m_next_probe);
    return static_cast<int>(soonest.count() / 1'000'000) + (soonest.count() % 1'000'000 != 0 ? 1 : 0);
}

void Keeper::keep_time() {
    const Duration now = m_clock.steady();
    constexpr Duration grace = std::chrono::seconds(5);
    if (m_view.state == sandbox::State::running && m_deadline != Duration{} && now >= m_deadline)
        stop(sandbox::LimitHit::timeout);
    if (!m_channel.is_open() && m_view.state == sandbox::State::running && now - m_channel_lost >= longest_absence)
        stop(std::nullopt, "no server was connected for 15 minutes");
    for (Running& running : m_commands) {
        sandbox::RunningCommand& command = running.command;
        if (command.exited) continue;
        if (command.kill_at != Duration{} && now >= command.kill_at) {
            command.kill_at = now + grace;
            ::kill(-running.pid, SIGKILL);
        } else if (command.kill_at == Duration{} && command.deadline != Duration{} && now >= command.deadline) {
            command.result.limits_hit.push_back(sandbox::LimitHit::timeout);
            ::kill(-running.pid, SIGTERM);
            command.kill_at = now + grace;
        }
    }
    if (m_next_probe != Duration{} && now >= m_next_probe && !m_probe) start_probe(std::nullopt, {});
}

// --- the channel ---------------------------------------------------------------------------------------------------

void Keeper::accept_channel() {
    Fd socket(::accept4(m_channels.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    // A process of the sandbox can find the socket, but is not one that the cluster started.
    if (!socket.is_open() || !may_be_from_cluster(socket.get()) || m_candidates.size() >= most_candidates) return;
    m_candidates.push_back({std::move(socket), {}});
}

void Keeper::read_candidate(Candidate& candidate) {
    const bool is_open = read_of_cluster(candidate.socket.get(), candidate.first);
    const auto accepted = m_link.would_accept(candidate.first);
    if (accepted.ok() && accepted.value()) {
        lose_channel();
        m_channel = std::move(candidate.socket);
        m_link.connected();
        if (!m_link.feed(candidate.first).ok()) lose_channel();
        return;
    }
    if (!accepted.ok() || !is_open || candidate.first.size() > longest_first_words) candidate.socket.reset();
}

void Keeper::read_channel() {
    std::string bytes;
    const bool is_open = read_some(m_channel.get(), bytes);
    if (!bytes.empty() && !m_link.feed(bytes).ok()) return lose_channel();
    if (!is_open) lose_channel();
}

void Keeper::write_channel() {
    if (!m_channel.is_open()) return;
    for (;;) {
        if (m_channel_output.empty()) m_channel_output = m_link.take_output(piece_bytes);
        if (m_channel_output.empty()) return;
        const size_t before = m_channel_output.size();
        if (!write_some(m_channel.get(), m_channel_output)) return lose_channel();
        if (m_channel_output.size() == before) return; // it is full
    }
}

void Keeper::lose_channel() {
    if (!m_channel.is_open()) return;
    m_channel.reset();
    m_channel_output.clear();
    m_channel_lost = m_clock.steady();
    m_link.disconnected();
}

bool Keeper::take_events() {
    const std::vector<kubernetes::LinkEvent> events = m_link.take_events();
    for (const kubernetes::LinkEvent& event : events) {
        const auto pump =
            std::find_if(m_pumps.begin(), m_pumps.end(), [&](const Pump& each) { return each.stream == event.stream; });
        switch (event.kind) {
        case kubernetes::LinkEvent::Kind::opened:
            open_stream(event.stream, event.open);
            break;
        case kubernetes::LinkEvent::Kind::ended:
            if (pump != m_pumps.end()) pump->link_ended = true;
            break;
        case kubernetes::LinkEvent::Kind::reset:
            if (event.stream == kubernetes::calls_stream) { // another server, which has made none of these calls
                m_calls.clear();
                m_replies.clear();
                m_waiting.clear();
            } else if (pump != m_pumps.end()) {
                m_pumps.erase(pump);
            }
            break;
        case kubernetes::LinkEvent::Kind::readable:
            if (event.stream == kubernetes::calls_stream) read_calls();
            break;
        case kubernetes::LinkEvent::Kind::greeted:
        case kubernetes::LinkEvent::Kind::writable:
            break;
        }
    }
    return !events.empty();
}

// --- streams -------------------------------------------------------------------------------------------------------

void Keeper::accept_connection(uint16_t port, const Fd& listener) {
    Fd socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket.is_open()) return;
    kubernetes::StreamOpen open;
    open.port = port;
    const auto stream = m_link.open(open);
    if (!stream.ok()) return; // too many: closed
    Pump pump;
    pump.stream = stream.value();
    pump.socket = std::move(socket);
    m_pumps.push_back(std::move(pump));
}

bool Keeper::move(Pump& pump) {
    for (bool moved = true; moved;) {
        moved = false;
        if (pump.to_socket.empty() && !pump.is_shut) {
            pump.to_socket = m_link.read(pump.stream, piece_bytes);
            moved = !pump.to_socket.empty();
        }
        if (!pump.to_socket.empty() && !write_some(pump.socket.get(), pump.to_socket)) {
            if (!pump.is_helper) {
                m_link.reset(pump.stream, "the connection was closed inside");
                return false;
            }
            pump.to_socket.clear(); // it failed early: its report is still to be read
        }
        if (pump.to_link.empty() && !pump.socket_ended) {
            pump.socket_ended = !read_some(pump.socket.get(), pump.to_link);
            moved = moved || !pump.to_link.empty();
        }
        if (!pump.to_link.empty()) pump.to_link.erase(0, m_link.write(pump.stream, pump.to_link));
        if (!pump.to_link.empty() || !pump.to_socket.empty()) moved = false; // one side is full
    }
    if (pump.link_ended && pump.to_socket.empty() && !pump.is_shut) {
        pump.is_shut = true;
        ::shutdown(pump.socket.get(), SHUT_WR);
    }
    if (pump.socket_ended && pump.to_link.empty() && !pump.end_sent) {
        pump.end_sent = true;
        m_link.end(pump.stream);
    }
    return !(pump.is_shut && pump.end_sent);
}

} // namespace hone::pod
