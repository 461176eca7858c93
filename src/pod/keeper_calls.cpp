// Calls of a server to a pod's sandbox.
#include "pod/helpers.h"
#include "pod/home.h"
#include "pod/keeper.h"
#include "pod/probe.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace hone::pod {

using kubernetes::PodCall;
using sandbox::ShimReply, sandbox::ShimRequest, sandbox::ShimVerb;

namespace {

constexpr size_t most_input = 1 << 20; // of a command, not yet read by it
constexpr size_t call_piece = 64 << 10;
constexpr Duration probe_every = std::chrono::seconds(10);
constexpr Duration probe_patience = std::chrono::seconds(10); // rules for a new pod arrive late
// How long a connection may take to count: on a busy node most of the first. The second is of a network that was closed
// before, and is repeated.
constexpr Duration full_probe = std::chrono::seconds(1), second_probe = std::chrono::milliseconds(300);

} // namespace

void Keeper::read_calls() {
    for (;;) {
        const std::string bytes = m_link.read(kubernetes::calls_stream, call_piece);
        if (bytes.empty()) return;
        m_calls.feed(bytes);
        for (;;) {
            auto message = m_calls.next();
            if (!message.ok()) return lose_channel();
            if (!message.value()) break;
            const auto call = json::read<PodCall>(message.value()->text);
            if (!call.ok()) return lose_channel();
            serve(call.value(), message.value()->bytes);
        }
    }
}

void Keeper::serve(const PodCall& call, const std::string& bytes) {
    if (call.probe) {
        if (m_probe) return reply(call.id, sandbox::refusal<ShimReply>(busy("the network is being probed")));
        m_probe_addresses = *call.probe;
        const char* host = std::getenv("KUBERNETES_SERVICE_HOST"); // the cluster's API as pods see it
        const char* port = std::getenv("KUBERNETES_SERVICE_PORT");
        if (host != nullptr && port != nullptr) m_probe_addresses.push_back(std::string(host) + ":" + port);
        return start_probe(call.id, m_clock.steady() + probe_patience);
    }
    if (!call.request) return reply(call.id, sandbox::refusal<ShimReply>(invalid("a call without a request")));
    const ShimRequest& request = *call.request;
    if (request.verb == ShimVerb::stop || request.verb == ShimVerb::destroy) stop(std::nullopt);
    if (request.verb == ShimVerb::wait || request.verb == ShimVerb::output) {
        const Waiting waiting{
            call.id, request,
            request.timeout_ms ? m_clock.steady() + std::chrono::milliseconds(std::max<int64_t>(0, *request.timeout_ms))
                               : Duration{}};
        if (!reply_when_ready(waiting, request.timeout_ms == 0)) m_waiting.push_back(waiting);
        return;
    }
    const auto done = act(request, bytes);
    reply(call.id, done.ok() ? done.value() : sandbox::refusal<ShimReply>(done.error()));
}

