#include "notice/sender.h"

#include "base/log.h"
#include "net/client/address_range.h"
#include "net/http/url.h"
#include "notice/services.h"
#include "sql/columns.h"

#include <algorithm>

namespace hone::notice {

namespace {

constexpr int64_t most_per_step = 20;
constexpr size_t thread_count = 2; // so that one slow receiver does not hold up all
constexpr Duration claim_time = std::chrono::minutes(2);
constexpr Duration first_pause = std::chrono::seconds(10);
constexpr Duration longest_pause = std::chrono::hours(1);
// How long a notice of another server, or of a transaction that did not wake us, may wait.
constexpr Duration poll_period = std::chrono::seconds(5);

net::ClientOptions client_options(const SenderOptions& options) {
    net::ClientOptions made;
    made.ca_file = options.ca_file;
    made.connect_timeout = options.timeout;
    made.idle_timeout = options.timeout;
    made.idle_connections = 0;
    return made;
}

// "65" or "1.5": seconds, rounded up. Zero for anything else.
Duration retry_after(std::string_view header) {
    const size_t dot = header.find('.');
    const auto seconds = parse_integer(header.substr(0, dot));
    if (!seconds.ok() || seconds.value() < 0) return {};
    return std::chrono::seconds(std::min<int64_t>(seconds.value(), 86'400) + (dot == header.npos ? 0 : 1));
}

Attempt failed(std::string problem) {
    return {false, std::nullopt, std::string(truncate_utf8(repair_utf8(problem), 500)), 0};
}

} // namespace

Sender::Sender(sql::Database& database, const Clock& clock, const Destinations& destinations, SenderOptions options)
    : m_database(database),
      m_clock(clock),
      m_destinations(destinations),
      m_options(std::move(options)),
      m_client(client_options(m_options)),
      m_duty({"notices", poll_period, thread_count}, [this]() -> Result<Duration> {
          const int64_t attempts = TRY(step());
          return attempts >= most_per_step ? Duration::zero() : poll_period;
      }) {}

Sender::~Sender() {
    m_cancel.cancel(); // what is being sent
    m_duty.stop();
}

Duration Sender::pause_after(int64_t attempts) {
    Duration pause = first_pause;
    for (int64_t i = 1; i < attempts && pause < longest_pause; ++i) pause *= 2;
    return std::min(pause, longest_pause);
}

// --- one delivery --------------------------------------------------------------------------------------------------

struct Sender::Columns {
    static constexpr Pack list{
        sql::Column{"deliveries.id", &Due::id},
        sql::Column{"deliveries.destination_id", &Due::destination},
        sql::Column{"notices.space_id", &Due::space},
        sql::Column{"deliveries.attempts", &Due::attempts},
        sql::Column{"deliveries.created_at", &Due::created_at},
        sql::Column{"destinations.enabled", &Due::enabled},
        sql::Column{"notices.id", sql::in(&Due::message, &Message::notice_id)},
        sql::Column{"notices.kind", sql::in(&Due::message, &Message::kind)},
        sql::Column{"notices.title", sql::in(&Due::message, &Message::title)},
        sql::Column{"notices.body", sql::in(&Due::message, &Message::body)},
        sql::Column{"notices.link", &Due::link},
        sql::Column{"notices.project_id", sql::Converted{[](Due& due, const sql::Row& row, size_t at) {
                        due.message.project_id = row.optional_text(at).value_or("");
                    }}},
        sql::Column{"notices.created_at", sql::in(&Due::message, &Message::created_at)},
        sql::Column{"destinations.template", sql::in(&Due::message, &Message::message_template)},
    };
};

Result<std::optional<Sender::Due>> Sender::claim(const std::string& id) {
    std::optional<Due> due = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<std::optional<Due>> {
        const Time now = m_clock.now();
        const int64_t mine = TRY(transaction.execute(
            "UPDATE deliveries SET claimed_until = ?, attempts = attempts + 1 WHERE id = ? AND state = 'pending' AND "
            "next_at <= ? AND claimed_until <= ?",
            now + claim_time, id, now, now));
        if (mine == 0) return std::optional<Due>();
        const auto rows = TRY(transaction.query(
            "SELECT " + sql::names(Columns::list) +
                " FROM deliveries JOIN destinations ON destinations.id = deliveries.destination_id JOIN notices ON "
                "notices.id = deliveries.notice_id WHERE deliveries.id = ?",
            id));
        if (rows.empty()) return std::optional<Due>();
        Due made = sql::read<Due>(Columns::list, rows.front());
        made.message.delivery_id = made.id.text();
        made.message.space_id = made.space.text();
        return std::optional(std::move(made));
    }));
    if (due) TRY(name_places(*due));
    return due;
}

Result<> Sender::name_places(Due& due) const {
    Message& message = due.message;
    const auto names = TRY(m_destinations.names(due.space, message.project_id));
    message.space = names.space;
    message.project = names.project;
    message.link = due.link;
    if (!due.link.empty()) message.url = address_of(names.space, due.link);
    return {};
}

std::string Sender::address_of(const std::string& space, const std::string& link) const {
    if (m_options.public_url.empty()) return {};
    return m_options.public_url + (link.starts_with("/s/") ? "" : "/s/" + percent_encode(space)) + link;
}

Result<std::vector<Sender::Due>> Sender::claim_digest(const std::string& destination) {
    std::vector<Due> all = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<std::vector<Due>> {
        const Time now = m_clock.now();
        std::vector<Due> claimed;
        const int64_t mine = TRY(transaction.execute(
            "UPDATE deliveries SET claimed_until = ?, attempts = attempts + 1 WHERE destination_id = ? AND state = "
            "'pending' AND next_at <= ? AND claimed_until <= ?",
            now + claim_time, destination, now, now));
        if (mine == 0) return claimed;
        const auto rows = TRY(transaction.query(
            "SELECT " + sql::names(Columns::list) +
                " FROM deliveries JOIN destinations ON destinations.id = deliveries.destination_id JOIN notices ON "
                "notices.id = deliveries.notice_id WHERE deliveries.destination_id = ? AND deliveries.state = "
                "'pending' AND deliveries.claimed_until = ? ORDER BY notices.created_at, deliveries.id",
            destination, now + claim_time));
        for (const auto& row : rows) {
            Due due = sql::read<Due>(Columns::list, row);
            due.message.delivery_id = due.id.text();
            due.message.space_id = due.space.text();
            due.created_at = next_digest(due.created_at); // its day of attempts begins when it is due
            claimed.push_back(std::move(due));
        }
        return claimed;
    }));
    for (Due& due : all) TRY(name_places(due));
    return all;
}

