// One `exec` in a container, over a WebSocket: bytes to its standard input, bytes from its output, and how it ended.
//   open → (step | send | close_input)* → close
// `step` and `close` belong to the owner's thread, `send`, `close_input` and `wake` to any. The end of the connection
// does not end the command: it reads the end of its input, and must exit by itself.
#pragma once

#include "kubernetes/api/api.h"
#include "kubernetes/api/exec_messages.h"

namespace hone::kubernetes {

struct ExecRequest {
    std::string name_space;
    std::string pod;
    std::string container;
    std::vector<std::string> command;
    bool has_input = true;
    bool has_errors = true; // a stream of its own for standard error
};

class Exec {
public:
    // `not_found` and `invalid` when the container does not run (any more): read the pod's state then.
    static Result<std::unique_ptr<Exec>> open(Api& api, const ExecRequest& request, net::Cancel* cancel = nullptr);

    // In messages of at most 64 KiB; waits while too much is queued.
    Result<> send(std::string_view bytes);
    Result<> close_input();
    void wake() { m_socket->wake(); }
    size_t queued() const { return m_socket->queued(); }

    // False: the command has ended, see outcome(). An error means that the connection is lost; the command may run on.
    Result<bool> step(Duration timeout, const std::function<Result<>(ExecStream, std::string_view)>& on_output);
    const std::optional<ExecOutcome>& outcome() const { return m_outcome; }
    void close() { m_socket->close(); }

private:
    explicit Exec(std::unique_ptr<net::WebSocket> socket) : m_socket(std::move(socket)) {}

    std::unique_ptr<net::WebSocket> m_socket;
    std::string m_status; // may arrive in pieces
    std::optional<ExecOutcome> m_outcome;
};

} // namespace hone::kubernetes
