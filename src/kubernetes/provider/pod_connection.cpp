#include "kubernetes/provider/pod_connection.h"

#include "base/id.h"
#include "base/log.h"
#include "kubernetes/link/bundle.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace hone::kubernetes {

using sandbox::ShimReply, sandbox::ShimRequest;

namespace {

constexpr Duration absence = std::chrono::minutes(2); // that a channel may be lost before its pod counts as away
constexpr Duration tick = std::chrono::seconds(1);
constexpr Duration stream_patience = std::chrono::minutes(5);
constexpr size_t longest_report = 64 << 10;

Duration steady_now() {
    return SystemClock().steady();
}

// A socket in a folder, by a name that only this process can use.
sockaddr_un address_below(int folder, const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = "/proc/self/fd/" + std::to_string(folder) + name;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    return address;
}

struct Listening {
    Fd socket, entrance;
};

// The name is removed before another process can know it; the entrance still leads to the socket.
Result<Listening> make_listener(const std::string& folder) {
    TRY(make_directories(folder, 0700));
    const Fd place(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!place.is_open()) return system_error("open " + folder, errno);
    const std::string name = "/" + make_ulid(SystemClock().now());
    Listening made;
    made.socket = Fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const sockaddr_un address = address_below(place.get(), name);
    if (!made.socket.is_open() ||
        ::bind(made.socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(made.socket.get(), 128) != 0)
        return system_error("listen for a pod", errno);
    made.entrance = Fd(::open((folder + name).c_str(), O_PATH | O_CLOEXEC | O_NOFOLLOW));
    ::unlink((folder + name).c_str());
    if (!made.entrance.is_open()) return system_error("open a listener for a pod", errno);
    return made;
}

Result<Fd> enter(int entrance) {
    Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_un address = address_below(entrance, "");
    if (!socket.is_open() || ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return system_error("connect to the broker", errno);
    return socket;
}

Result<> read_report(std::string_view text) {
    const ShimReply report = TRY(json::read<ShimReply>(text));
    if (report.code) return sandbox::error_of(report);
    return {};
}

} // namespace

PodConnection::PodConnection(Api& api, PodChannelOptions options, std::string folder)
    : m_folder(std::move(folder)),
      m_channel(api, std::move(options)) {}

Result<> PodConnection::open(Duration timeout, const std::function<Result<>()>& check) {
    m_channel.start();
    const Duration until = steady_now() + timeout;
    for (;;) {
        const Duration left = until - steady_now();
        const auto connected = m_channel.await_connected(std::clamp(left, Duration(0), tick));
        if (connected.ok()) break;
        if (connected.error().code != Code::busy || left <= tick) return connected.error();
        TRY(check());
    }
    m_replies = std::jthread([this](const std::stop_token& stop) { read_replies(stop); });
    m_acceptor = std::jthread([this](const std::stop_token& stop) { accept_connections(stop); });
    return {};
}

void PodConnection::stop() {
    std::list<std::thread> carriers;
    {
        const Lock lock(m_mutex);
        m_stopped = true;
        for (const int socket : m_sockets) ::shutdown(socket, SHUT_RDWR);
        carriers.swap(m_carriers);
    }
    m_changed.notify_all();
    m_replies.request_stop();
    m_acceptor.request_stop();
    m_channel.stop();
    if (m_replies.joinable()) m_replies.join();
    if (m_acceptor.joinable()) m_acceptor.join();
    for (std::thread& carrier : carriers) carrier.join();
    {
        const Lock lock(m_mutex);
        for (const int socket : m_sockets) ::shutdown(socket, SHUT_RDWR);
        carriers = std::exchange(m_carriers, {}); // accepted meanwhile
    }
    for (std::thread& carrier : carriers) carrier.join();
}

void PodConnection::set_ended(const PodState& state) {
    {
        const Lock lock(m_mutex);
        if (!m_ended) m_ended = state;
    }
    m_changed.notify_all();
}

std::optional<PodState> PodConnection::ended() const {
    const Lock lock(m_mutex);
    return m_ended;
}

Error PodConnection::gone() const {
    return unavailable(m_ended ? m_ended->text : std::string("the connection to the pod was closed"));
}

// --- calls ---------------------------------------------------------------------------------------------------------

Result<PodConnection::Reply> PodConnection::call(const ShimRequest& request, std::optional<Duration> timeout,
                                                 std::string_view bytes) {
    PodCall made;
    made.request = request;
    return exchange(std::move(made), timeout, bytes);
}

Result<> PodConnection::probe(const std::vector<std::string>& addresses) {
    PodCall made;
    made.probe = addresses;
    TRY(exchange(std::move(made), std::chrono::seconds(30), {}));
    return {};
}

Result<> PodConnection::require_user_namespace() {
    ShimRequest request;
    request.verb = sandbox::ShimVerb::view;
    const auto seen = TRY(call(request, std::chrono::seconds(30)));
    if (seen.reply.view && seen.reply.view->user_namespace.value_or(false)) return {};
    return conflict("the node gave the pod no user namespace, so that it would share its user with all others: "
                    "its container runtime is too old, or set kubernetes_pod_user to own_uid");
}

Result<PodConnection::Reply> PodConnection::exchange(PodCall call, std::optional<Duration> timeout,
                                                     std::string_view bytes) {
    {
        const Lock lock(m_mutex);
        if (m_stopped || m_ended) return gone();
        call.id = m_next_call++;
        m_calls[call.id];
    }
    std::string message;
    append_call(message, json::write(call), bytes);
    {
        const Lock lock(m_write);
        const auto written = m_channel.write(calls_stream, message, stream_patience);
        if (!written.ok()) { // a part of a message may have been sent: nothing more can follow it
            set_ended({PodPhase::ended, false, false, PodCause::node_lost,
                       "the pod does not respond: " + written.error().message, std::nullopt});
            return unavailable(written.error().message);
        }
    }
    const Duration began = steady_now();
    Duration seen = began;
    const Lock lock(m_mutex);
    for (;;) {
        if (auto& reply = m_calls[call.id]) {
            Reply done = std::move(*reply);
            m_calls.erase(call.id);
            if (done.reply.code) return sandbox::error_of(done.reply);
            return done;
        }
        const Duration now = steady_now();
        if (m_channel.status().is_connected) seen = now;
        const bool is_late = timeout && now - began > *timeout + absence;
        if (m_stopped || m_ended || now - seen > absence || is_late) {
            m_calls.erase(call.id);
            if (m_stopped || m_ended) return gone();
            return unavailable("the pod did not respond: " + m_channel.status().problem);
        }
        m_changed.wait_for(m_mutex, tick);
    }
}

void PodConnection::read_replies(const std::stop_token& stop) {
    CallReader reader;
    while (!stop.stop_requested()) {
        auto bytes = m_channel.read(calls_stream, tick);
        if (!bytes.ok() && bytes.error().code == Code::busy) continue;
        if (!bytes.ok() || bytes.value().empty()) return;
        reader.feed(bytes.value());
        for (;;) {
            auto message = reader.next();
            if (message.ok() && !message.value()) break;
            auto reply = message.ok() ? json::read<PodReply>(message.value()->text) : Result<PodReply>(message.error());
            if (!reply.ok())
                return set_ended({PodPhase::ended, false, false, PodCause::exited,
                                  "the pod sent what is not a reply: " + reply.error().message, std::nullopt});
            {
                const Lock lock(m_mutex);
                if (const auto found = m_calls.find(reply.value().id); found != m_calls.end())
                    found->second = Reply{std::move(reply.value().reply), std::move(message.value()->bytes)};
            }
            m_changed.notify_all();
        }
    }
}

// --- files ---------------------------------------------------------------------------------------------------------

Result<> PodConnection::send_files(const std::vector<std::pair<std::string, std::string>>& files) {
    StreamOpen open;
    open.kind = StreamKind::file;
    return send(open, [&](const Sink& sink) -> Result<> {
        for (const auto& [source, target] : files) TRY(write_bundle(source, target, sink));
        return end_bundle(sink);
    });
}

Result<> PodConnection::send_home(bool is_kept, const std::function<Result<std::string>()>& next) {
    StreamOpen open;
    open.kind = StreamKind::file;
    open.path = is_kept ? "kept-home" : "home";
    return send(open, [&](const Sink& sink) -> Result<> {
        for (;;) {
            const std::string piece = TRY(next());
            if (piece.empty()) return {};
            TRY(sink(piece));
        }
    });
}

Result<> PodConnection::send(const StreamOpen& open, const std::function<Result<>(const Sink&)>& work) {
    const uint32_t stream = TRY(m_channel.open(open));
    const std::unique_ptr<PodChannel, std::function<void(PodChannel*)>> closer(
        &m_channel, [stream](PodChannel* channel) { channel->close(stream); });
    std::string buffer;
    const auto flush = [&]() -> Result<> {
        TRY(m_channel.write(stream, buffer, stream_patience));
        buffer.clear();
        return {};
    };
    TRY(work([&](std::string_view bytes) -> Result<> {
        buffer += bytes;
        return buffer.size() < longest_report ? Result<>() : flush();
    }));
    TRY(flush());
    m_channel.end(stream);
    std::string report;
    for (;;) {
        const std::string bytes = TRY(m_channel.read(stream, stream_patience));
        if (bytes.empty()) return read_report(report);
        report += bytes;
        if (report.size() > longest_report) return corrupt("the pod sent a report that is too long");
    }
}

Result<int64_t> PodConnection::receive(const std::string& request, int64_t most,
                                       const std::function<Result<>(std::string_view)>& sink) {
    StreamOpen open;
    open.kind = StreamKind::output;
    open.path = request;
    const uint32_t stream = TRY(m_channel.open(open));
    const std::unique_ptr<PodChannel, std::function<void(PodChannel*)>> closer(
        &m_channel, [stream](PodChannel* channel) { channel->close(stream); });
    m_channel.end(stream);
    std::string tail; // its end is the report
    int64_t received = 0;
    for (;;) {
        const std::string bytes = TRY(m_channel.read(stream, stream_patience));
        if (bytes.empty()) break;
        tail += bytes;
        if (tail.size() <= 2 * longest_report) continue;
        const size_t part = tail.size() - longest_report;
        received += static_cast<int64_t>(part);
        if (received > most) return too_large("the pod sent more than was requested");
        TRY(sink(std::string_view(tail).substr(0, part)));
        tail.erase(0, part);
    }
    if (tail.size() < 4) return unavailable("the pod sent no report");
    size_t length = 0;
    for (size_t i = 4; i-- > 0;) length = length << 8 | static_cast<uint8_t>(tail[tail.size() - 4 + i]);
    if (length + 4 > tail.size()) return corrupt("the pod sent no report");
    const size_t rest = tail.size() - 4 - length;
    TRY(read_report(std::string_view(tail).substr(rest, length)));
    received += static_cast<int64_t>(rest);
    if (received > most) return too_large("the pod sent more than was requested");
    TRY(sink(std::string_view(tail).substr(0, rest)));
    return received;
}

// --- connections from inside ---------------------------------------------------------------------------------------

Result<std::vector<Fd>> PodConnection::listeners() {
    std::vector<Fd> sockets;
    for (const int64_t port : {3128, 3129}) {
        Listening made = TRY(make_listener(m_folder));
        sockets.push_back(std::move(made.socket));
        const Lock lock(m_mutex);
        m_entrances[port] = std::make_shared<Fd>(std::move(made.entrance));
    }
    return sockets;
}

void PodConnection::accept_connections(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        const auto accepted = m_channel.accept(tick);
        if (!accepted.ok() && accepted.error().code == Code::busy) continue;
        if (!accepted.ok()) return;
        const uint32_t stream = accepted.value().stream;
        std::shared_ptr<Fd> entrance;
        {
            const Lock lock(m_mutex);
            const auto found = m_entrances.find(accepted.value().open.port.value_or(0));
            if (found != m_entrances.end() && !m_stopped) entrance = found->second;
            for (const std::thread::id done : std::exchange(m_done, {}))
                for (auto each = m_carriers.begin(); each != m_carriers.end(); ++each)
                    if (each->get_id() == done) {
                        each->join(); // it is about to return
                        m_carriers.erase(each);
                        break;
                    }
        }
        auto socket = entrance ? enter(entrance->get()) : Result<Fd>(unavailable("nothing listens for the pod"));
        if (!socket.ok()) {
            m_channel.close(stream);
            continue;
        }
        const Lock lock(m_mutex);
        m_sockets.insert(socket.value().get());
        m_carriers.emplace_back([this, stream, connection = std::make_shared<Fd>(std::move(socket).value())] {
            carry(stream, *connection);
        });
    }
}

// Between one stream and one socket, until both directions have ended.
void PodConnection::carry(uint32_t stream, const Fd& socket) {
    std::thread outward([this, stream, &socket] { // from the broker to the pod
        std::string piece(64 << 10, '\0');
        for (;;) {
            const ssize_t got = ::read(socket.get(), piece.data(), piece.size());
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            if (!m_channel.write(stream, std::string_view(piece.data(), static_cast<size_t>(got)), stream_patience)
                     .ok()) {
                ::shutdown(socket.get(), SHUT_RDWR);
                return;
            }
        }
        m_channel.end(stream);
    });
    for (;;) {
        const auto bytes = m_channel.read(stream, stream_patience);
        if (!bytes.ok() && bytes.error().code == Code::busy) continue;
        if (!bytes.ok()) {
            ::shutdown(socket.get(), SHUT_RDWR);
            break;
        }
        if (bytes.value().empty()) {
            ::shutdown(socket.get(), SHUT_WR);
            break;
        }
        if (!write_all(socket.get(), bytes.value()).ok()) {
            ::shutdown(socket.get(), SHUT_RDWR);
            break;
        }
    }
    outward.join();
    m_channel.close(stream);
    const Lock lock(m_mutex);
    m_sockets.erase(socket.get());
    m_done.push_back(std::this_thread::get_id());
}

} // namespace hone::kubernetes
