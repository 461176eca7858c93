#include "run/managed/consents.h"

#include "base/text.h"
#include "run/managed/plan.h"

#include <fmt/format.h>

namespace hone::run {

using access::Caller, access::Permission, access::SpaceId;

namespace {

std::string as_one(const std::vector<std::string>& lines) {
    return fmt::format("{}", fmt::join(lines, "\n"));
}

// The form in which plans have it.
Result<std::string> checked_base_url(std::string_view url) {
    while (url.ends_with('/')) url.remove_suffix(1);
    const bool known = url.starts_with("https://") || url.starts_with("http://");
    if (!known || url.size() > 500 || !is_printable_ascii(std::string(url)))
        return invalid("base_url must be the address of the model skill: https://api.anthropic.com");
    return std::string(url);
}

// Only an owner may delete a space, and only an owner lets its data leave.
Result<> require_owner(const Caller& caller, const SpaceId& space) {
    return caller.require(Permission::space_delete, space);
}

} // namespace

Result<ManagedConsentView> Consents::find(const Caller& caller, const SpaceId& space) const {
    TRY(caller.require(Permission::space_read, space));
    ManagedConsentView view{what_can_leave(), what_is_not_kept(), {}};
    for (const auto& row :
         TRY(m_database.query("SELECT base_url, consented_by_name, consented_at FROM managed_consents "
                              "WHERE space_id = ? ORDER BY base_url",
                              space)))
        view.consents.push_back({row.text(0), row.text(1), row.time(2)});
    return view;
}

Result<ManagedConsentView> Consents::give(const Caller& caller, const SpaceId& space, const std::string& wanted) {
    TRY(require_owner(caller, space));
    const std::string base_url = TRY(checked_base_url(wanted));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t made = TRY(transaction.execute(
            "INSERT INTO managed_consents (space_id, base_url, note, consented_by, consented_by_name, consented_at) "
            "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (space_id, base_url) DO NOTHING",
            space, base_url, as_one(what_can_leave()), caller.actor(), caller.name, m_clock.now()));
        if (made == 0) return {};
        return m_audit.record(transaction, caller,
                              {"managed_consent_give", space, space.text(), {{"base_url", base_url}}});
    }));
    return find(caller, space);
}

Result<ManagedConsentView> Consents::withdraw(const Caller& caller, const SpaceId& space, const std::string& wanted) {
    TRY(require_owner(caller, space));
    const std::string base_url = TRY(checked_base_url(wanted));
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t gone = TRY(
            transaction.execute("DELETE FROM managed_consents WHERE space_id = ? AND base_url = ?", space, base_url));
        if (gone == 0) return not_found("a consent to " + base_url);
        return m_audit.record(transaction, caller,
                              {"managed_consent_withdraw", space, space.text(), {{"base_url", base_url}}});
    }));
    return find(caller, space);
}

Result<> Consents::require(const SpaceId& space, const std::string& base_url) const {
    const auto rows =
        TRY(m_database.query("SELECT 1 FROM managed_consents WHERE space_id = ? AND base_url = ?", space, base_url));
    if (!rows.empty()) return {};
    return forbidden(fmt::format("provider claude-managed sends data of this space to {}, and no owner has consented: "
                                 "an owner reads what leaves and consents on the page Policy, or with hone space "
                                 "consent SPACE --give {}",
                                 base_url, base_url));
}

} // namespace hone::run