Result<ShimReply> Keeper::act(const ShimRequest& request, const std::string& bytes) {
    ShimReply made;
    switch (request.verb) {
    case ShimVerb::claim:
        if (!request.spec) return invalid("claim needs a spec");
        return claim(*request.spec);
    case ShimVerb::view:
    case ShimVerb::stop:
    case ShimVerb::destroy:
        made.view = view();
        return made;
    case ShimVerb::execute:
        if (!request.command) return invalid("execute needs a command");
        made.number = TRY(execute(*request.command));
        return made;
    case ShimVerb::signal: {
        Running* running = TRY(find(request.number));
        const int64_t signal = request.value.value_or(SIGTERM);
        if (signal < 1 || signal > 64) return invalid("not a signal");
        if (!running->command.exited) ::kill(-running->pid, static_cast<int>(signal));
        return made;
    }
    case ShimVerb::resize: {
        Running* running = TRY(find(request.number));
        const winsize size{static_cast<uint16_t>(std::clamp<int64_t>(request.rows.value_or(24), 1, 10'000)),
                           static_cast<uint16_t>(std::clamp<int64_t>(request.columns.value_or(80), 1, 10'000)), 0, 0};
        if (!*running->command.command.pty || !running->command.out.is_open())
            return conflict("the command has no terminal");
        if (::ioctl(running->command.out.get(), TIOCSWINSZ, &size) != 0)
            return system_error("resize the terminal", errno);
        return made;
    }
    case ShimVerb::input: {
        Running* running = TRY(find(request.number));
        if (!running->command.input.is_open() || running->close_input) return conflict("the command has no open input");
        const size_t room = most_input - std::min(most_input, running->input.size());
        running->input += std::string_view(bytes).substr(0, room);
        made.size = static_cast<int64_t>(std::min(room, bytes.size()));
        return made;
    }
    case ShimVerb::close_input:
        TRY(find(request.number))->close_input = true;
        return made;
    case ShimVerb::wait:
    case ShimVerb::output:
    case ShimVerb::stdout_pipe:
    case ShimVerb::freeze:
    case ShimVerb::thaw:
    case ShimVerb::listeners:
    case ShimVerb::workspace:
        break;
    }
    return unavailable("a sandbox in a pod cannot do this: " + std::string(name_of(request.verb)));
}

Result<ShimReply> Keeper::claim(const sandbox::SandboxSpec& spec) {
    if (m_spec) return conflict("the sandbox was claimed already");
    if (m_probe_addresses.empty() || m_open_probes > 0 || m_probe)
        return conflict("the network of the pod was not found to be closed");
    m_walls = TRY(Walls::build(spec));
    m_spec = spec;
    m_view.state = sandbox::State::running;
    m_view.tier = *spec.minimum_tier; // what the walls were built for
    m_view.thread = spec.thread;
    m_view.labels = *spec.labels;
    m_deadline = m_clock.steady() + std::chrono::milliseconds(*spec.limits.value.wall_clock_ms);
    m_view.deadline = m_clock.now() + std::chrono::milliseconds(*spec.limits.value.wall_clock_ms);
    m_next_probe = m_clock.steady() + probe_every;
    ShimReply made;
    if (spec.command) made.number = TRY(execute(*spec.command));
    made.view = view();
    return made;
}

bool Keeper::reply_when_ready(const Waiting& waiting, bool is_late) {
    const ShimRequest& request = waiting.request;
    ShimReply made;
    if (request.verb == ShimVerb::wait && !request.number) {
        const bool is_over = m_view.state == sandbox::State::stopped;
        if (!is_over && !is_late) return false;
        made.view = view();
        made.finished = is_over;
        reply(waiting.id, made);
        return true;
    }
    const auto found = find(request.number);
    if (!found.ok()) return reply(waiting.id, sandbox::refusal<ShimReply>(found.error())), true;
    sandbox::RunningCommand& command = found.value()->command;
    const int64_t offset = std::max<int64_t>(0, request.offset.value_or(0));
    const bool is_output = request.verb == ShimVerb::output;
    if (is_output) command.acknowledged = std::max(command.acknowledged, offset);
    const bool has_more = is_output && command.spool_bytes > offset;
    if (!command.result.finished && !has_more && !is_late) return false;
    made.size = command.spool_bytes;
    made.finished = command.result.finished;
    made.result = command.result;
    std::string bytes;
    if (has_more) {
        bytes.resize(std::min<size_t>(kubernetes::most_call_bytes, static_cast<size_t>(command.spool_bytes - offset)));
        const Fd spool(::open(command.spool_path.c_str(), O_RDONLY | O_CLOEXEC));
        const ssize_t got = ::pread(spool.get(), bytes.data(), bytes.size(), offset);
        bytes.resize(static_cast<size_t>(std::max<ssize_t>(0, got)));
    }
    reply(waiting.id, made, bytes);
    return true;
}

void Keeper::reply_pending() {
    const Duration now = m_clock.steady();
    std::erase_if(m_waiting, [&](const Waiting& waiting) {
        return reply_when_ready(waiting, waiting.until != Duration{} && now >= waiting.until);
    });
}

void Keeper::reply(int64_t id, const ShimReply& made, std::string_view bytes) {
    kubernetes::append_call(m_replies, json::write(kubernetes::PodReply{id, made}), bytes);
}

// --- streams that the server opens ---------------------------------------------------------------------------------

void Keeper::open_stream(uint32_t stream, const kubernetes::StreamOpen& open) {
    const auto started = [&]() -> Result<Helper> {
        if (open.kind == kubernetes::StreamKind::file && !open.path)
            return start_helper([this](int socket) { receive_files(socket, m_options.mounts); }, nullptr);
        const bool is_output = open.kind == kubernetes::StreamKind::output;
        if ((!is_output && open.kind != kubernetes::StreamKind::file) || !open.path)
            return invalid("not a stream of a pod");
        if (!m_walls) return conflict("the sandbox was not claimed yet");
        if (is_output && *open.path == "home" && m_view.state != sandbox::State::stopped)
            return conflict("the home is read when nothing can change it any more");
        if (is_output) return start_helper([&](int socket) { send_requested(socket, *open.path); }, &*m_walls);
        if (*open.path != "home" && *open.path != "kept-home") return invalid("not a stream of a pod");
        if (!m_commands.empty()) return conflict("a layer comes before the first command");
        const bool is_kept = *open.path == "kept-home";
        return start_helper([&](int socket) { receive_home(socket, is_kept); }, &*m_walls);
    }();
    if (!started.ok()) return m_link.reset(stream, started.error().message);
    Pump pump;
    pump.stream = stream;
    pump.is_helper = true;
    pump.socket = Fd(::fcntl(started.value().socket.get(), F_DUPFD_CLOEXEC, 0));
    m_pumps.push_back(std::move(pump));
}

// --- the network ---------------------------------------------------------------------------------------------------

void Keeper::start_probe(std::optional<int64_t> call, Duration until) {
    const Duration timeout = call && !m_was_closed ? full_probe : second_probe;
    auto helper = start_helper(
        [this, timeout](int socket) {
            const std::string found = reachable(m_probe_addresses, timeout);
            (void)write_all(socket, found.empty() ? "-" : found);
        },
        nullptr);
    m_next_probe = {};
    if (!helper.ok()) { // no process: as good as open
        if (call)
            reply(*call, sandbox::refusal<ShimReply>(helper.error()));
        else
            m_next_probe = m_clock.steady() + probe_every;
        return;
    }
    m_probe = Probe{helper.value().pid, std::move(helper.value().socket), call, until};
}

void Keeper::finish_probe() {
    char text[200];
    const ssize_t got = ::read(m_probe->socket.get(), text, sizeof text);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) return;
    const std::string found = got <= 0 ? "unknown: the probe failed" : std::string(text, static_cast<size_t>(got));
    const Probe probe = std::move(*m_probe);
    m_probe.reset();
    m_open_probes = found == "-" ? 0 : m_open_probes + 1;
    m_was_closed = m_open_probes == 0;
    const std::string problem = "network_open: the pod can connect to " + found +
                                "; a NetworkPolicy that denies everything is missing, or nothing enforces it";
    if (probe.call && m_open_probes > 0 && m_clock.steady() < probe.until) return start_probe(probe.call, probe.until);
    if (probe.call) {
        ShimReply made;
        reply(*probe.call, m_open_probes == 0 ? made : sandbox::refusal<ShimReply>(forbidden(problem)));
        return;
    }
    if (m_open_probes > 0) return stop(std::nullopt, problem);
    m_next_probe = m_clock.steady() + probe_every;
}

} // namespace hone::pod
