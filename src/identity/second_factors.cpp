#include "identity/second_factors.h"

#include "identity/jws.h"

#include <algorithm>

namespace hone::identity {

namespace {

constexpr size_t secret_bytes = 20;
constexpr size_t recovery_code_count = 10;
constexpr size_t recovery_code_bytes = 10; // 16 letters
constexpr Duration step_length = std::chrono::seconds(30);
constexpr int64_t steps_aside = 1; // clocks of phones differ a little

std::string vault_owner_of(const access::UserId& user) {
    return "second_factor:" + user.text();
}

int64_t step_at(Time time) {
    return to_ns(time) / step_length.count();
}

// "abcd-efgh-ijkl-mnop"
std::string make_recovery_code() {
    const std::string letters = lowercase_ascii(to_base32(crypto::random_bytes(recovery_code_bytes)));
    std::string code;
    for (size_t i = 0; i < letters.size(); ++i) code += (i > 0 && i % 4 == 0 ? "-" : "") + std::string(1, letters[i]);
    return code;
}

std::string recovery_hash(const access::UserId& user, std::string_view code) {
    std::string letters;
    for (const char c : lowercase_ascii(code))
        if (c != '-' && c != ' ') letters += c;
    return to_hex(crypto::hash(user.text() + ":" + letters));
}

Error as_forbidden(const Error& error) {
    // 401 would mean to the browser that its login has ended.
    if (error.code != Code::unauthorized) return error;
    return forbidden(error.trail == access::code_needed ? error.message : "the password is wrong");
}

} // namespace

std::string to_base32(std::string_view bytes) {
    constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    std::string text;
    uint32_t group = 0;
    unsigned bits = 0;
    for (const char c : bytes) {
        group = group << 8 | static_cast<unsigned char>(c);
        bits += 8;
        while (bits >= 5) {
            bits -= 5;
            text += letters[group >> bits & 31u];
        }
    }
    if (bits > 0) text += letters[group << (5 - bits) & 31u];
    return text;
}

std::string one_time_code(std::string_view secret, int64_t step) {
    std::string counter(8, '\0');
    for (size_t i = 0; i < 8; ++i) counter[7 - i] = static_cast<char>(static_cast<uint64_t>(step) >> (8 * i) & 255u);
    const std::string mac = hmac_sha1(secret, counter);
    const auto at = [&](size_t index) { return static_cast<uint32_t>(static_cast<unsigned char>(mac[index])); };
    const size_t offset = at(19) & 15u;
    const uint32_t number = (at(offset) & 127u) << 24 | at(offset + 1) << 16 | at(offset + 2) << 8 | at(offset + 3);
    const std::string digits = std::to_string(number % 1'000'000);
    return std::string(6 - digits.size(), '0') + digits;
}

SecondFactors::SecondFactors(sql::Database& database, const Clock& clock, access::Access& access,
                             const secret::Vault& vault)
    : m_database(database),
      m_clock(clock),
      m_access(access),
      m_vault(vault) {
    m_access.logins.set_second_factor(*this);
}

SecondFactors::~SecondFactors() {
    m_access.logins.remove_second_factor();
}

Result<bool> SecondFactors::has(const access::UserId& user) const {
    return !TRY(m_database.query("SELECT 1 FROM second_factors WHERE user_id = ? AND confirmed_at IS NOT NULL", user))
                .empty();
}

Result<SecondFactorState> SecondFactors::state(const access::Caller& caller) const {
    TRY(caller.require_user());
    SecondFactorState state;
    state.required = m_access.logins.is_second_factor_required();
    const auto rows = TRY(m_database.query("SELECT confirmed_at, (SELECT COUNT(*) FROM recovery_codes r WHERE "
                                           "r.user_id = second_factors.user_id) FROM second_factors WHERE user_id = ? "
                                           "AND confirmed_at IS NOT NULL",
                                           caller.user));
    if (rows.empty()) return state;
    state.enabled = true;
    state.confirmed_at = rows.front().optional_time(0);
    state.recovery_codes = rows.front().integer(1);
    return state;
}

Result<Enrolment> SecondFactors::begin(const access::Caller& caller, const std::string& password) {
    TRY(caller.require_user());
    if (TRY(has(caller.user))) return conflict("your account has a second factor; remove it first");
    if (!TRY(m_access.users.has_password(caller.user)))
        return conflict("your account has no password: its provider decides about second factors");
    const access::User user = TRY(m_access.users.find(caller.user));
    if (auto proven = m_access.logins.prove(caller, user.email, password); !proven.ok())
        return as_forbidden(proven.error());
    const std::string secret = crypto::random_bytes(secret_bytes);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute(
            "INSERT INTO second_factors (user_id, confirmed_at, last_step, created_at) VALUES (?, NULL, 0, ?) ON "
            "CONFLICT (user_id) DO UPDATE SET created_at = excluded.created_at, last_step = 0",
            caller.user, m_clock.now()));
        return m_vault.keep(transaction, {}, vault_owner_of(caller.user), "totp", secret::SecretBytes(secret));
    }));
    Enrolment made;
    made.key = to_base32(secret);
    made.uri = "otpauth://totp/Hone:" + percent_encode(user.email) + "?secret=" + made.key +
               "&issuer=Hone&algorithm=SHA1&digits=6&period=30";
    return made;
}

