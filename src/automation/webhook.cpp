// Deliveries to webhooks: the signature, the clock, and the payload as data.
#include "automation/automations.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"
#include "crypto/hmac.h"

namespace hone::automation {

using access::Caller, access::Permission;

namespace {

std::string context_of(const AutomationId& id) {
    return "webhook of " + id.text();
}

Error refused() {
    return unauthorized("the delivery is not signed with this webhook's secret; X-Hone-Signature must be sha256= and "
                        "the hexadecimal HMAC-SHA256 of \"timestamp.delivery.body\"");
}

bool is_delivery_id(std::string_view id) {
    if (id.empty() || id.size() > 100) return false;
    for (const char c : id)
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
              c == '.' || c == ':'))
            return false;
    return true;
}

} // namespace

std::string sign_delivery(std::string_view secret, std::string_view timestamp, std::string_view id,
                          std::string_view body) {
    std::string signed_text;
    signed_text.reserve(timestamp.size() + id.size() + body.size() + 2);
    signed_text.append(timestamp).append(".").append(id).append(".").append(body);
    return "sha256=" + to_hex(crypto::hmac_sha256(secret, signed_text));
}

// A new secret in `secret`, sealed in the row.
Result<> Automations::seal_hook(sql::Transaction& transaction, const AutomationId& id, std::string& secret) const {
    secret = "hook_" + crypto::random_token(32);
    const std::string key = m_keys.current_id();
    const std::string sealed = TRY(m_keys.seal(key, context_of(id), crypto::SecretBytes{std::string_view(secret)}));
    TRY(transaction.execute("UPDATE automations SET hook_key = ?, hook_sealed = ? WHERE id = ?", key, sql::Blob{sealed},
                            id));
    return {};
}

Result<Automation> Automations::rotate_secret(const Caller& caller, const Automation& automation) {
    TRY(find(caller, automation.space_id, automation.id.text(), Permission::automation_write));
    if (automation.trigger.type != TriggerType::webhook) return conflict("its trigger is not a webhook");
    std::string secret;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(seal_hook(transaction, automation.id, secret));
        return m_access.audit.record(transaction, caller,
                                     {"automation_rotate_secret", automation.space_id, automation.id.text(), {}});
    }));
    Automation changed = TRY(find(Caller::system(), {}, automation.id.text()));
    changed.hook_secret = secret;
    return changed;
}

Result<Slot> Automations::deliver(const AutomationId& id, const Delivery& delivery) {
    const auto rows = TRY(m_database.query(
        "SELECT hook_key, hook_sealed FROM automations WHERE id = ? AND trigger_type = 'webhook' AND hook_key IS NOT "
        "NULL",
        id));
    if (rows.empty()) return refused();
    auto secret = m_keys.unseal(rows.front().text(0), context_of(id), rows.front().blob(1));
    if (!secret.ok()) {
        log(Level::warning, "webhook's secret cannot be opened; rotate it",
            {{"automation", id.text()}, {"why", secret.error().message}});
        return refused();
    }
    const std::string expected = sign_delivery(secret.value().reveal(), delivery.timestamp, delivery.id, delivery.body);
    if (!crypto::equal(expected, delivery.signature)) return refused();
    if (!is_delivery_id(delivery.id)) return invalid("X-Hone-Delivery must have 1 to 100 letters, digits, or -_.:");
    const auto seconds = parse_integer(delivery.timestamp);
    if (!seconds.ok() || seconds.value() < 0 || seconds.value() > 9'000'000'000)
        return invalid("X-Hone-Timestamp must be seconds since 1970");
    const Duration apart = m_clock.now() - from_ns(seconds.value() * 1'000'000'000);
    if (apart > delivery_tolerance || apart < -delivery_tolerance)
        return unauthorized("X-Hone-Timestamp is more than five minutes from this server's clock");
    if (delivery.body.size() > largest_delivery) return too_large("a delivery has at most 262144 bytes");
    json::Object values{{"type", "webhook"}, {"delivery", delivery.id}, {"content_type", ""}};
    values["content_type"] = repair_utf8(truncate_utf8(delivery.content_type, 100));
    auto payload = json::parse(delivery.body);
    if (payload.ok())
        values["payload"] = std::move(payload).value();
    else
        values["payload"] = repair_utf8(delivery.body);
    const Automation automation = TRY(find(Caller::system(), {}, id.text()));
    return add_slot(automation, "webhook " + delivery.id, values, false, {});
}

} // namespace hone::automation
