// Hands one mail to an SMTP server (RFC 5321): EHLO, STARTTLS or TLS from the start, AUTH PLAIN or LOGIN, one message.
// Blocking, with one time limit for all; used by the Sender's threads. Any thread.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "net/client/client.h"

#include <optional>
#include <string>
#include <vector>

namespace hone::notice {

enum class SmtpSecurity { starttls, tls, none };

struct SmtpOptions {
    std::string host; // empty: there is no server for mails
    uint16_t port = 587;
    SmtpSecurity security = SmtpSecurity::starttls; // never falls back to a plain connection
    std::string from;
    std::string user; // empty: no login
    std::string password;
    std::string ca_file; // trusted beside the system's store; empty: none
    Duration timeout = std::chrono::seconds(30);
};

// The server's reply when it accepted the mail. Errors: unavailable (no connection, no TLS, refused for now), invalid
// (refused permanently), busy (too slow).
Result<std::string> send_mail(const SmtpOptions& options, const std::vector<std::string>& to, const std::string& mail,
                              net::Cancel* cancel = nullptr);

struct SmtpReply {
    int code = 0;
    std::vector<std::string> lines; // without the code
    std::string text() const;       // one printable line for people
};
// Takes a whole reply from the front of `input`; nothing when it is not complete yet. Bounded: 100 lines of 1,000
// bytes.
Result<std::optional<SmtpReply>> take_reply(std::string& input);

} // namespace hone::notice
