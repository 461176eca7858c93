// The scripted model of `hone demo`: an endpoint on loopback with the protocol of OpenAI's Chat Completions, so that
// the demo has an LLM judge without a key and without a network. It follows fixed rules and is no model; its name shows
// it. Threads of its own; started and destroyed on the main thread.
#pragma once

#include "net/server.h"

#include <cstdint>

namespace hone::server {

constexpr std::string_view demo_model_name = "scripted-judge";

struct ScriptedVerdict {
    std::string_view label; // pass or fail
    std::string_view explanation;
};
// Whether the reply to a customer helps, by what its text contains. Always the same for the same text. It is not always
// right, as models are not: a polite reply without warranty terms convinces it for every third order.
ScriptedVerdict scripted_verdict(std::string_view text);

// The response to one request, as bytes of the body. `events`: a stream was requested.
struct ScriptedReply {
    int status = 200;
    bool events = false;
    std::string body;
};
ScriptedReply scripted_reply(std::string_view request);

class DemoModel final : net::Handler {
public:
    // `port`: of the last start, so that a task that continues finds it; another one when it is taken, or 0.
    static Result<std::unique_ptr<DemoModel>> start(uint16_t port);

    uint16_t port() const { return m_port; }
    std::string address() const { return "http://127.0.0.1:" + std::to_string(m_port); }

private:
    DemoModel() = default;
    net::Plan plan(const net::RequestHead& head) override;
    net::Response handle(net::Request&& request) override;

    uint16_t m_port = 0;
    std::unique_ptr<net::Server> m_server; // last: its threads use the others
};

} // namespace hone::server