// The address to dial, resolved once and checked: what the name means a moment later does not matter.
Result<std::string> Sender::checked_address(const std::string& url) const {
    const net::Url parsed = TRY(net::parse_url(url));
    const auto reach = m_options.allow_private ? net::Reach::also_private : net::Reach::public_only;
    const auto endpoints = TRY(net::resolve(parsed.host, parsed.port));
    for (const net::Endpoint& endpoint : endpoints) {
        auto why = net::refused_range(endpoint, reach);
        if (!why && !m_options.allow_private && net::is_own_address(endpoint)) why = "address of this machine";
        if (why)
            return forbidden(parsed.host + " is at a " + std::string(*why) +
                             (m_options.allow_private
                                  ? ", to which Hone never connects"
                                  : ", which notices may not go to unless notice_private_addresses is true"));
    }
    if (endpoints.empty()) return unavailable(parsed.host + " has no address");
    return endpoints.front().text;
}

Sender::Outcome Sender::post(const Target& target, const Message& message) {
    net::ClientRequest request = request_for(target, message, m_clock.now());
    auto address = checked_address(target.url);
    if (!address.ok()) return {failed(address.error().message), {}};
    request.connect_to = address.value();
    request.total_timeout = m_options.timeout;
    request.on_body = [](std::string_view) -> Result<> {
        return {};
    }; // the body of an internal server is shown to no one
    request.cancel = &m_cancel;
    const auto response = m_client.send(request);
    if (!response.ok()) return {failed(response.error().message), {}};
    Outcome outcome;
    outcome.attempt.status = response.value().status;
    outcome.attempt.ok = response.value().status >= 200 && response.value().status < 300;
    if (!outcome.attempt.ok) {
        outcome.attempt.problem = "the receiver responded " + std::to_string(response.value().status) + " " +
                                  std::string(net::reason_phrase(response.value().status));
        if (response.value().status / 100 == 3) outcome.attempt.problem += "; redirects are not followed";
    }
    outcome.wait_at_least = std::min(retry_after(response.value().header("Retry-After")), longest_pause);
    return outcome;
}

Sender::Outcome Sender::deliver(const access::SpaceId& space, const DestinationId& destination,
                                const Message& message) {
    const Duration began = SystemClock().steady();
    const auto target = m_destinations.target(space, destination, message.delivery_id);
    Outcome outcome;
    if (!target.ok()) {
        outcome.attempt = failed(target.error().message);
    } else if (is_mail(target.value().type)) {
        const auto sent = send_mail(m_options.smtp, target.value().to,
                                    mail(message, m_options.smtp.from, target.value().to), &m_cancel);
        outcome.attempt = sent.ok() ? Attempt{true, std::nullopt, {}, 0} : failed(sent.error().message);
    } else {
        outcome = post(target.value(), message);
    }
    outcome.attempt.took_ms = (SystemClock().steady() - began).count() / 1'000'000;
    return outcome;
}

