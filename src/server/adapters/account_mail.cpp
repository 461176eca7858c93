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
      m_public_url(std::move(public_url)) {
    while (m_public_url.ends_with('/')) m_public_url.pop_back();
}

AccountMail::~AccountMail() {
    std::jthread thread;
    {
        const Lock lock(m_mutex);
        thread.swap(m_thread);
    }
    thread.request_stop();
    m_cancel.cancel();
    m_changed.notify_all();
    if (thread.joinable()) thread.join();
}

void AccountMail::send(const access::PasswordReset& reset) {
    if (!is_possible()) return;
    const Lock lock(m_mutex);
    if (m_waiting.size() >= most_waiting_mails) {
        log(Level::warning, "password link not sent: too many mails wait", {});
        return;
    }
    m_waiting.push_back(reset);
    if (!m_thread.joinable()) m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    m_changed.notify_all();
}

void AccountMail::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        access::PasswordReset reset;
        {
            const Lock lock(m_mutex);
            if (m_waiting.empty()) m_changed.wait_for(m_mutex, std::chrono::seconds(1));
            if (m_waiting.empty()) continue;
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
    }
}

} // namespace hone::server
