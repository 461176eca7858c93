// Idempotency-Key: the response to a POST is kept for a day and sent again for the same key, caller and request.
// Responses that hold a secret are never kept; their replay is refused instead. Thread-safe.
#pragma once

#include "access/requests/idempotent_responses.h"
#include "net/http/http.h"

#include <optional>

namespace hone::api {

class Idempotency {
public:
    explicit Idempotency(access::IdempotentResponses& kept) : m_kept(kept) {}

    // Claims the key for this request. The earlier response when there is one; conflict when the key was used for
    // another request, is in use right now, or its response was not kept.
    Result<std::optional<net::Response>> begin(const access::Caller& caller, const std::string& key,
                                               const std::string& request_hash);
    // Keeps the response, or frees the key when the request failed in a way that can be retried.
    Result<> finish(const access::Caller& caller, const std::string& key, const net::Response& response, bool secret);

    static std::string hash_of(const net::RequestHead& head, std::string_view body);

private:
    access::IdempotentResponses& m_kept;
};

} // namespace hone::api
