#include "kubernetes/api/exec.h"

namespace hone::kubernetes {

namespace {

constexpr size_t most_sent_bytes = 64 << 10;
constexpr size_t most_received_bytes = 4 << 20; // servers send at most 32 KiB
constexpr size_t most_status_bytes = 64 << 10;

} // namespace

Result<std::unique_ptr<Exec>> Exec::open(Api& api, const ExecRequest& request, net::Cancel* cancel) {
    Query query{{"container", request.container}, {"stdout", "true"}};
    if (request.has_input) query.emplace_back("stdin", "true");
    if (request.has_errors) query.emplace_back("stderr", "true");
    for (const std::string& word : request.command) query.emplace_back("command", word);
    net::WebSocketOptions options;
    options.most_message_bytes = most_received_bytes;
    options.cancel = cancel;
    auto opened = TRY(api.open_socket("/api/v1/namespaces/" + request.name_space + "/pods/" + request.pod + "/exec",
                                      query, std::string(exec_protocol), std::move(options)));
    if (!opened.socket) return error_of(opened.refusal, "execute a command in the pod " + request.pod);
    return std::unique_ptr<Exec>(new Exec(std::move(opened.socket)));
}

Result<> Exec::send(std::string_view bytes) {
    while (!bytes.empty()) {
        TRY(m_socket->send(input_message(bytes.substr(0, most_sent_bytes))));
        bytes.remove_prefix(std::min(bytes.size(), most_sent_bytes));
    }
    return {};
}

Result<> Exec::close_input() {
    return m_socket->send(close_input_message());
}

Result<bool> Exec::step(Duration timeout, const std::function<Result<>(ExecStream, std::string_view)>& on_output) {
    const bool is_open = TRY(m_socket->step(timeout, [&](std::string_view message) -> Result<> {
        const ExecMessage part = TRY(parse_exec_message(message));
        if (part.stream == ExecStream::close) return {};
        if (part.stream != ExecStream::status)
            return part.bytes.empty() ? Result<>() : on_output(part.stream, part.bytes);
        if (m_status.size() + part.bytes.size() > most_status_bytes) return too_large("the status is too large");
        m_status += part.bytes;
        return {};
    }));
    if (is_open) return true;
    if (m_status.empty())
        return unavailable("the cluster closed the connection without a status (" +
                           std::to_string(m_socket->close_code()) + " " + m_socket->close_reason() + ")");
    m_outcome = TRY(parse_exec_status(m_status));
    return false;
}

} // namespace hone::kubernetes