Result<> Sender::finish(const Due& due, const Outcome& outcome) {
    const Time now = m_clock.now();
    DeliveryState state = DeliveryState::sent;
    if (!outcome.attempt.ok)
        state =
            now - due.created_at >= give_up_after || !due.enabled ? DeliveryState::given_up : DeliveryState::pending;
    const Duration pause = std::max(pause_after(due.attempts), outcome.wait_at_least);
    const std::optional<Time> finished = state == DeliveryState::pending ? std::nullopt : std::optional(now);
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE deliveries SET state = ?, next_at = ?, claimed_until = 0, problem = ?, "
                                "finished_at = ? WHERE id = ? AND state = 'pending'",
                                name_of(state), now + pause, outcome.attempt.problem, finished, due.id));
        TRY(transaction.execute(outcome.attempt.ok
                                    ? "UPDATE destinations SET last_sent_at = ?, last_problem = ? WHERE id = ?"
                                    : "UPDATE destinations SET last_failed_at = ?, last_problem = ? WHERE id = ?",
                                now, outcome.attempt.problem, due.destination));
        return {};
    }));
    ++(outcome.attempt.ok ? m_sent : m_failed);
    if (state != DeliveryState::given_up) return {};
    ++m_given_up;
    log(Level::warning, "notice not delivered",
        {{"delivery", due.id.text()}, {"destination", due.destination.text()}, {"why", outcome.attempt.problem}});
    return {};
}

Result<int64_t> Sender::send_digests() {
    const Time now = m_clock.now();
    const auto rows = TRY(m_database.query("SELECT DISTINCT destination_id FROM deliveries WHERE state = 'pending' AND "
                                           "next_at <= ? AND claimed_until <= ? "
                                           "AND destination_id IN (SELECT id FROM destinations WHERE type = "
                                           "'email_digest') ORDER BY destination_id LIMIT ?",
                                           now, now, most_per_step));
    int64_t attempts = 0;
    for (const auto& row : rows) {
        const std::vector<Due> all = TRY(claim_digest(row.text(0)));
        if (all.empty()) continue;
        ++attempts;
        std::vector<Message> messages;
        for (const Due& due : all) messages.push_back(due.message);
        const Due& first = all.front();
        const Message digest = digest_of(messages, address_of(first.message.space, "/notices"), m_clock.now());
        const Outcome outcome = first.enabled ? deliver(first.space, first.destination, digest)
                                              : Outcome{failed("the destination is switched off"), {}};
        for (const Due& due : all) TRY(finish(due, outcome));
        if (m_cancel.is_cancelled()) break;
    }
    return attempts;
}

Result<int64_t> Sender::step() {
    int64_t attempts = TRY(send_digests());
    const Time now = m_clock.now();
    const auto rows = TRY(m_database.query(
        "SELECT id FROM deliveries WHERE state = 'pending' AND next_at <= ? AND claimed_until <= ? AND destination_id "
        "NOT IN (SELECT id FROM destinations WHERE type = 'email_digest') ORDER BY next_at, id LIMIT ?",
        now, now, most_per_step));
    for (const auto& row : rows) {
        const auto due = TRY(claim(row.text(0)));
        if (!due) continue; // another thread or server has it
        ++attempts;
        TRY(finish(*due, due->enabled ? deliver(due->space, due->destination, due->message)
                                      : Outcome{failed("the destination is switched off"), {}}));
        if (m_cancel.is_cancelled()) break;
    }
    return attempts;
}

Result<Attempt> Sender::test(const access::Caller& caller, const DestinationId& id) {
    const Destination destination = TRY(m_destinations.find(caller, id, access::Permission::monitor_write));
    const auto names = TRY(m_destinations.names(destination.space_id, ""));
    Message message;
    message.delivery_id = make_id<DeliveryTag>(m_clock).text();
    message.kind = "test";
    message.title = "Test of destination " + destination.name;
    message.body = "Sent by " + caller.name + ". If you can read this, notices arrive.";
    message.space_id = destination.space_id.text();
    message.space = names.space;
    message.created_at = m_clock.now();
    message.message_template = destination.message_template;
    Attempt attempt = deliver(destination.space_id, id, message).attempt;
    TRY(m_database.execute(attempt.ok ? "UPDATE destinations SET last_sent_at = ?, last_problem = ? WHERE id = ?"
                                      : "UPDATE destinations SET last_failed_at = ?, last_problem = ? WHERE id = ?",
                           m_clock.now(), attempt.problem, id));
    return attempt;
}

} // namespace hone::notice
