// Mails about accounts: the link for a new password. Sent through the installation's own SMTP server, never through a
// destination of a space, whose admins could read the link. A thread sends, so that the time of a response does not
// show whether an account exists. Thread-safe.
#pragma once

#include "access/access.h"
#include "base/duty.h"
#include "base/mutex.h"
#include "notice/smtp.h"

#include <deque>

namespace hone::server {

class AccountMail {
public:
    // `public_url`: where links begin. Without it or without an SMTP server nothing can be sent.
    AccountMail(const Clock& clock, notice::SmtpOptions smtp, std::string public_url);
    ~AccountMail();

    bool is_possible() const { return !m_smtp.host.empty() && !m_public_url.empty(); }
    void send(const access::PasswordReset& reset);
    // Sends the first mail that waits.
    Result<Duration> step();

private:
    const Clock& m_clock;
    const notice::SmtpOptions m_smtp;
    std::string m_public_url;
    net::Cancel m_cancel;
    Mutex m_mutex;
    std::deque<access::PasswordReset> m_waiting GUARDED_BY(m_mutex);
    bool m_is_started GUARDED_BY(m_mutex) = false;
    Duty m_duty; // started with the first mail
};

} // namespace hone::server
