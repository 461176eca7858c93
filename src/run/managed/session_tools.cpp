#include "run/managed/session_tools.h"

namespace hone::run {

namespace {

constexpr Duration reply_period = std::chrono::milliseconds(200);

} // namespace

Result<managed::ToolReply> SessionTools::run(const managed::ToolCall& call) {
    const Duration deadline = m_clock.steady() + m_patience;
    for (;;) {
        const SessionStore::Reply known = TRY(m_store.begin_call(m_run, call.id, m_process));
        if (known.reply) return *known.reply;
        managed::ToolReply reply;
        if (known.begun) {
            auto called = m_caller.call(call.name, call.input);
            reply = called.ok() ? std::move(called).value() : managed::ToolReply{called.error().message, true};
        } else if (m_clock.steady() > deadline) {
            // It began in a process that was killed. Whether it had its effect is not known: it is not repeated.
            reply = {
                "The server stopped while it ran this call. It may have had its effect: look before you repeat it.",
                true};
        } else if (managed::Api::wait(reply_period, m_cancel)) {
            continue; // another process may be running it
        } else {
            return conflict("cancelled");
        }
        TRY(m_store.set_reply(m_run, call.id, reply));
        return reply;
    }
}

} // namespace hone::run
