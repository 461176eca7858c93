// What stands for a secret inside a sandbox, and how it becomes the secret on the way out: in headers only, and only in
// requests that the policy binds it to. On hosts that have a secret, whatever credential the worker brought itself is
// taken away. One object per run; placeholders follow from the run's seed: the same after a restart of the server, and
// another run's are worth nothing. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "base/time.h"
#include "broker/egress/policy.h"
#include "broker/egress/redactor.h"
#include "crypto/secret_bytes.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

class Placeholders {
public:
    using Open = std::function<Result<crypto::SecretBytes>(const std::string& secret_id)>;
    Placeholders(std::shared_ptr<const crypto::SecretBytes> seed, Open open, const Clock& clock)
        : m_seed(std::move(seed)),
          m_open(std::move(open)),
          m_clock(clock) {}
    Placeholders(const Placeholders&) = delete;
    Placeholders& operator=(const Placeholders&) = delete;

    // The placeholder of a credential; the same text each time. Looks like the secret it stands for (known prefixes,
    // hex), because tools check that. Opens the secret the first time.
    Result<std::string> of(const skill::Credential& credential);

    // Makes a request to a brokered host ready to leave: foreign credentials go, placeholders become secrets, missing
    // ones are put in where a skill names header and format. Returns the names of the secrets that are now in there:
    // wipe the head after use. Errors: forbidden = a placeholder that is not bound to this request, or a credential in
    // the query; others: a secret cannot be opened.
    Result<std::vector<std::string>> apply(const Policy& policy, const Verdict& verdict, RequestHead& head);
    // For requests to all other hosts: forbidden when a header holds a placeholder.
    Result<> refuse_strays(const RequestHead& head) const;

    // Knows every secret that is bound to this host.
    Result<std::shared_ptr<const Redactor>> redactor_for(const Policy& policy, const HostPort& host);

    static constexpr Duration secret_lifetime = std::chrono::minutes(1); // until it is opened again

private:
    using Secret = std::shared_ptr<const crypto::SecretBytes>; // shared: a replaced one may still be in use
    struct Opened {
        Secret secret;
        Duration at{};
    };
    struct Kept {
        std::vector<Secret> secrets; // that it was made from
        std::shared_ptr<const Redactor> redactor;
    };
    Result<Secret> open(const std::string& secret_id);
    // Replaces a placeholder in a header's value, also inside Basic; false when it is not in there.
    Result<bool> substitute(const skill::Credential& credential, Header& header);
    Result<> put_missing(const Policy& policy, const Verdict& verdict, const std::vector<size_t>& used,
                         RequestHead& head, std::vector<std::string>& names);
    // The variable whose placeholder the text holds; empty: none.
    std::string find_placeholder(std::string_view text) const;

    const std::shared_ptr<const crypto::SecretBytes> m_seed;
    const Open m_open;
    const Clock& m_clock;
    mutable Mutex m_mutex;
    std::map<std::string, std::string> m_placeholders GUARDED_BY(m_mutex); // variable and secret id -> text
    std::map<std::string, Opened> m_secrets GUARDED_BY(m_mutex);           // by secret id
    std::map<std::string, Kept> m_redactors GUARDED_BY(m_mutex);           // by host
};

// "Bearer {}" with the secret in; for "Basic user:{}" the part after the word is encoded.
std::string format_credential(std::string_view format, std::string_view secret);
// Headers that carry credentials, whatever a skill declares.
bool is_credential_header(std::string_view name);
// A credential in a query string, such as access_token=…; empty: none.
std::string_view find_query_credential(std::string_view path, std::string_view host);

} // namespace hone::broker
