// Mail through a real conversation with a small scripted server: STARTTLS, TLS, login, refusals, and no fallback.
#include "net/testing/certificates.h"
#include "net/tls.h"
#include "notice/testing.h"

#include <algorithm>

using namespace hone;
using namespace hone::notice;
using namespace hone::notice::testing;
using namespace std::chrono_literals;

namespace {

// Speaks SMTP with one client after the other on a thread of its own, and remembers what it was told.
class MailServer {
public:
    struct Script {
        bool tls_first = false;
        bool offers_starttls = true;
        bool offers_plain = true;
        std::string speaks_early;                 // in clear, right behind the answer to STARTTLS
        std::string to_data = "250 2.0.0 queued"; // after the mail
        std::string password = "hunter2";
    };
    explicit MailServer(Script script)
        : m_script(std::move(script)),
          m_files(m_authority.issue("mail", "DNS:localhost,IP:127.0.0.1")),
          m_context(must(net::TlsContext::for_server(m_files.certificate, m_files.key))),
          m_bound(must(net::listen_on("127.0.0.1:0"))),
          m_thread([this] { serve(); }) {}
    ~MailServer() {
        m_stop = true;
        m_thread.join();
    }
    SmtpOptions options() const {
        SmtpOptions made;
        made.host = "localhost";
        made.port = must(net::parse_host_port(m_bound.address)).second;
        made.from = "hone@example.com";
        made.user = "hone";
        made.password = "hunter2";
        made.ca_file = m_authority.ca_file();
        made.timeout = 30s;
        return made;
    }
    struct Mail {
        std::string from, data;
        std::vector<std::string> to;
        bool secure = false, logged_in = false;
    };
    std::vector<Mail> mails() {
        const std::lock_guard lock(m_mutex);
        return m_mails;
    }
    // Commands that came before TLS.
    std::vector<std::string> in_clear() {
        const std::lock_guard lock(m_mutex);
        return m_in_clear;
    }

private:
    void wait(int descriptor, short events) {
        pollfd poll{descriptor, events, 0};
        ::poll(&poll, 1, 50);
    }
    void serve() {
        while (!m_stop) {
            wait(m_bound.descriptor.get(), POLLIN);
            auto accepted = net::accept_one(m_bound.descriptor.get());
            if (accepted.ok() && accepted.value().descriptor.is_open())
                talk(net::Socket(std::move(accepted.value().descriptor)));
        }
    }
    bool shake_hands(net::Socket& socket) {
        socket.start_tls(must(m_context->accept(socket.descriptor())));
        while (!m_stop) {
            const net::Io state = socket.handshake();
            if (state == net::Io::done) return true;
            if (state == net::Io::closed || state == net::Io::failed) return false;
            wait(socket.descriptor(), POLLIN | POLLOUT);
        }
        return false;
    }
    void say(net::Socket& socket, const std::string& line) {
        std::string rest = line + "\r\n";
        while (!rest.empty() && !m_stop) {
            const net::IoStep step = socket.write(std::array{std::string_view(rest)});
            if (step.state == net::Io::closed || step.state == net::Io::failed) return;
            rest.erase(0, step.bytes);
        }
    }
    // Empty when the client is gone.
    std::string hear(net::Socket& socket, std::string& buffer) {
        for (;;) {
            if (const size_t end = buffer.find("\r\n"); end != buffer.npos) {
                std::string line = buffer.substr(0, end);
                buffer.erase(0, end + 2);
                return line;
            }
            std::array<char, 4096> bytes;
            const net::IoStep step = socket.read(bytes);
            if (step.state == net::Io::done)
                buffer.append(bytes.data(), step.bytes);
            else if (m_stop || step.state == net::Io::closed || step.state == net::Io::failed)
                return {};
            else
                wait(socket.descriptor(), POLLIN);
        }
    }
    void talk(net::Socket socket) {
        Mail mail;
        std::string buffer;
        if (m_script.tls_first) {
            if (!shake_hands(socket)) return;
            mail.secure = true;
        }
        say(socket, "220 mail.example ready");
        for (std::string line = hear(socket, buffer); !line.empty(); line = hear(socket, buffer)) {
            if (!mail.secure) {
                const std::lock_guard lock(m_mutex);
                m_in_clear.push_back(line);
            }
            if (line.starts_with("EHLO")) {
                say(socket, "250-mail.example greets you");
                if (m_script.offers_starttls && !mail.secure) say(socket, "250-STARTTLS");
                say(socket, m_script.offers_plain ? "250 AUTH LOGIN PLAIN" : "250 AUTH LOGIN");
            } else if (line == "STARTTLS") {
                say(socket, "220 go ahead" + (m_script.speaks_early.empty() ? "" : "\r\n" + m_script.speaks_early));
                if (!shake_hands(socket)) return;
                mail.secure = true;
                buffer.clear();
            } else if (line.starts_with("AUTH PLAIN ")) {
                const std::string want = to_base64(std::string("\0hone\0", 6) + m_script.password);
                mail.logged_in = line.substr(11) == want;
                say(socket, mail.logged_in ? "235 welcome" : "535 5.7.8 bad credentials");
            } else if (line == "AUTH LOGIN") {
                say(socket, "334 VXNlcm5hbWU6");
                const bool user = hear(socket, buffer) == to_base64("hone");
                say(socket, "334 UGFzc3dvcmQ6");
                mail.logged_in = hear(socket, buffer) == to_base64(m_script.password) && user;
                say(socket, mail.logged_in ? "235 welcome" : "535 5.7.8 bad credentials");
            } else if (line.starts_with("MAIL FROM:")) {
                mail.from = line.substr(10);
                say(socket, "250 ok");
            } else if (line.starts_with("RCPT TO:")) {
                mail.to.push_back(line.substr(8));
                say(socket, line.find("nobody") == line.npos ? "250 ok" : "550 5.1.1 no such user");
            } else if (line == "DATA") {
                say(socket, "354 end with a dot");
                for (std::string piece = hear(socket, buffer); piece != "."; piece = hear(socket, buffer)) {
                    if (m_stop) return;
                    mail.data += piece + "\n";
                }
                if (m_script.to_data.starts_with("250")) {
                    const std::lock_guard lock(m_mutex);
                    m_mails.push_back(mail);
                }
                say(socket, m_script.to_data);
            } else if (line == "QUIT") {
                say(socket, "221 bye");
                return;
            } else {
                say(socket, "500 what?");
            }
        }
    }

