// One HTTP request and its response between a client and an upstream connection, in both directions: early responses,
// 100-continue, streams of any length and WebSockets all work. Bodies keep their kind of framing but are framed again,
// so what one side smuggles the other never sees. Runs on the connection's own thread.
#pragma once

#include "broker/egress/attached_run.h"
#include "broker/egress/redactor.h"

#include <functional>
#include <memory>

namespace hone::broker {

struct ExchangeResult {
    int status = 0; // 0: no response
    int64_t sent = 0;
    int64_t received = 0;
    bool client_reusable = false;
    bool upstream_reusable = false;
    bool responded = false; // bytes of a response were sent to the client
    Error error{};          // message empty: none
};

struct ExchangeOptions {
    std::shared_ptr<const Redactor> redactor; // null: responses pass unchanged
    // Called with the response's head without hop headers; an error replaces the response by 502.
    std::function<Result<>(ResponseHead&)> on_response;
    bool drops_cookies = false; // of every head, interim ones included
    // True when the upstream connection was ended from our side, so that its end is not the end of a response.
    std::function<bool()> was_cut;
};

// `request` is rewritten already; its head's bytes are wiped after they were sent.
ExchangeResult run_exchange(AttachedRun& attached, Channel& client, Channel& upstream, const RequestHead& request,
                            const ExchangeOptions& options);

} // namespace hone::broker
