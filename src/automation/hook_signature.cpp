#include "automation/hook_signature.h"

#include "base/text.h"
#include "crypto/crypto.h"
#include "crypto/hmac.h"
#include "json/path.h"

namespace hone::automation {

namespace {

constexpr std::string_view standard_prefix = "whsec_";

struct SourceText {
    HookSource source;
    std::string_view wanted;
};
constexpr SourceText source_texts[] = {
    {HookSource::hone,
     "X-Hone-Signature must be sha256= and the hexadecimal HMAC-SHA256 of \"timestamp.delivery.body\""},
    {HookSource::github, "X-Hub-Signature-256 must be sha256= and the hexadecimal HMAC-SHA256 of the body"},
    {HookSource::gitlab, "X-Gitlab-Token must be the secret; with a secret that begins with whsec_, webhook-signature "
                         "must be its signature"},
    {HookSource::grafana, "X-Grafana-Alerting-Signature must be the hexadecimal HMAC-SHA256 of the body, or of "
                          "\"timestamp:body\" with X-Grafana-Alerting-Timestamp"},
    {HookSource::pagerduty, "X-PagerDuty-Signature must contain v1= and the hexadecimal HMAC-SHA256 of the body"},
    {HookSource::slack, "X-Slack-Signature must be v0= and the hexadecimal HMAC-SHA256 of \"v0:timestamp:body\""},
    {HookSource::standard, "webhook-signature must contain v1, and the base64 HMAC-SHA256 of \"id.timestamp.body\""},
    {HookSource::hmac, "the signature header must be the HMAC-SHA256 of the body, or of \"timestamp.body\" with a "
                       "timestamp header, hexadecimal or base64"},
};

Error wrong_signature(HookSource source) {
    std::string text = "the delivery is not signed with this webhook's secret";
    for (const SourceText& each : source_texts)
        if (each.source == source) text += "; " + std::string(each.wanted);
    return unauthorized(std::move(text));
}

bool is_delivery_id(std::string_view id) {
    if (id.empty() || id.size() > 100) return false;
    for (const char c : id)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
              c == '.' || c == ':'))
            return false;
    return true;
}