    const Script m_script;
    net::testing::TestAuthority m_authority;
    net::testing::CertificateFiles m_files;
    std::shared_ptr<const net::TlsContext> m_context; // shared: net hands it out so
    net::BoundSocket m_bound;
    std::mutex m_mutex;
    std::vector<Mail> m_mails;
    std::vector<std::string> m_in_clear;
    std::atomic<bool> m_stop{false};
    std::thread m_thread; // last: uses what stands above
};

Message message_of(const std::string& title) {
    Message message;
    message.delivery_id = "delivery_1";
    message.kind = "issue_new";
    message.title = title;
    message.body = ".\r\nQUIT\r\nsecond line";
    message.created_at = must(parse_time("2026-11-15T09:05:14Z"));
    return message;
}

const std::vector<std::string> ada = {"ada@example.com"};

} // namespace

TEST_CASE("a notice becomes a mail over STARTTLS with a login, and no password went in clear") {
    access::testing::for_each_world([](World& world) {
        MailServer server({});
        Office office(world, true);
        NewDestination wanted;
        wanted.name = "mail";
        wanted.type = DestinationType::email;
        wanted.to = std::vector<std::string>{"Ada@Example.com", "ben@example.com"};
        must(office.destinations.create(world.admin, world.space, wanted));
        SenderOptions options = office.options();
        options.smtp = server.options();
        Sender sender(world.database, world.clock, office.destinations, options);
        must(office.notices.notify(office.notice("Grüße")));
        CHECK(must(sender.step()) == 1);
        const auto mails = server.mails();
        REQUIRE(mails.size() == 1);
        CHECK(mails[0].secure);
        CHECK(mails[0].logged_in);
        CHECK(mails[0].from == "<hone@example.com>");
        CHECK(mails[0].to == std::vector<std::string>{"<ada@example.com>", "<ben@example.com>"});
        CHECK(mails[0].data.find("Subject: [Hone] Run finished: nightly scan\n") != std::string::npos);
        CHECK(mails[0].data.find(to_base64("Run finished: nightly scan").substr(0, 32)) != std::string::npos);
        CHECK(server.in_clear() == std::vector<std::string>{"EHLO hone", "STARTTLS"});
    });
}

