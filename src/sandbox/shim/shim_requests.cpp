// Requests of the server, of `hone sandbox exec`, and of other clients that may open a shim's socket.
#include "sandbox/shim/shim_keeper.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>

namespace hone::sandbox {

namespace {
constexpr size_t most_connections = 32;
} // namespace

void Shim::accept_connection() {
    Fd socket(::accept4(m_listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (socket.is_open() && m_connections.size() < most_connections)
        m_connections.push_back({Channel(std::move(socket)), std::nullopt, {}, false, false});
}

void Shim::send(Connection& connection, const ShimReply& reply, const std::vector<int>& descriptors) {
    if (!connection.channel.send(json::write(reply), descriptors).ok()) connection.gone = true;
}

void Shim::receive_request(Connection& connection) {
    auto message = connection.channel.receive();
    if (!message.ok()) {
        connection.gone = true;
        return;
    }
    const auto request = json::read<ShimRequest>(message.value().text);
    if (!request.ok()) return send(connection, refusal<ShimReply>(request.error()));
    serve_request(connection, request.value());
}

void Shim::serve_request(Connection& connection, const ShimRequest& request) {
    const bool may_wait = request.verb == ShimVerb::wait || request.verb == ShimVerb::output ||
                          request.verb == ShimVerb::stop || request.verb == ShimVerb::destroy;
    if (request.verb == ShimVerb::stop || request.verb == ShimVerb::destroy) stop();
    if (may_wait) {
        if (reply_when_ready(connection, request)) return;
        connection.pending = request;
        connection.pending_until =
            request.timeout_ms ? boot_time() + std::chrono::milliseconds(*request.timeout_ms) : Duration{};
        return;
    }
    std::vector<int> descriptors;
    std::vector<Fd> made;
    auto reply = act(request, descriptors, made);
    send(connection, reply.ok() ? reply.value() : refusal<ShimReply>(reply.error()), descriptors);
}

// Replies when the time has come; false while it has not.
bool Shim::reply_when_ready(Connection& connection, const ShimRequest& request) {
    const bool late =
        connection.pending && connection.pending_until != Duration{} && boot_time() >= connection.pending_until;
    ShimReply reply;
    std::vector<int> descriptors;
    Fd spool;
    if (request.verb == ShimVerb::stop || request.verb == ShimVerb::destroy ||
        (request.verb == ShimVerb::wait && !request.number)) {
        if (m_view.state != State::stopped && !late) return false;
        reply.finished = m_view.state == State::stopped;
        if (request.verb != ShimVerb::destroy)
            reply.view = view();
        else if (m_view.state == State::stopped)
            leave();
    } else {
        auto found = find(request.number);
        if (!found.ok()) return send(connection, refusal<ShimReply>(found.error())), true;
        RunningCommand& command = *found.value();
        // A request for more means that everything before was read.
        if (request.verb == ShimVerb::output)
            command.acknowledged = std::max(command.acknowledged, request.offset.value_or(0));
        const bool more = request.verb == ShimVerb::output && command.spool_bytes > request.offset.value_or(-1);
        if (!command.result.finished && !more && !late) return false;
        reply.size = command.spool_bytes;
        reply.finished = command.result.finished;
        reply.result = command.result;
        if (request.verb == ShimVerb::output && !request.offset) {
            spool = Fd(::open(command.spool_path.c_str(), O_RDONLY | O_CLOEXEC));
            if (spool.is_open()) descriptors.push_back(spool.get());
        }
    }
    send(connection, reply, descriptors);
    return true;
}

void Shim::reply_pending() {
    for (Connection& connection : m_connections) {
        if (!connection.pending || connection.gone) continue;
        const ShimRequest request = *connection.pending;
        if (reply_when_ready(connection, request)) connection.pending.reset();
    }
}

Result<RunningCommand*> Shim::find(const std::optional<int64_t>& number) {
    for (RunningCommand& command : m_commands)
        if (command.number == number.value_or(0)) return &command;
    return not_found("command " + std::to_string(number.value_or(0)));
}

Result<ShimReply> Shim::act(const ShimRequest& request, std::vector<int>& descriptors, std::vector<Fd>& made) {
    ShimReply reply;
    switch (request.verb) {
    case ShimVerb::view:
        reply.view = view();
        return reply;
    case ShimVerb::execute:
        if (!request.command) return invalid("execute needs a command");
        TRY(validate(*request.command));
        if (m_view.state == State::frozen) return conflict("the sandbox is frozen");
        reply.number = TRY(execute(*request.command));
        return reply;
    case ShimVerb::signal: {
        RunningCommand* command = TRY(find(request.number));
        const int64_t signal = request.value.value_or(SIGTERM);
        if (signal < 1 || signal > 64) return invalid("not a signal");
        if (alive() && !command->exited) m_body->signal(command->number, static_cast<int>(signal));
        return reply;
    }
    case ShimVerb::resize: {
        RunningCommand* command = TRY(find(request.number));
        const winsize size{static_cast<uint16_t>(std::clamp<int64_t>(request.rows.value_or(24), 1, 10'000)),
                           static_cast<uint16_t>(std::clamp<int64_t>(request.columns.value_or(80), 1, 10'000)), 0, 0};
        if (!command->command.pty || !command->out.is_open()) return conflict("the command has no terminal");
        if (::ioctl(command->out.get(), TIOCSWINSZ, &size) != 0) return system_error("resize the terminal", errno);
        return reply;
    }
    case ShimVerb::input: {
        RunningCommand* command = TRY(find(request.number));
        if (!command->input.is_open()) return conflict("the command has no open input");
        descriptors.push_back(command->input.get());
        return reply;
    }
    case ShimVerb::close_input: {
        RunningCommand* command = TRY(find(request.number));
        command->input.reset();
        return reply;
    }
    case ShimVerb::stdout_pipe: {
        RunningCommand* command = TRY(find(request.number));
        if (!command->direct.is_open()) return conflict("the command has no stdout to give away");
        made.push_back(std::move(command->direct));
        descriptors.push_back(made.back().get());
        return reply;
    }
    case ShimVerb::freeze:
    case ShimVerb::thaw: {
        const bool frozen = request.verb == ShimVerb::freeze;
        if (!alive() || m_stopping) return conflict("the sandbox is not running");
        TRY(m_cgroup.freeze(frozen));
        m_view.state = frozen ? State::frozen : State::running;
        return reply;
    }
    case ShimVerb::listeners:
        if (m_body->listeners().empty()) return conflict("the sandbox has no broker listeners");
        for (const Fd& listener : m_body->listeners()) descriptors.push_back(listener.get());
        return reply;
    case ShimVerb::workspace:
        made.push_back(TRY(m_body->workspace()));
        descriptors.push_back(made.back().get());
        return reply;
    case ShimVerb::wait:
    case ShimVerb::output:
    case ShimVerb::stop:
    case ShimVerb::destroy:
        break;
    case ShimVerb::claim:
        return conflict("the sandbox was claimed already");
    }
    return internal("not reached");
}

} // namespace hone::sandbox
