// Where a space's notices go: webhooks, chats, on-call services, mail. Addresses of hooks, keys and signing secrets are
// sealed by the vault and never shown again. Needs monitor_read and monitor_write. Thread-safe.
#pragma once

#include "access/access.h"
#include "notice/message.h"
#include "secret/vault.h"

namespace hone::notice {

enum class DestinationType {
    webhook,
    slack,
    teams,
    discord,
    pagerduty,
    opsgenie,
    email,
    email_digest, // one mail a day with all its notices
};
constexpr auto enum_names(DestinationType) {
    return std::array{
        EnumName{DestinationType::webhook, "webhook"},     EnumName{DestinationType::slack, "slack"},
        EnumName{DestinationType::teams, "teams"},         EnumName{DestinationType::discord, "discord"},
        EnumName{DestinationType::pagerduty, "pagerduty"}, EnumName{DestinationType::opsgenie, "opsgenie"},
        EnumName{DestinationType::email, "email"},         EnumName{DestinationType::email_digest, "email_digest"}};
}

struct Destination {
    DestinationId id;
    access::SpaceId space_id;
    std::string name;
    DestinationType type = DestinationType::webhook;
    std::string target;
    std::vector<Kind> kinds;
    std::vector<access::ProjectId> projects;
    std::string message_template;
    bool enabled = true;
    std::string created_by;
    Time created_at{};
    Time updated_at{};
    std::optional<Time> last_sent_at;
    std::optional<Time> last_failed_at;
    std::string last_problem;
    int64_t pending = 0;
    std::optional<std::string> signing_secret;
    static constexpr Pack fields{
        Field{"id", &Destination::id, ""},
        Field{"space_id", &Destination::space_id, ""},
        Field{"name", &Destination::name, "Unique in the space."},
        Field{"type", &Destination::type,
              "webhook, slack, teams, discord, pagerduty, opsgenie, email, or email_digest: one mail a day at 07:00 "
              "UTC."},
        Field{"target", &Destination::target, "Host that receives it, or addresses of email."},
        Field{"kinds", &Destination::kinds, "Kinds of notices it receives; empty: all."},
        Field{"projects", &Destination::projects,
              "Projects whose notices are sent; empty: all. Notices of the space are always sent."},
        Field{"template", &Destination::message_template, "Template of the message; empty: the default text."},
        Field{"enabled", &Destination::enabled, ""},
        Field{"created_by", &Destination::created_by, ""},
        Field{"created_at", &Destination::created_at, ""},
        Field{"updated_at", &Destination::updated_at, ""},
        Field{"last_sent_at", &Destination::last_sent_at, ""},
        Field{"last_failed_at", &Destination::last_failed_at, ""},
        Field{"last_problem", &Destination::last_problem, "Error of the last attempt; empty: none."},
        Field{"pending", &Destination::pending, "Notices that are not delivered yet."},
        Field{"signing_secret", &Destination::signing_secret,
              "Signing secret of a webhook; only in the response that creates it."},
    };
};

struct NewDestination {
    std::string name;
    DestinationType type = DestinationType::webhook;
    std::optional<std::string> url;
    std::optional<std::string> key;
    std::optional<std::vector<std::string>> to;
    std::optional<std::vector<Kind>> kinds;
    std::optional<std::vector<std::string>> projects;
    std::optional<std::string> message_template;
    std::optional<bool> enabled;
    static constexpr Pack fields{
        Field{"name", &NewDestination::name, "Unique in the space."},
        Field{"type", &NewDestination::type,
              "webhook, slack, teams, discord, pagerduty, opsgenie, email, or email_digest: one mail a day at 07:00 "
              "UTC."},
        Field{"url", &NewDestination::url,
              "Address of webhook, slack, teams and discord; never shown again. pagerduty and opsgenie: only for "
              "another region than the usual one."},
        Field{"key", &NewDestination::key,
              "pagerduty: the integration key of a service (Events API v2); opsgenie: an API key. Never shown again."},
        Field{"to", &NewDestination::to, "Addresses for email and email_digest, at most 20."},
        Field{"kinds", &NewDestination::kinds, "Kinds of notices it receives; empty: all."},
        Field{"projects", &NewDestination::projects, "Ids or names of projects whose notices are sent; empty: all."},
        Field{"template", &NewDestination::message_template,
              "Template of the message; its variables are {{title}} {{body}} {{url}} {{kind}} {{space}} {{project}} "
              "{{time}}."},
        Field{"enabled", &NewDestination::enabled, "True if not given."},
    };
};

struct DestinationChange {
    std::optional<std::string> name;
    std::optional<std::string> url;
    std::optional<std::string> key;
    std::optional<std::vector<std::string>> to;
    std::optional<std::vector<Kind>> kinds;
    std::optional<std::vector<std::string>> projects;
    std::optional<std::string> message_template;
    std::optional<bool> enabled;
    std::optional<bool> new_signing_secret;
    static constexpr Pack fields{
        Field{"name", &DestinationChange::name, "Unique in the space."},
        Field{"url", &DestinationChange::url,
              "Address of webhook, slack, teams and discord; never shown again. With pagerduty and opsgenie the key "
              "must be sent with it."},
        Field{"key", &DestinationChange::key, "pagerduty and opsgenie: the key; never shown again."},
        Field{"to", &DestinationChange::to, "Addresses for email and email_digest, at most 20."},
        Field{"kinds", &DestinationChange::kinds, "Kinds of notices it receives; empty: all."},
        Field{"projects", &DestinationChange::projects, "Ids or names of projects whose notices are sent; empty: all."},
        Field{"template", &DestinationChange::message_template, "Template of the message; empty: the default text."},
        Field{"enabled", &DestinationChange::enabled, ""},
        Field{"new_signing_secret", &DestinationChange::new_signing_secret,
              "webhook: replaces the signing secret and returns the new one."},
    };
};

// Sent by SMTP.
constexpr bool is_mail(DestinationType type) {
    return type == DestinationType::email || type == DestinationType::email_digest;
}

// What a delivery needs to know, with secrets; for the Sender only.
struct Target {
    DestinationType type = DestinationType::webhook;
    std::string url;
    std::string signing_secret;
    std::string key; // of pagerduty and opsgenie
    std::vector<std::string> to;
};

class Destinations {
public:
    Destinations(sql::Database& database, const Clock& clock, access::Access& access, const secret::Vault& vault,
                 bool can_mail)
        : m_database(database),
          m_clock(clock),
          m_access(access),
          m_vault(vault),
          m_can_mail(can_mail) {}

