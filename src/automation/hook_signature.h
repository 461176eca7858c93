// Who signed a delivery to a webhook: the formats of senders that Hone knows, and plain HMAC. Only what the signature
// covers decides which deliveries are the same, so that a captured delivery fires once however its headers are changed.
// Pure; any thread.
#pragma once

#include "automation/automation.h"

#include <functional>

namespace hone::automation {

// A delivery to a webhook, as received.
struct Delivery {
    std::function<std::string(std::string_view)> header; // empty when it was not sent
    std::string_view body;
};
// How far the clocks of a sender and of this server may be apart.
constexpr Duration delivery_tolerance = std::chrono::minutes(5);
constexpr size_t largest_delivery = 256 << 10;

// A delivery whose signature is right.
struct SignedDelivery {
    std::string key{};   // the same key: the same delivery
    std::string event{}; // the sender's name of what happened; data, as the body is
    bool is_ping = false;
    std::optional<std::string> challenge{}; // Slack: to be sent back
};

// Unauthorized for every wrong or missing signature, with one text for each source.
Result<SignedDelivery> verify_delivery(const Trigger& trigger, std::string_view secret, const Delivery& delivery,
                                       Time now);

// What a sender puts into X-Hone-Signature.
std::string sign_delivery(std::string_view secret, std::string_view timestamp, std::string_view id,
                          std::string_view body);

// The secret that another product made, as far as it can be one.
Result<> check_hook_secret(std::string_view secret);

} // namespace hone::automation
