// The second factor of password logins: codes of authenticator apps (TOTP, RFC 6238: SHA-1, six digits, 30 s), and
// recovery codes, each of which works once. The secret is kept encrypted, recovery codes are kept as hashes.
// Thread-safe.
#pragma once

#include "access/access.h"
#include "secret/vault.h"

namespace hone::identity {

struct SecondFactorState {
    bool enabled = false;
    bool required = false;
    int64_t recovery_codes = 0;
    std::optional<Time> confirmed_at;
    static constexpr Pack fields{
        Field{"enabled", &SecondFactorState::enabled, "A login with the password needs a code."},
        Field{"required", &SecondFactorState::required, "Setting second_factor_required of the installation."},
        Field{"recovery_codes", &SecondFactorState::recovery_codes, "Recovery codes that are left."},
        Field{"confirmed_at", &SecondFactorState::confirmed_at, ""},
    };
};

struct Enrolment {
    std::string key;
    std::string uri;
    static constexpr Pack fields{
        Field{"key", &Enrolment::key, "Secret for the authenticator app, in base32; only in this response."},
        Field{"uri", &Enrolment::uri, "The same as an otpauth address, for a QR code."},
    };
};

struct RecoveryCodes {
    std::vector<std::string> codes;
    static constexpr Pack fields{
        Field{"codes", &RecoveryCodes::codes, "Each replaces a code once; only in this response."},
    };
};

class SecondFactors final : public access::SecondFactor {
public:
    SecondFactors(sql::Database& database, const Clock& clock, access::Access& access, const secret::Vault& vault);
    ~SecondFactors() override;
    SecondFactors(const SecondFactors&) = delete;
    SecondFactors& operator=(const SecondFactors&) = delete;

    Result<SecondFactorState> state(const access::Caller& caller) const;
    // Begins enrolment of the caller, who proves the password again; replaces one that was not confirmed.
    Result<Enrolment> begin(const access::Caller& caller, const std::string& password);
    // The first code of the app turns the factor on.
    Result<RecoveryCodes> confirm(const access::Caller& caller, const std::string& code);
    // Removes the caller's own, with password and code.
    Result<> remove(const access::Caller& caller, const std::string& password, const std::string& code);
    // By an owner of the installation, for a user who lost the app. Ends all logins of the account.
    Result<> reset(const access::Caller& caller, const access::UserId& user);

    Result<bool> has(const access::UserId& user) const override;
    Result<bool> take(const access::UserId& user, const std::string& code) override;

private:
    Result<bool> take_one_time(const access::UserId& user, const std::string& code, bool confirmed);
    Result<> forget(sql::Transaction& transaction, const access::UserId& user) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    const secret::Vault& m_vault;
};

// The code of a time step: six digits.
std::string one_time_code(std::string_view secret, int64_t step);
// RFC 4648, upper case, without padding.
std::string to_base32(std::string_view bytes);

} // namespace hone::identity