TEST_CASE("a digest is one mail a day with all its notices, the same ones counted, and is retried as a whole") {
    access::testing::for_each_world([](World& world) {
        MailServer server({});
        Office office(world, true);
        NewDestination wanted;
        wanted.name = "daily";
        wanted.type = DestinationType::email_digest;
        wanted.to = ada;
        wanted.kinds = std::vector<Kind>{Kind::run_finished, Kind::monitor_recovered};
        const Destination daily = must(office.destinations.create(world.admin, world.space, wanted));
        SenderOptions options = office.options();
        options.smtp = server.options();
        Sender sender(world.database, world.clock, office.destinations, options);
        const Time morning = next_digest(world.clock.now());
        CHECK(to_text(morning).substr(10, 9) == "T07:00:00");
        CHECK(morning - world.clock.now() <= std::chrono::hours(24));
        CHECK(next_digest(morning) == morning + std::chrono::hours(24));

        must(office.notices.notify(office.notice("run_1")));
        world.clock.advance(std::chrono::seconds(1));
        must(office.notices.notify(office.notice("run_2")));
        world.clock.advance(std::chrono::seconds(1));
        Notice recovered = office.notice("monitor_1", Kind::monitor_recovered);
        recovered.title = "Latency is normal";
        recovered.body = "";
        recovered.link = "/projects/shop/monitors/monitor_1";
        must(office.notices.notify(recovered));
        must(office.notices.notify(office.notice("issue_1", Kind::issue_new))); // not of its kinds
        CHECK(must(sender.step()) == 0);
        world.clock.advance(morning - world.clock.now() - std::chrono::seconds(1));
        CHECK(must(sender.step()) == 0);
        CHECK(server.mails().empty());

        // The mail server is not reachable: all of them stay pending, and the day of attempts begins now.
        world.clock.advance(std::chrono::seconds(1));
        SenderOptions unreachable = options;
        unreachable.smtp.ca_file = "/nonexistent";
        Sender failing(world.database, world.clock, office.destinations, unreachable);
        CHECK(must(failing.step()) == 1);
        CHECK(must(failing.step()) == 0); // its pause is not over
        CHECK(must(office.destinations.find(world.admin, daily.id)).pending == 3);
        must(office.notices.notify(office.notice("run_3"))); // belongs to the next day
        world.clock.advance(std::chrono::seconds(11));
        CHECK(must(sender.step()) == 1);
        CHECK(must(sender.step()) == 0);
        REQUIRE(server.mails().size() == 1);
        const std::string data = server.mails()[0].data;
        CHECK(server.mails()[0].to == std::vector<std::string>{"<ada@example.com>"});
        CHECK(data.find("Subject: [Hone] 3 notices in default\n") != std::string::npos);
        std::string encoded = data.substr(data.find("\n\n") + 2);
        std::erase(encoded, '\n');
        std::erase(encoded, '=');
        std::replace(encoded.begin(), encoded.end(), '+', '-');
        std::replace(encoded.begin(), encoded.end(), '/', '_');
        CHECK(must(from_base64url(encoded)) == "3 notices in default\n"
                                               "\nRun finished: nightly scan (2 times)\n"
                                               "https://hone.example.com/s/default/runs/run_1\n"
                                               "\nLatency is normal\n"
                                               "https://hone.example.com/s/default/projects/shop/monitors/monitor_1\n"
                                               "\nhttps://hone.example.com/s/default/notices\n");
        CHECK(must(office.destinations.find(world.admin, daily.id)).pending == 1);

        // A day of attempts without success ends the delivery; a day without notices has no mail.
        world.clock.advance(next_digest(world.clock.now()) - world.clock.now());
        CHECK(must(failing.step()) == 1);
        CHECK(must(office.destinations.find(world.admin, daily.id)).pending == 1);
        world.clock.advance(Sender::give_up_after);
        CHECK(must(failing.step()) == 1);
        const auto deliveries = must(office.destinations.deliveries(world.admin, daily.id, {})).data;
        REQUIRE(deliveries.size() == 4);
        CHECK(deliveries[0].state == DeliveryState::given_up);
        for (size_t i = 1; i < 4; ++i) CHECK(deliveries[i].state == DeliveryState::sent);
        world.clock.advance(std::chrono::hours(48));
        CHECK(must(sender.step()) == 0);
        CHECK(server.mails().size() == 1);
    });
}

