// Delivers notices: takes due rows of the outbox one by one, sends them, records the result. Retries with growing
// pauses for a day, then marks the delivery as failed. A row is claimed before it is sent, so that several servers and
// threads share the work; after a crash the claim expires and it is sent again (the delivery id identifies repeats).
// step() is what tests call; the threads only call it. Thread-safe.
#pragma once

#include "base/duty.h"
#include "notice/destinations.h"
#include "notice/smtp.h"

#include <atomic>

namespace hone::notice {

struct SenderOptions {
    SmtpOptions smtp{};
    std::string public_url{};   // "https://hone.example.com": links begin with it; empty: links are left out
    bool allow_private = false; // hooks may be on private networks and on this machine
    std::string ca_file{};      // trusted beside the system's store; empty: none
    Duration timeout = std::chrono::seconds(10);
};

// Result of one attempt.
struct Attempt {
    bool ok = false;
    std::optional<int64_t> status;
    std::string problem;
    int64_t took_ms = 0;
    static constexpr Pack fields{
        Field{"ok", &Attempt::ok, "The receiver accepted it."},
        Field{"status", &Attempt::status, "HTTP status of a webhook; null without a response, and for mail."},
        Field{"problem", &Attempt::problem, "Error, and what to fix; empty when it was accepted."},
        Field{"took_ms", &Attempt::took_ms, ""},
    };
};

class Sender {
public:
    Sender(sql::Database& database, const Clock& clock, const Destinations& destinations, SenderOptions options);
    ~Sender();

    // Tries what is due now; returns how many attempts it made.
    Result<int64_t> step();
    // Sends one test message now. Needs monitor_write.
    Result<Attempt> test(const access::Caller& caller, const DestinationId& id);

    void start() { m_duty.start(); }
    // Something new is due.
    void wake() { m_duty.wake(); }
    struct Count {
        int64_t sent = 0;
        int64_t failed = 0;   // attempts
        int64_t given_up = 0; // notices
    };
    Count count() const { return {m_sent, m_failed, m_given_up}; }

    // The pause after so many failed attempts: 10 s, doubled each time, at most an hour.
    static Duration pause_after(int64_t attempts);
    static constexpr Duration give_up_after = std::chrono::hours(24);

private:
    struct Outcome {
        Attempt attempt;
        Duration wait_at_least{}; // the other side's Retry-After
    };
    struct Due {
        DeliveryId id;
        DestinationId destination;
        access::SpaceId space;
        int64_t attempts = 0;
        Time created_at{};
        bool enabled = true;
        Message message;
        std::string link; // path of the message's page
    };
    struct Columns; // of a Due
    Result<std::optional<Due>> claim(const std::string& id);
    // All that is due for one digest; empty: another thread or server has it.
    Result<std::vector<Due>> claim_digest(const std::string& destination);
    Result<int64_t> send_digests();
    Result<> name_places(Due& due) const;
    std::string address_of(const std::string& space, const std::string& link) const;
    Outcome deliver(const access::SpaceId& space, const DestinationId& destination, const Message& message);
    Outcome post(const Target& target, const Message& message);
    Result<std::string> checked_address(const std::string& url) const;
    Result<> finish(const Due& due, const Outcome& outcome);

    sql::Database& m_database;
    const Clock& m_clock;
    const Destinations& m_destinations;
    const SenderOptions m_options;
    net::HttpClient m_client;
    net::Cancel m_cancel;
    std::atomic<int64_t> m_sent{0}, m_failed{0}, m_given_up{0};
    Duty m_duty; // last: its threads use what stands above
};

} // namespace hone::notice