Result<bool> SecondFactors::take_one_time(const access::UserId& user, const std::string& code, bool confirmed) {
    auto kept = m_vault.reveal({}, vault_owner_of(user), "totp", "second factor");
    if (!kept.ok() && kept.error().code == Code::not_found) return false;
    const secret::SecretBytes secret = TRY(std::move(kept));
    const int64_t now = step_at(m_clock.now());
    std::optional<int64_t> matching;
    for (int64_t step = now - steps_aside; step <= now + steps_aside; ++step)
        if (crypto::equal(one_time_code(secret.reveal(), step), code)) matching = step;
    if (!matching) return false;
    // A code that another person has seen, or that is sent twice, is refused.
    const int64_t taken = TRY(m_database.execute(
        std::string(
            "UPDATE second_factors SET last_step = ? WHERE user_id = ? AND last_step < ? AND confirmed_at IS ") +
            (confirmed ? "NOT NULL" : "NULL"),
        *matching, user, *matching));
    return taken == 1;
}

Result<bool> SecondFactors::take(const access::UserId& user, const std::string& code) {
    const std::string typed(trim(code));
    const bool is_number = typed.size() == 6 && typed.find_first_not_of("0123456789") == std::string::npos;
    if (is_number) return take_one_time(user, typed, true);
    const int64_t used = TRY(m_database.execute("DELETE FROM recovery_codes WHERE user_id = ? AND code_hash = ?", user,
                                                recovery_hash(user, typed)));
    if (used == 0) return false;
    const access::User owner = TRY(m_access.users.find(user));
    TRY(m_access.audit.record(access::Caller::system(),
                              {"user_recovery_code_use", {}, user.text(), {{"email", owner.email}}}));
    return true;
}

Result<RecoveryCodes> SecondFactors::confirm(const access::Caller& caller, const std::string& code) {
    TRY(caller.require_user());
    if (!TRY(take_one_time(caller.user, std::string(trim(code)), false)))
        return forbidden("the code is wrong; check the clock of your phone and enter the next one");
    RecoveryCodes made;
    for (size_t i = 0; i < recovery_code_count; ++i) made.codes.push_back(make_recovery_code());
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const int64_t confirmed = TRY(
            transaction.execute("UPDATE second_factors SET confirmed_at = ? WHERE user_id = ? AND confirmed_at IS NULL",
                                m_clock.now(), caller.user));
        if (confirmed == 0) return conflict("enrolment has not begun, or was completed meanwhile");
        TRY(transaction.execute("DELETE FROM recovery_codes WHERE user_id = ?", caller.user));
        for (const std::string& each : made.codes)
            TRY(transaction.execute("INSERT INTO recovery_codes (user_id, code_hash) VALUES (?, ?)", caller.user,
                                    recovery_hash(caller.user, each)));
        return m_access.audit.record(transaction, caller, {"user_second_factor_add", {}, caller.user.text()});
    }));
    // Logins that were made without a code end.
    TRY(m_access.logins.end_others(caller));
    return made;
}

Result<> SecondFactors::forget(sql::Transaction& transaction, const access::UserId& user) const {
    TRY(transaction.execute("DELETE FROM second_factors WHERE user_id = ?", user));
    TRY(transaction.execute("DELETE FROM recovery_codes WHERE user_id = ?", user));
    return m_vault.forget(transaction, vault_owner_of(user));
}

Result<> SecondFactors::remove(const access::Caller& caller, const std::string& password, const std::string& code) {
    TRY(caller.require_user());
    if (!TRY(has(caller.user))) return not_found("second factor");
    const access::User user = TRY(m_access.users.find(caller.user));
    if (auto proven = m_access.logins.prove(caller, user.email, password, code); !proven.ok())
        return as_forbidden(proven.error());
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(forget(transaction, caller.user));
        return m_access.audit.record(transaction, caller, {"user_second_factor_delete", {}, caller.user.text()});
    });
}

Result<> SecondFactors::reset(const access::Caller& caller, const access::UserId& user) {
    TRY(caller.require(access::Permission::user_manage));
    const access::User found = TRY(m_access.users.find(user));
    if (found.installation_owner && !caller.permissions_of_installation().contains(access::installation_permissions()))
        return forbidden("you cannot change an installation owner: it has permissions that you do not have");
    if (!TRY(has(user))) return not_found("second factor of " + found.email);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(forget(transaction, user));
        return m_access.audit.record(transaction, caller,
                                     {"user_second_factor_reset", {}, user.text(), {{"email", found.email}}});
    }));
    return m_access.logins.end_all(caller, user);
}

} // namespace hone::identity
