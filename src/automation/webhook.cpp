// Deliveries to webhooks: their secret, and the payload as data.
#include "automation/automations.h"

#include "base/log.h"
#include "base/text.h"
#include "crypto/crypto.h"

namespace hone::automation {

using access::Caller, access::Permission;

namespace {

std::string context_of(const AutomationId& id) {
    return "webhook of " + id.text();
}

Error refused() {
    return unauthorized("the delivery is not signed with the secret of a webhook");
}

// In the form that the sender's settings take.
std::string new_secret(HookSource source) {
    if (source == HookSource::standard) return "whsec_" + to_base64(crypto::random_bytes(32));
    return "hook_" + crypto::random_token(32);
}

} // namespace

Result<> Automations::seal_hook(sql::Transaction& transaction, const AutomationId& id, std::string_view secret) const {
    const std::string key = m_keys.current_id();
    const std::string sealed = TRY(m_keys.seal(key, context_of(id), crypto::SecretBytes{secret}));
    TRY(transaction.execute("UPDATE automations SET hook_key = ?, hook_sealed = ? WHERE id = ?", key, sql::Blob{sealed},
                            id));
    return {};
}

// The new secret if Hone made one: for a new webhook, and for another sender than before.
Result<std::optional<std::string>> Automations::save_hook(sql::Transaction& transaction, const Automation& automation,
                                                          const std::optional<std::string>& given,
                                                          bool is_new_source) const {
    if (automation.trigger.type != TriggerType::webhook) return std::optional<std::string>();
    if (given) {
        TRY(seal_hook(transaction, automation.id, *given));
        return std::optional<std::string>();
    }
    const auto sealed = TRY(transaction.query("SELECT hook_key FROM automations WHERE id = ?", automation.id));
    if (!sealed.front().is_null(0) && !is_new_source) return std::optional<std::string>();
    std::string secret = new_secret(automation.trigger.source.value_or(HookSource::hone));
    TRY(seal_hook(transaction, automation.id, secret));
    return std::optional(std::move(secret));
}

Result<Automation> Automations::rotate_secret(const Caller& caller, const Automation& automation) {
    TRY(find(caller, automation.space_id, automation.id.text(), Permission::automation_write));
    if (automation.trigger.type != TriggerType::webhook) return conflict("its trigger is not a webhook");
    const std::string secret = new_secret(automation.trigger.source.value_or(HookSource::hone));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(seal_hook(transaction, automation.id, secret));
        return m_access.audit.record(transaction, caller,
                                     {"automation_rotate_secret", automation.space_id, automation.id.text(), {}});
    }));
    Automation changed = TRY(find(Caller::system(), {}, automation.id.text()));
    changed.hook_secret = secret;
    return changed;
}

Result<Received> Automations::deliver(const AutomationId& id, const Delivery& delivery) {
    if (delivery.body.size() > largest_delivery) return too_large("a delivery has at most 262144 bytes");
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
    const Automation automation = TRY(find(Caller::system(), {}, id.text()));
    const SignedDelivery verified =
        TRY(verify_delivery(automation.trigger, secret.value().reveal(), delivery, m_clock.now()));
    if (verified.challenge) return Received{.challenge = verified.challenge};
    if (verified.is_ping) return Received{};
    json::Object values{{"type", "webhook"},
                        {"source", name_of(automation.trigger.source.value_or(HookSource::hone))},
                        {"delivery", verified.key},
                        {"event", verified.event}};
    values["content_type"] = repair_utf8(truncate_utf8(delivery.header("Content-Type"), 100));
    auto payload = json::parse(delivery.body);
    if (payload.ok())
        values["payload"] = std::move(payload).value();
    else
        values["payload"] = repair_utf8(delivery.body);
    Slot slot = TRY(add_slot(automation, "webhook " + verified.key, values, false, {}));
    return Received{.slot = std::move(slot)};
}

} // namespace hone::automation
