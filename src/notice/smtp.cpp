#include "notice/smtp.h"

#include "base/text.h"
#include "net/client/wire.h"
#include "net/tls.h"

namespace hone::notice {

namespace {

constexpr size_t most_lines = 100;
constexpr size_t longest_line = 1000;

class Conversation {
public:
    Conversation(const SmtpOptions& options, net::Cancel* cancel) : m_options(options) {
        m_timeouts = {options.timeout, options.timeout, SystemClock().steady() + options.timeout, cancel};
    }

    Result<std::string> run(const std::vector<std::string>& to, const std::string& mail) {
        TRY(open());
        if (!m_options.user.empty()) TRY(log_in());
        TRY(expect(TRY(send_command("MAIL FROM:<" + m_options.from + ">")), 2, "refused the sender"));
        for (const std::string& address : to)
            TRY(expect(TRY(send_command("RCPT TO:<" + address + ">")), 2, "refused the recipient " + address));
        TRY(expect(TRY(send_command("DATA")), 3, "refused the mail"));
        const SmtpReply taken = TRY(send_command(stuffed(mail) + "."));
        TRY(expect(taken, 2, "refused the mail"));
        // It has the mail: a quarrel about the goodbye changes nothing.
        if (const auto bye = send_command("QUIT"); !bye.ok()) return taken.text();
        return taken.text();
    }

private:
    Result<> open() {
        const auto endpoints = TRY(net::resolve(m_options.host, m_options.port));
        m_wire = TRY(net::Wire::dial(endpoints, m_timeouts));
        if (m_options.security == SmtpSecurity::tls) TRY(secure());
        TRY(expect(TRY(read()), 2, "does not want to talk"));
        TRY(hello());
        if (m_options.security != SmtpSecurity::starttls) return {};
        if (!offers("STARTTLS"))
            return unavailable(m_options.host + " does not offer STARTTLS; set smtp_security to tls or none");
        TRY(expect(TRY(send_command("STARTTLS")), 2, "refused STARTTLS"));
        // Unencrypted bytes after the reply were injected by an attacker.
        if (!m_wire->input().empty()) return unavailable(m_options.host + " spoke out of turn before TLS");
        TRY(secure());
        return hello();
    }

    Result<> secure() {
        const auto context = TRY(net::TlsContext::for_client_with_system_store(m_options.ca_file));
        TRY(m_wire->start_tls(*context, m_options.host, m_timeouts));
        m_is_secure = true;
        return {};
    }

    Result<> hello() {
        SmtpReply reply = TRY(send_command("EHLO hone"));
        TRY(expect(reply, 2, "refused EHLO"));
        m_offers = std::move(reply.lines);
        return {};
    }

    bool offers(std::string_view word) const {
        for (const std::string& line : m_offers)
            if (equals_ignoring_case(std::string_view(line).substr(0, line.find(' ')), word)) return true;
        return false;
    }
    bool offers_login(std::string_view method) const {
        for (const std::string& line : m_offers) {
            const auto words = split(line, ' ');
            if (!equals_ignoring_case(words.front(), "AUTH")) continue;
            for (const std::string_view word : words)
                if (equals_ignoring_case(word, method)) return true;
        }
        return false;
    }

    Result<> log_in() {
        if (!m_is_secure)
            return invalid("smtp_user needs smtp_security starttls or tls: a password is not sent in clear");
        if (offers_login("PLAIN")) {
            const std::string both = std::string(1, '\0') + m_options.user + std::string(1, '\0') + m_options.password;
            return expect(TRY(send_command("AUTH PLAIN " + to_base64(both))), 2, "refused the login");
        }
        if (!offers_login("LOGIN")) return unavailable(m_options.host + " offers no login that we know (PLAIN, LOGIN)");
        TRY(expect(TRY(send_command("AUTH LOGIN")), 3, "refused the login"));
        TRY(expect(TRY(send_command(to_base64(m_options.user))), 3, "refused the login"));
        return expect(TRY(send_command(to_base64(m_options.password))), 2, "refused the login");
    }

    Result<SmtpReply> send_command(const std::string& line) {
        TRY(m_wire->send(line + "\r\n", m_timeouts));
        return read();
    }

    Result<SmtpReply> read() {
        for (;;) {
            if (auto reply = TRY(take_reply(m_wire->input()))) return std::move(*reply);
            if (!TRY(m_wire->receive(m_timeouts))) return unavailable(m_options.host + " closed the connection");
        }
    }

    Result<> expect(const SmtpReply& reply, int hundred, const std::string& otherwise) const {
        if (reply.code / 100 == hundred) return {};
        std::string message = m_options.host + " " + otherwise + ": " + reply.text();
        return reply.code / 100 == 5 ? invalid(std::move(message)) : unavailable(std::move(message));
    }

    // A line that begins with a dot gets one more, so that none can end the mail.
    static std::string stuffed(const std::string& mail) {
        std::string out;
        bool at_start = true;
        for (const char letter : mail) {
            if (at_start && letter == '.') out += '.';
            out += letter;
            at_start = letter == '\n';
        }
        if (!out.ends_with("\r\n")) out += "\r\n";
        return out;
    }

    const SmtpOptions& m_options;
    net::Timeouts m_timeouts;
    std::unique_ptr<net::Wire> m_wire;
    std::vector<std::string> m_offers;
    bool m_is_secure = false;
};

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

} // namespace

std::string SmtpReply::text() const {
    std::string out = std::to_string(code);
    for (const std::string& line : lines) out += " " + line;
    for (char& letter : out)
        if (letter < ' ' || letter > '~') letter = '?';
    return out.substr(0, 300);
}

Result<std::optional<SmtpReply>> take_reply(std::string& input) {
    SmtpReply reply;
    size_t at = 0;
    for (;;) {
        const size_t end = input.find('\n', at);
        if (end == input.npos) {
            if (input.size() - at > longest_line) return unavailable("the mail server sent a line that is too long");
            return std::optional<SmtpReply>();
        }
        std::string_view line = std::string_view(input).substr(at, end - at);
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.size() > longest_line || reply.lines.size() == most_lines)
            return unavailable("the mail server's reply is too long");
        const bool formed = line.size() >= 3 && is_digit(line[0]) && is_digit(line[1]) && is_digit(line[2]) &&
                            line[0] >= '2' && line[0] <= '5' && (line.size() == 3 || line[3] == ' ' || line[3] == '-');
        if (!formed) return unavailable("the mail server's reply is not SMTP");
        const int code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
        if (reply.code != 0 && reply.code != code) return unavailable("the mail server's reply is not SMTP");
        reply.code = code;
        reply.lines.emplace_back(line.substr(std::min<size_t>(4, line.size())));
        at = end + 1;
        if (line.size() > 3 && line[3] == '-') continue;
        input.erase(0, at);
        return std::optional(std::move(reply));
    }
}

Result<std::string> send_mail(const SmtpOptions& options, const std::vector<std::string>& to, const std::string& mail,
                              net::Cancel* cancel) {
    if (options.host.empty()) return invalid("this installation has no mail server: set smtp_host and smtp_from");
    return Conversation(options, cancel).run(to, mail);
}

} // namespace hone::notice
