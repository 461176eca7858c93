#include "api/core/idempotency.h"

#include "base/text.h"
#include "crypto/crypto.h"

namespace hone::api {

namespace {
constexpr size_t largest_kept = 1 << 20;
} // namespace

std::string Idempotency::hash_of(const net::RequestHead& head, std::string_view body) {
    std::string content = head.method + "\n" + head.target + "\n";
    content += body;
    return to_hex(crypto::hash(content));
}

Result<std::optional<net::Response>> Idempotency::begin(const access::Caller& caller, const std::string& key,
                                                        const std::string& request_hash) {
    auto kept = TRY(m_kept.begin(caller, key, request_hash));
    if (!kept) return std::optional<net::Response>();
    net::Response response = net::json_response(kept->status, std::move(kept->body));
    if (response.body.empty()) response.content_type.clear();
    response.set_header("Idempotency-Replayed", "true");
    return std::optional(std::move(response));
}

Result<> Idempotency::finish(const access::Caller& caller, const std::string& key, const net::Response& response,
                             bool secret) {
    const bool try_again = response.status == 429 || response.status >= 500;
    if (try_again) return m_kept.release(caller, key);
    // Only what can be given again byte by byte: a stream is gone, and of other types the type is not kept.
    const bool is_repeatable = response.stream == nullptr && !response.on_events &&
                               (response.body.empty() || response.content_type == "application/json");
    const bool keep = (!secret || response.status >= 400) && is_repeatable && response.body.size() <= largest_kept;
    return keep ? m_kept.keep(caller, key, {response.status, response.body}) : m_kept.keep_nothing(caller, key);
}

} // namespace hone::api
