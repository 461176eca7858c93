// What runs ask to send: each decision of the broker is a row and an entry of the audit log before anything leaves, and
// the row learns how it ended. Thread-safe.
#pragma once

#include "access/access.h"
#include "broker/broker.h"
#include "run/run.h"
#include "sql/sql.h"

#include <memory>

namespace hone::run {

// One request, as its run's page shows it. Names of secrets, never values; no query strings.
struct EgressRow {
    int64_t number = 0;
    Time time{};
    bool allowed = false;
    std::string method;
    std::string target;
    bool tls = false;
    std::string path;
    std::string rule;
    std::string reason;
    std::vector<std::string> secrets;
    bool ended = false;
    std::optional<int64_t> status;
    std::optional<std::string> address;
    std::optional<int64_t> sent_bytes;
    std::optional<int64_t> received_bytes;
    std::optional<int64_t> took_us;
    std::optional<std::string> failure;
    static constexpr Pack fields{
        Field{"number", &EgressRow::number, "Counts from 1 within the run."},
        Field{"time", &EgressRow::time, "Time of the decision."},
        Field{"allowed", &EgressRow::allowed, "Whether it was allowed."},
        Field{"method", &EgressRow::method, "Method; CONNECT for a tunnel that is forwarded unread."},
        Field{"target", &EgressRow::target, "Host and port."},
        Field{"tls", &EgressRow::tls, "Whether the connection to the host was encrypted."},
        Field{"path", &EgressRow::path, "Path, without the query."},
        Field{"rule", &EgressRow::rule, "Rule that decided."},
        Field{"reason", &EgressRow::reason, "Reason of the decision."},
        Field{"secrets", &EgressRow::secrets, "Names of the secrets that the broker added."},
        Field{"ended", &EgressRow::ended, "Whether it has ended."},
        Field{"status", &EgressRow::status, "Status of the response; null for a tunnel, or without a response."},
        Field{"address", &EgressRow::address, "Address of the connection."},
        Field{"sent_bytes", &EgressRow::sent_bytes, "Bytes of the request."},
        Field{"received_bytes", &EgressRow::received_bytes, "Bytes of the response."},
        Field{"took_us", &EgressRow::took_us, "Duration in microseconds."},
        Field{"failure", &EgressRow::failure, "Error."},
    };
};

class Egress {
public:
    // A run that sends more is refused: a request that cannot be recorded is not sent.
    static constexpr int64_t most_of_a_run = 50'000;

    Egress(sql::Database& database, const access::AuditLog& audit) : m_database(database), m_audit(audit) {}

    std::shared_ptr<broker::Decisions> of(const access::SpaceId& space, const RunId& run);
    // Oldest first; the caller has checked that the run may be read.
    Result<std::vector<EgressRow>> after(const RunId& run, int64_t number, int64_t limit) const;

private:
    sql::Database& m_database;
    const access::AuditLog& m_audit;
};

} // namespace hone::run