    Result<access::Page<Destination>> list(const access::Caller& caller, const access::SpaceId& space,
                                           const access::PageRequest& page) const;
    // By id.
    Result<Destination> find(const access::Caller& caller, const DestinationId& id,
                             access::Permission permission = access::Permission::monitor_read) const;
    Result<Destination> create(const access::Caller& caller, const access::SpaceId& space,
                               const NewDestination& wanted);
    Result<Destination> update(const access::Caller& caller, const DestinationId& id, const DestinationChange& change);
    Result<> remove(const access::Caller& caller, const DestinationId& id);
    // Newest first.
    Result<access::Page<Delivery>> deliveries(const access::Caller& caller, const DestinationId& id,
                                              const access::PageRequest& page) const;

    // What a message calls its space and its project; empty where there is none.
    struct Names {
        std::string space;
        std::string project;
    };
    Result<Names> names(const access::SpaceId& space, const std::string& project) const;
    Result<Target> target(const access::SpaceId& space, const DestinationId& id, std::string_view purpose) const;

    static constexpr int64_t most_per_space = 100;

private:
    Result<std::string> checked_projects(const access::Caller& caller, const access::SpaceId& space,
                                         const std::vector<std::string>& projects) const;

    sql::Database& m_database;
    const Clock& m_clock;
    access::Access& m_access;
    const secret::Vault& m_vault;
    const bool m_can_mail;
};

} // namespace hone::notice
