#include "kubernetes/pod_channel.h"

#include "base/log.h"
#include "crypto/crypto.h"

#include <algorithm>

namespace hone::kubernetes {

namespace {

constexpr size_t most_output_bytes = 256 << 10; // queued in the socket, so that streams take turns
constexpr size_t piece_bytes = 128 << 10;
constexpr size_t read_bytes = 64 << 10;

Duration steady_time() {
    return SystemClock().steady();
}

} // namespace

PodChannel::PodChannel(Api& api, PodChannelOptions options)
    : m_api(api),
      m_options(std::move(options)),
      m_link(m_options.identity) {
    m_local[calls_stream];
}

void PodChannel::start() {
    m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

void PodChannel::stop() {
    {
        const Lock lock(m_mutex);
        m_stopped = true;
        wake();
    }
    m_cancel.cancel();
    m_changed.notify_all();
    if (!m_thread.joinable()) return;
    m_thread.request_stop();
    m_thread.join();
}

void PodChannel::wake() {
    if (m_exec) m_exec->wake();
}

void PodChannel::run(const std::stop_token& stop) {
    for (int failures = 0; !stop.stop_requested();) {
        const Duration began = steady_time();
        const auto served = serve(stop);
        {
            const Lock lock(m_mutex);
            m_exec.reset();
            m_link.disconnected();
            pass_on_events();
            m_status.is_connected = false;
            if (!served.ok()) m_status.problem = served.error().message;
        }
        m_changed.notify_all();
        if (stop.stop_requested()) return;
        log(Level::info, "channel of a pod lost",
            {{"pod", m_options.exec.pod}, {"why", served.ok() ? "it ended" : served.error().message}});
        // All channels of a cluster are lost together when its API server restarts: they must not come back together.
        if (steady_time() - began > m_options.longest_wait) failures = 0;
        const Duration wait =
            std::min(m_options.first_wait * (int64_t{1} << std::min(failures++, 20)), m_options.longest_wait);
        const auto random = static_cast<uint8_t>(crypto::random_bytes(1)[0]);
        if (!m_api.wait(wait / 2 + wait / 512 * random, &m_cancel).ok()) return;
    }
}

// One connection, from its start to its end.
Result<> PodChannel::serve(const std::stop_token& stop) {
    const std::shared_ptr<Exec> exec = TRY(Exec::open(m_api, m_options.exec, &m_cancel));
    {
        const Lock lock(m_mutex);
        m_exec = exec;
        m_link.connected();
    }
    Duration pinged = steady_time();
    std::string errors; // what the command wrote to its standard error: why it ended
    while (!stop.stop_requested()) {
        std::string output;
        {
            const Lock lock(m_mutex);
            if (steady_time() - pinged >= m_options.ping_every && m_link.is_greeted()) {
                m_link.ping();
                pinged = steady_time();
            }
            if (exec->queued() < most_output_bytes) output = m_link.take_output(piece_bytes);
        }
        if (!output.empty()) TRY(exec->send(output));
        const Duration wait =
            output.empty() ? std::min<Duration>(m_options.ping_every, std::chrono::seconds(1)) : Duration(0);
        const bool is_open = TRY(exec->step(wait, [&](ExecStream stream, std::string_view bytes) -> Result<> {
            if (stream == ExecStream::err) {
                errors += bytes.substr(0, 1000 - std::min<size_t>(errors.size(), 1000));
                return {};
            }
            const Lock lock(m_mutex);
            TRY(m_link.feed(bytes));
            pass_on_events();
            return {};
        }));
        m_changed.notify_all();
        if (!is_open) return unavailable("the command of the channel ended: " + errors + exec->outcome()->message);
    }
    exec->close();
    return {};
}

void PodChannel::pass_on_events() {
    for (LinkEvent& event : m_link.take_events()) {
        switch (event.kind) {
        case LinkEvent::Kind::greeted:
            m_status.is_connected = true;
            ++m_status.connections;
            break;
        case LinkEvent::Kind::opened:
            m_local[event.stream];
            m_accepted.push_back({event.stream, event.open});
            break;
        case LinkEvent::Kind::ended:
            if (const auto found = m_local.find(event.stream); found != m_local.end()) found->second.has_ended = true;
            break;
        case LinkEvent::Kind::reset:
            if (event.stream == calls_stream) {
                ++m_status.restarts;
                break;
            }
            std::erase_if(m_accepted, [&](const Accepted& waiting) { return waiting.stream == event.stream; });
            if (const auto found = m_local.find(event.stream); found != m_local.end())
                found->second.reset = event.text.empty() ? "it was reset" : std::move(event.text);
            break;
        case LinkEvent::Kind::readable:
        case LinkEvent::Kind::writable:
            break;
        }
    }
}

template <class Ready>
Result<> PodChannel::wait_until(Duration timeout, const Ready& is_ready) {
    const Duration until = steady_time() + timeout;
    while (!is_ready()) {
        if (m_stopped) return unavailable("the channel of the pod was stopped");
        const Duration left = until - steady_time();
        if (left.count() > 0)
            m_changed.wait_for(m_mutex, left);
        else
            return busy("the pod did not respond in time" +
                        (m_status.problem.empty() ? std::string() : ": " + m_status.problem));
    }
    return {};
}

Result<> PodChannel::await_connected(Duration timeout) {
    const Lock lock(m_mutex);
    return wait_until(timeout, [this]() REQUIRES_LOCK(m_mutex) { return m_status.is_connected; });
}

Error PodChannel::why_gone(uint32_t stream) const {
    const auto found = m_local.find(stream);
    return unavailable("the stream is closed" + (found == m_local.end() ? std::string() : ": " + found->second.reset));
}

Result<uint32_t> PodChannel::open(const StreamOpen& what) {
    const Lock lock(m_mutex);
    const uint32_t stream = TRY(m_link.open(what));
    m_local[stream];
    wake();
    return stream;
}

Result<PodChannel::Accepted> PodChannel::accept(Duration timeout) {
    const Lock lock(m_mutex);
    TRY(wait_until(timeout, [this]() REQUIRES_LOCK(m_mutex) { return !m_accepted.empty(); }));
    Accepted first = std::move(m_accepted.front());
    m_accepted.pop_front();
    return first;
}

Result<> PodChannel::write(uint32_t stream, std::string_view bytes, Duration timeout) {
    const Lock lock(m_mutex);
    while (!bytes.empty()) {
        size_t written = 0;
        bool is_gone = false;
        TRY(wait_until(timeout, [&]() REQUIRES_LOCK(m_mutex) {
            const auto found = m_local.find(stream);
            is_gone = found == m_local.end() || !found->second.reset.empty();
            if (!is_gone) written = m_link.write(stream, bytes);
            return is_gone || written > 0;
        }));
        if (is_gone) return why_gone(stream);
        bytes.remove_prefix(written);
        wake();
    }
    return {};
}

Result<std::string> PodChannel::read(uint32_t stream, Duration timeout) {
    const Lock lock(m_mutex);
    std::string bytes;
    bool has_ended = false, is_gone = false;
    TRY(wait_until(timeout, [&]() REQUIRES_LOCK(m_mutex) {
        bytes = m_link.read(stream, read_bytes);
        pass_on_events(); // the end may have been behind the last byte
        const auto found = m_local.find(stream);
        has_ended = found != m_local.end() && found->second.has_ended;
        is_gone = found == m_local.end() || !found->second.reset.empty();
        return !bytes.empty() || has_ended || is_gone;
    }));
    if (!bytes.empty()) wake(); // the pod may send more
    if (bytes.empty() && !has_ended) return why_gone(stream);
    return bytes;
}

void PodChannel::end(uint32_t stream) {
    const Lock lock(m_mutex);
    m_link.end(stream);
    wake();
}

void PodChannel::close(uint32_t stream) {
    const Lock lock(m_mutex);
    m_link.reset(stream, "the other side is done with it");
    m_local.erase(stream);
    wake();
}

PodChannel::Status PodChannel::status() const {
    const Lock lock(m_mutex);
    return m_status;
}

} // namespace hone::kubernetes
