#include "server/adapters/account_mail.h"

#include "base/log.h"
#include "notice/message.h"

namespace hone::server {

namespace {

constexpr size_t most_waiting_mails = 100;

} // namespace

AccountMail::AccountMail(const Clock& clock, notice::SmtpOptions smtp, std::string public_url)
    : m_clock(clock),
      m_smtp(std::move(smtp)),
      m_public_url(std::move(public_url)),
      m_duty({"mails about accounts", std::chrono::minutes(1)}, [this] { return step(); }) {
    while (m_public_url.ends_with('/')) m_public_url.pop_back();
}

AccountMail::~AccountMail() {
    {
        const Lock lock(m_mutex);
        m_waiting.clear();
    }
    m_cancel.cancel(); // ends the mail that is under way
    m_duty.stop();
}

void AccountMail::send(const access::PasswordReset& reset) {
    if (!is_possible()) return;
    const Lock lock(m_mutex);
    if (m_waiting.size() >= most_waiting_mails) {
        log(Level::warning, "password link not sent: too many mails wait", {});
        return;
    }
    m_waiting.push_back(reset);
    if (!m_is_started) m_duty.start();
    m_is_started = true;
    m_duty.wake();
}

Result<Duration> AccountMail::step() {
    access::PasswordReset reset;
    {
        const Lock lock(m_mutex);
        if (m_waiting.empty()) return Duration(std::chrono::minutes(1));
        reset = std::move(m_waiting.front());
        m_waiting.pop_front();
    }
    notice::Message message;
    message.delivery_id = make_ulid(m_clock.now());
    message.title = "Set a new password";
    message.body = "A new password was requested for " + reset.email +
                   ". Open this link within an hour to set it. If you did not request it, ignore this mail: your "
                   "password stays unchanged.";
    message.url = m_public_url + reset.path();
    message.created_at = m_clock.now();
    const std::vector<std::string> to{reset.email};
    const auto sent = notice::send_mail(m_smtp, to, notice::mail(message, m_smtp.from, to), &m_cancel);
    if (!sent.ok())
        log(Level::warning, "password link not sent", {{"user", reset.user.text()}, {"why", sent.error().message}});
    return Duration::zero();
}

} // namespace hone::server