// Of a signed time: a captured delivery is worthless after the tolerance, and counts once within it.
Result<> check_time(std::string_view header, std::string_view timestamp, Time now) {
    const auto seconds = parse_integer(timestamp);
    if (!seconds.ok() || seconds.value() < 0 || seconds.value() > 9'000'000'000)
        return invalid(std::string(header) + " must be seconds since 1970");
    const Duration apart = now - from_ns(seconds.value() * 1'000'000'000);
    if (apart > delivery_tolerance || apart < -delivery_tolerance)
        return unauthorized(std::string(header) + " is more than five minutes from this server's clock");
    return {};
}

// The sender's name of an event, as short data.
std::string event_text(std::string_view text) {
    return repair_utf8(truncate_utf8(text, 100));
}

// Where a sender has no id under its signature: the same signed text is the same delivery.
std::string digest_key(std::string_view signed_text) {
    return "digest:" + to_hex(crypto::hmac_sha256("hone delivery", signed_text)).substr(0, 40);
}

std::string id_or_digest(std::string_view prefix, const std::string& id, std::string_view signed_text) {
    return is_delivery_id(id) ? std::string(prefix) + id : digest_key(signed_text);
}

// True if one of the entries is the expected one; compares with all of them.
bool contains_signature(std::string_view list, char separator, std::string_view expected) {
    bool found = false;
    for (const std::string_view entry : split(list, separator)) found |= crypto::equal(trim(entry), expected);
    return found;
}

Result<SignedDelivery> verify_hone(std::string_view secret, const Delivery& delivery, Time now) {
    const std::string id = delivery.header("X-Hone-Delivery"), timestamp = delivery.header("X-Hone-Timestamp");
    if (!crypto::equal(sign_delivery(secret, timestamp, id, delivery.body), delivery.header("X-Hone-Signature")))
        return wrong_signature(HookSource::hone);
    if (!is_delivery_id(id)) return invalid("X-Hone-Delivery must have 1 to 100 letters, digits, or -_.:");
    TRY(check_time("X-Hone-Timestamp", timestamp, now));
    return SignedDelivery{.key = id};
}

Result<SignedDelivery> verify_github(std::string_view secret, const Delivery& delivery) {
    const std::string expected = "sha256=" + to_hex(crypto::hmac_sha256(secret, delivery.body));
    if (!crypto::equal(expected, delivery.header("X-Hub-Signature-256"))) return wrong_signature(HookSource::github);
    // Its X-GitHub-Delivery is not signed, so it does not identify the delivery.
    const std::string event = delivery.header("X-GitHub-Event");
    return SignedDelivery{.key = digest_key(delivery.body), .event = event_text(event), .is_ping = event == "ping"};
}

// Base64 with or without padding.
Result<std::string> standard_key(std::string_view text) {
    while (text.ends_with('=')) text.remove_suffix(1);
    std::string safe(text);
    for (char& letter : safe) letter = letter == '+' ? '-' : letter == '/' ? '_' : letter;
    std::string key = TRY(from_base64url(safe));
    if (key.empty()) return invalid("the secret has no key");
    return key;
}

Result<SignedDelivery> verify_standard(HookSource source, std::string_view secret, const Delivery& delivery, Time now) {
    if (!secret.starts_with(standard_prefix)) return wrong_signature(source);
    const auto key = standard_key(secret.substr(standard_prefix.size()));
    if (!key.ok()) return wrong_signature(source);
    const std::string id = delivery.header("webhook-id"), timestamp = delivery.header("webhook-timestamp");
    const std::string text = id + "." + timestamp + "." + std::string(delivery.body);
    const std::string expected = "v1," + to_base64(crypto::hmac_sha256(key.value(), text));
    if (!contains_signature(delivery.header("webhook-signature"), ' ', expected)) return wrong_signature(source);
    TRY(check_time("webhook-timestamp", timestamp, now));
    return SignedDelivery{.key = id_or_digest("id:", id, text)};
}

Result<SignedDelivery> verify_gitlab(std::string_view secret, const Delivery& delivery, Time now) {
    SignedDelivery made;
    if (secret.starts_with(standard_prefix)) {
        made = TRY(verify_standard(HookSource::gitlab, secret, delivery, now));
    } else {
        if (!crypto::equal(secret, delivery.header("X-Gitlab-Token"))) return wrong_signature(HookSource::gitlab);
        made.key = id_or_digest("id:", delivery.header("Idempotency-Key"), delivery.body);
    }
    made.event = event_text(delivery.header("X-Gitlab-Event"));
    return made;
}

Result<SignedDelivery> verify_grafana(std::string_view secret, const Delivery& delivery, Time now) {
    const std::string timestamp = delivery.header("X-Grafana-Alerting-Timestamp");
    const std::string text =
        timestamp.empty() ? std::string(delivery.body) : timestamp + ":" + std::string(delivery.body);
    if (!crypto::equal(to_hex(crypto::hmac_sha256(secret, text)), delivery.header("X-Grafana-Alerting-Signature")))
        return wrong_signature(HookSource::grafana);
    if (!timestamp.empty()) TRY(check_time("X-Grafana-Alerting-Timestamp", timestamp, now));
    const auto body = json::parse(delivery.body);
    return SignedDelivery{.key = digest_key(text),
                          .event = body.ok() ? event_text(json::text_at(body.value(), {"status"})) : ""};
}

Result<SignedDelivery> verify_pagerduty(std::string_view secret, const Delivery& delivery) {
    const std::string expected = "v1=" + to_hex(crypto::hmac_sha256(secret, delivery.body));
    if (!contains_signature(delivery.header("X-PagerDuty-Signature"), ',', expected))
        return wrong_signature(HookSource::pagerduty);
    const auto body = json::parse(delivery.body);
    if (!body.ok()) return SignedDelivery{.key = digest_key(delivery.body)};
    const std::string event = json::text_at(body.value(), {"event", "event_type"});
    return SignedDelivery{.key = id_or_digest("event:", json::text_at(body.value(), {"event", "id"}), delivery.body),
                          .event = event_text(event),
                          .is_ping = event == "pagey.ping"};
}

Result<SignedDelivery> verify_slack(std::string_view secret, const Delivery& delivery, Time now) {
    const std::string timestamp = delivery.header("X-Slack-Request-Timestamp");
    const std::string text = "v0:" + timestamp + ":" + std::string(delivery.body);
    if (!crypto::equal("v0=" + to_hex(crypto::hmac_sha256(secret, text)), delivery.header("X-Slack-Signature")))
        return wrong_signature(HookSource::slack);
    TRY(check_time("X-Slack-Request-Timestamp", timestamp, now));
    const auto body = json::parse(delivery.body);
    // Commands and buttons come as forms.
    if (!body.ok()) return SignedDelivery{.key = digest_key(text)};
    const std::string type = json::text_at(body.value(), {"type"});
    const std::string inner = json::text_at(body.value(), {"event", "type"});
    // A retry has a new time and the same event_id.
    SignedDelivery made{.key = id_or_digest("event:", json::text_at(body.value(), {"event_id"}), text),
                        .event = event_text(inner.empty() ? type : inner)};
    if (type == "url_verification") made.challenge = json::text_at(body.value(), {"challenge"});
    return made;
}

Result<SignedDelivery> verify_hmac(const Trigger& trigger, std::string_view secret, const Delivery& delivery,
                                   Time now) {
    std::string text(delivery.body), timestamp;
    if (trigger.timestamp_header) {
        timestamp = delivery.header(*trigger.timestamp_header);
        text = timestamp + "." + text;
    }
    std::string given = delivery.header(trigger.signature_header.value_or("X-Signature"));
    if (given.starts_with("sha256=")) given.erase(0, 7);
    const std::string digest = crypto::hmac_sha256(secret, text);
    const bool is_hex = crypto::equal(to_hex(digest), lowercase_ascii(given));
    const bool is_base64 = crypto::equal(to_base64(digest), given);
    if (!is_hex && !is_base64) return wrong_signature(HookSource::hmac);
    if (trigger.timestamp_header) TRY(check_time(*trigger.timestamp_header, timestamp, now));
    return SignedDelivery{.key = digest_key(text)};
}

} // namespace

std::string sign_delivery(std::string_view secret, std::string_view timestamp, std::string_view id,
                          std::string_view body) {
    std::string signed_text;
    signed_text.reserve(timestamp.size() + id.size() + body.size() + 2);
    signed_text.append(timestamp).append(".").append(id).append(".").append(body);
    return "sha256=" + to_hex(crypto::hmac_sha256(secret, signed_text));
}

Result<> check_hook_secret(std::string_view secret) {
    if (secret.size() < 16 || secret.size() > 512 || !is_printable_ascii(secret) || secret.find(' ') != secret.npos)
        return invalid("hook_secret must have 16 to 512 printable characters without spaces");
    return {};
}

Result<SignedDelivery> verify_delivery(const Trigger& trigger, std::string_view secret, const Delivery& delivery,
                                       Time now) {
    const HookSource source = trigger.source.value_or(HookSource::hone);
    switch (source) {
    case HookSource::hone:
        return verify_hone(secret, delivery, now);
    case HookSource::github:
        return verify_github(secret, delivery);
    case HookSource::gitlab:
        return verify_gitlab(secret, delivery, now);
    case HookSource::grafana:
        return verify_grafana(secret, delivery, now);
    case HookSource::pagerduty:
        return verify_pagerduty(secret, delivery);
    case HookSource::slack:
        return verify_slack(secret, delivery, now);
    case HookSource::standard:
        return verify_standard(source, secret, delivery, now);
    case HookSource::hmac:
        return verify_hmac(trigger, secret, delivery, now);
    }
    return wrong_signature(source);
}

} // namespace hone::automation