TEST_CASE("a digest has at most 200 entries, and a template writes each of them") {
    std::vector<Message> messages;
    for (int i = 0; i < 250; ++i) {
        Message message;
        message.title = "Notice " + std::to_string(i);
        message.project = "shop";
        message.space = "default";
        messages.push_back(message);
    }
    const std::string body = digest_of(messages, "", {}).body;
    CHECK(body.starts_with("\nshop: Notice 0\n"));
    CHECK(body.find("Notice 199\n") != std::string::npos);
    CHECK(body.find("Notice 200") == std::string::npos);
    CHECK(body.ends_with("\nand 50 more\n"));
    messages.resize(1);
    messages[0].message_template = "{{project}} / {{title}}";
    const Message one = digest_of(messages, "https://hone.example.com/s/default/notices", {});
    CHECK(one.title == "1 notice in default");
    CHECK(one.body == "\nshop / Notice 0\n");
    CHECK(one.message_template.empty());
}

TEST_CASE("TLS from the start and AUTH LOGIN work too; a subject beyond ASCII is encoded") {
    MailServer::Script script;
    script.tls_first = true;
    script.offers_plain = false;
    MailServer server(script);
    SmtpOptions options = server.options();
    options.security = SmtpSecurity::tls;
    const std::string text = mail(message_of("Fehlerrate über 5 %"), options.from, ada);
    CHECK(text.find("Subject: =?utf-8?B?") != std::string::npos);
    CHECK(text.find("Date: Sun, 15 Nov 2026 09:05:14 +0000\r\n") != std::string::npos);
    CHECK(text.find("\r\nQUIT") == std::string::npos);
    must(send_mail(options, ada, text));
    REQUIRE(server.mails().size() == 1);
    CHECK(server.mails()[0].logged_in);
    CHECK(server.in_clear().empty());
}

TEST_CASE("no STARTTLS, a foreign certificate, words injected before TLS: nothing is sent") {
    MailServer::Script plain;
    plain.offers_starttls = false;
    MailServer without(plain);
    CHECK(outcome(send_mail(without.options(), ada, "x")) == "unavailable");

    MailServer::Script early;
    early.speaks_early = "250 injected";
    MailServer injected(early);
    CHECK(outcome(send_mail(injected.options(), ada, "x")) == "unavailable");

    MailServer foreign({});
    SmtpOptions options = foreign.options();
    options.ca_file = without.options().ca_file;
    CHECK(outcome(send_mail(options, ada, "x")) == "unavailable");

    SmtpOptions clear = without.options();
    clear.security = SmtpSecurity::none; // a login would show the password
    CHECK(outcome(send_mail(clear, ada, "x")) == "invalid");
    clear.user.clear();
    CHECK(outcome(send_mail(clear, ada, ".dot first\r\n..two\r\n")) == "ok");
    CHECK(without.mails().at(0).data == "..dot first\n...two\n"); // as it travels: one dot more
    CHECK(injected.mails().empty());
    CHECK(foreign.mails().empty());
}

TEST_CASE("what the mail server rejects is reported: password, recipient, mail") {
    MailServer::Script wrong;
    wrong.password = "other";
    MailServer login(wrong);
    const auto refused = send_mail(login.options(), ada, "x");
    REQUIRE(!refused.ok());
    CHECK(refused.error().message.find("535 5.7.8 bad credentials") != std::string::npos);
    CHECK(refused.error().message.find("hunter2") == std::string::npos);
    MailServer server({});
    CHECK(outcome(send_mail(server.options(), {"nobody@example.com"}, "x")) == "invalid");
    MailServer::Script full;
    full.to_data = "452 4.3.1 no room";
    MailServer busy_server(full);
    CHECK(outcome(send_mail(busy_server.options(), ada, "x")) == "unavailable"); // to be tried again
    CHECK(server.mails().empty());
}

TEST_CASE("replies are taken whole or not at all") {
    std::string input = "250-one\r\n250 two\r\n220";
    const auto reply = must(take_reply(input));
    REQUIRE(reply);
    CHECK(reply->code == 250);
    CHECK(reply->lines == std::vector<std::string>{"one", "two"});
    CHECK(input == "220");
    CHECK(!must(take_reply(input)));
    for (const char* bad : {"hello\r\n", "25x no\r\n", "150 low\r\n", "250-a\r\n251 b\r\n", "250_x\r\n"}) {
        std::string text = bad;
        CHECK(outcome(take_reply(text)) == "unavailable");
    }
    std::string long_line(2000, '2');
    CHECK(outcome(take_reply(long_line)) == "unavailable");
}
