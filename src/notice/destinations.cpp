#include "notice/destinations.h"

#include "access/names.h"
#include "crypto/crypto.h"
#include "net/http/url.h"
#include "sql/columns.h"

namespace hone::notice {

namespace {

constexpr size_t longest_url = 2000;
constexpr size_t most_addresses = 20;
constexpr size_t most_projects = 100;

// ",a,b," → a, b
std::vector<std::string> words_of(std::string_view text) {
    std::vector<std::string> words;
    for (const std::string_view word : split(text, ','))
        if (!word.empty()) words.emplace_back(word);
    return words;
}

std::string kinds_text(const std::vector<Kind>& kinds) {
    std::string out;
    for (const Kind kind : kinds) out += (out.empty() ? "," : "") + std::string(name_of(kind)) + ",";
    return out;
}

constexpr Pack destination_columns{
    sql::Column{"id", &Destination::id},
    sql::Column{"space_id", &Destination::space_id},
    sql::Column{"name", &Destination::name},
    sql::Column{"type", &Destination::type, DestinationType::webhook},
    sql::Column{"shown_target", &Destination::target},
    sql::Column{"kinds", sql::Converted{[](Destination& made, const sql::Row& row, size_t at) {
                    for (const std::string& word : words_of(row.text(at)))
                        if (const auto kind = parse_enum<Kind>(word)) made.kinds.push_back(*kind);
                }}},
    sql::Column{"projects", sql::Converted{[](Destination& made, const sql::Row& row, size_t at) {
                    for (const std::string& word : words_of(row.text(at))) made.projects.emplace_back(word);
                }}},
    sql::Column{"template", &Destination::message_template},
    sql::Column{"enabled", &Destination::enabled},
    sql::Column{"created_by_name", &Destination::created_by},
    sql::Column{"created_at", &Destination::created_at},
    sql::Column{"updated_at", &Destination::updated_at},
    sql::Column{"last_sent_at", &Destination::last_sent_at},
    sql::Column{"last_failed_at", &Destination::last_failed_at},
    sql::Column{"last_problem", &Destination::last_problem},
};
// After the columns: how many deliveries are pending.
const std::string select_destination =
    "SELECT " + sql::names(destination_columns) +
    ", (SELECT COUNT(*) FROM deliveries WHERE deliveries.destination_id = destinations.id AND deliveries.state = "
    "'pending') FROM destinations";

Destination destination_of(const sql::Row& row) {
    Destination made = sql::read<Destination>(destination_columns, row);
    made.pending = row.integer(sql::width(destination_columns));
    return made;
}

constexpr Pack delivery_columns{
    sql::Column{"deliveries.id", &Delivery::id},
    sql::Column{"deliveries.notice_id", &Delivery::notice_id},
    sql::Column{"deliveries.destination_id", &Delivery::destination_id},
    sql::Column{"notices.kind", &Delivery::kind, Kind::run_finished},
    sql::Column{"notices.title", &Delivery::title},
    sql::Column{"deliveries.state", &Delivery::state, DeliveryState::pending},
    sql::Column{"deliveries.attempts", &Delivery::attempts},
    sql::Column{"deliveries.next_at", &Delivery::next_at},
    sql::Column{"deliveries.problem", &Delivery::problem},
    sql::Column{"deliveries.created_at", &Delivery::created_at},
    sql::Column{"deliveries.finished_at", &Delivery::finished_at},
};

// The address is a secret; its host may be shown.
Result<std::string> checked_url(const std::string& url) {
    if (url.size() > longest_url) return invalid("url must be at most " + std::to_string(longest_url) + " bytes long");
    const auto parsed = net::parse_url(url);
    if (!parsed.ok() || !parsed.value().unix_path.empty())
        return invalid("url must be an address like https://hooks.example.com/path");
    if (!parsed.value().user_info.empty()) return invalid("url must not hold a user name; requests are signed instead");
    return parsed.value().origin();
}

Result<std::string> checked_addresses(const std::vector<std::string>& to) {
    if (to.empty() || to.size() > most_addresses)
        return invalid("to must hold 1 to " + std::to_string(most_addresses) + " addresses");
    std::string out;
    for (const std::string& address : to) {
        const std::string checked = TRY(access::checked_email(address));
        if (!is_printable_ascii(checked) || checked.find_first_of(" <>,;:\\\"()[]") != checked.npos)
            return invalid("to: \"" + std::string(truncate_utf8(address, 100)) + "\" is not a plain address");
        out += (out.empty() ? "" : ", ") + checked;
    }
    return out;
}

bool has_key(DestinationType type) {
    return type == DestinationType::pagerduty || type == DestinationType::opsgenie;
}

// Where a service with a key takes events, unless another region is set.
std::string usual_url(DestinationType type) {
    return type == DestinationType::pagerduty ? "https://events.pagerduty.com/v2/enqueue"
                                              : "https://api.opsgenie.com/v2/alerts";
}

Result<> check_key(DestinationType type, const std::optional<std::string>& key) {
    if (!key) return {};
    if (!has_key(type)) return invalid("key belongs to destinations of type pagerduty and opsgenie");
    if (key->empty() || key->size() > 200 || !is_printable_ascii(*key) || key->find(' ') != key->npos)
        return invalid("key must have 1 to 200 printable characters without spaces");
    return {};
}

// A key goes over TLS, or stays on this machine.
Result<> check_key_url(const std::string& url) {
    const net::Url parsed = TRY(net::parse_url(url));
    if (parsed.tls || parsed.host == "127.0.0.1" || parsed.host == "localhost" || parsed.host == "::1") return {};
    return invalid("url must begin with https:// because the key is sent there");
}

// What may be shown of the target. Errors name the fields that belong to the type.
Result<std::string> shown_target(DestinationType type, const std::optional<std::string>& url,
                                 const std::optional<std::vector<std::string>>& to) {
    if (is_mail(type)) {
        if (url) return invalid("url does not belong to a destination of type " + std::string(name_of(type)));
        if (!to) return invalid("to is missing");
        return checked_addresses(*to);
    }
    if (to) return invalid("to belongs to destinations of type email and email_digest only");
    if (!url && !has_key(type)) return invalid("url is missing");
    const std::string shown = TRY(checked_url(url.value_or(usual_url(type))));
    if (has_key(type) && url) TRY(check_key_url(*url));
    return shown;
}

} // namespace

Result<access::Page<Destination>> Destinations::list(const access::Caller& caller, const access::SpaceId& space,
                                                     const access::PageRequest& page) const {
    TRY(caller.require(access::Permission::monitor_read, space));
    const auto rows = TRY(m_database.query(select_destination + " WHERE space_id = ? AND id > ? ORDER BY id LIMIT ?",
                                           space, TRY(page.after()), page.limit + 1));
    std::vector<Destination> all;
    for (const auto& row : rows) all.push_back(destination_of(row));
    return access::make_page(std::move(all), page, [](const Destination& each) { return each.id.text(); });
}

Result<Destination> Destinations::find(const access::Caller& caller, const DestinationId& id,
                                       access::Permission permission) const {
    const auto rows = TRY(m_database.query(select_destination + " WHERE id = ?", id));
    if (rows.empty()) return not_found("destination " + id.text());
    Destination found = destination_of(rows.front());
    if (auto allowed = caller.require(permission, found.space_id); !allowed.ok()) {
        if (allowed.error().code == Code::not_found) return not_found("destination " + id.text());
        return std::move(allowed).error();
    }
    return found;
}

Result<std::string> Destinations::checked_projects(const access::Caller& caller, const access::SpaceId& space,
                                                   const std::vector<std::string>& projects) const {
    if (projects.size() > most_projects) return invalid("projects must be at most " + std::to_string(most_projects));
    std::string out;
    for (const std::string& each : projects) {
        const access::Project project = TRY(m_access.projects.find(caller, space, each));
        if (project.space_id != space) return not_found("project " + std::string(truncate_utf8(each, 100)));
        out += (out.empty() ? "," : "") + project.id.text() + ",";
    }
    return out;
}

Result<Destination> Destinations::create(const access::Caller& caller, const access::SpaceId& space,
                                         const NewDestination& wanted) {
    TRY(caller.require(access::Permission::monitor_write, space));
    const std::string name = TRY(access::checked_name("the destination's name", wanted.name));
    if (is_mail(wanted.type) && !m_can_mail)
        return invalid("this installation has no mail server: its owner sets smtp_host and smtp_from");
    const std::string shown = TRY(shown_target(wanted.type, wanted.url, wanted.to));
    TRY(check_key(wanted.type, wanted.key));
    if (has_key(wanted.type) && !wanted.key) return invalid("key is missing");
    const std::string projects =
        TRY(checked_projects(caller, space, wanted.projects.value_or(std::vector<std::string>())));
    TRY(check_template(wanted.message_template.value_or("")));
    const auto id = make_id<DestinationTag>(m_clock);
    const std::string signing = "whsec_" + crypto::random_token();
    const bool has_signing = wanted.type == DestinationType::webhook;
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto count = TRY(transaction.query("SELECT COUNT(*) FROM destinations WHERE space_id = ?", space));
        if (count.front().integer(0) >= most_per_space)
            return conflict("a space has at most " + std::to_string(most_per_space) + " destinations");
        const Time now = m_clock.now();
        const int64_t added = TRY(transaction.execute(
            "INSERT INTO destinations (id, space_id, name, type, shown_target, kinds, projects, template, enabled, "
            "created_by, created_by_name, created_at, updated_at, last_problem) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,'') "
            "ON CONFLICT (space_id, name) DO NOTHING",
            id, space, name, name_of(wanted.type), shown, kinds_text(wanted.kinds.value_or(std::vector<Kind>())),
            projects, wanted.message_template.value_or(""), wanted.enabled.value_or(true), caller.principal(),
            caller.name, now, now));
        if (added == 0) return conflict("there is a destination named " + name + " already");
        const secret::Scope scope{space};
        if (!is_mail(wanted.type))
            TRY(m_vault.keep(transaction, scope, id.text(), "url",
                             secret::SecretBytes(std::string_view(wanted.url.value_or(usual_url(wanted.type))))));
        if (wanted.key)
            TRY(m_vault.keep(transaction, scope, id.text(), "key", secret::SecretBytes(std::string_view(*wanted.key))));
        if (has_signing)
            TRY(m_vault.keep(transaction, scope, id.text(), "signing_secret",
                             secret::SecretBytes(std::string_view(signing))));
        return m_access.audit.record(transaction, caller,
                                     {"destination_create",
                                      space,
                                      id.text(),
                                      {{"name", name}, {"type", name_of(wanted.type)}, {"target", shown}}});
    }));
    Destination made = TRY(find(caller, id));
    if (has_signing) made.signing_secret = signing;
    return made;
}

Result<Destination> Destinations::update(const access::Caller& caller, const DestinationId& id,
                                         const DestinationChange& change) {
    const Destination before = TRY(find(caller, id, access::Permission::monitor_write));
    const std::string name = TRY(access::checked_name("the destination's name", change.name.value_or(before.name)));
    std::string shown = before.target;
    if (change.url || change.to) shown = TRY(shown_target(before.type, change.url, change.to));
    TRY(check_key(before.type, change.key));
    if (change.url && has_key(before.type) && !change.key)
        return invalid("send the key again: a stored key does not go to a new address");
    std::optional<std::string> projects;
    if (change.projects) projects = TRY(checked_projects(caller, before.space_id, *change.projects));
    const std::string message_template = change.message_template.value_or(before.message_template);
    TRY(check_template(message_template));
    const bool renew = change.new_signing_secret.value_or(false);
    if (renew && before.type != DestinationType::webhook) return invalid("only webhooks have a signing secret");
    const std::string signing = "whsec_" + crypto::random_token();
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("UPDATE destinations SET name = ?, shown_target = ?, kinds = ?, projects = "
                                "COALESCE(CAST(? AS TEXT), projects), "
                                "template = ?, enabled = ?, updated_at = ? WHERE id = ?",
                                name, shown, kinds_text(change.kinds.value_or(before.kinds)), projects,
                                message_template, change.enabled.value_or(before.enabled), m_clock.now(), id));
        const secret::Scope scope{before.space_id};
        if (change.url)
            TRY(m_vault.keep(transaction, scope, id.text(), "url", secret::SecretBytes(std::string_view(*change.url))));
        if (change.key)
            TRY(m_vault.keep(transaction, scope, id.text(), "key", secret::SecretBytes(std::string_view(*change.key))));
        if (renew)
            TRY(m_vault.keep(transaction, scope, id.text(), "signing_secret",
                             secret::SecretBytes(std::string_view(signing))));
        return m_access.audit.record(transaction, caller,
                                     {"destination_update",
                                      before.space_id,
                                      id.text(),
                                      {{"name", name}, {"target", shown}, {"new_signing_secret", renew}}});
    }));
    Destination now = TRY(find(caller, id));
    if (renew) now.signing_secret = signing;
    return now;
}

Result<> Destinations::remove(const access::Caller& caller, const DestinationId& id) {
    const Destination before = TRY(find(caller, id, access::Permission::monitor_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(m_vault.forget(transaction, id.text()));
        TRY(transaction.execute("DELETE FROM destinations WHERE id = ?", id));
        return m_access.audit.record(transaction, caller,
                                     {"destination_delete", before.space_id, id.text(), {{"name", before.name}}});
    });
}

Result<access::Page<Delivery>> Destinations::deliveries(const access::Caller& caller, const DestinationId& id,
                                                        const access::PageRequest& page) const {
    const Destination destination = TRY(find(caller, id));
    // Titles of restricted projects are for those who may read them.
    auto seen = access::Projects::seen_by(caller, destination.space_id, "notices.project_id");
    std::string sql = "SELECT " + sql::names(delivery_columns) +
                      " FROM deliveries JOIN notices ON notices.id = deliveries.notice_id WHERE "
                      "(notices.project_id IS NULL OR " +
                      seen.sql + ") AND deliveries.destination_id = ?";
    seen.values.push_back(sql::to_value(id));
    if (const std::string after = TRY(page.after()); !after.empty()) {
        sql += " AND deliveries.id < ?";
        seen.values.push_back(sql::to_value(after));
    }
    seen.values.push_back(sql::to_value(page.limit + 1));
    std::vector<Delivery> all;
    for (const auto& row : TRY(m_database.run_query(sql + " ORDER BY deliveries.id DESC LIMIT ?", seen.values))) {
        Delivery each = sql::read<Delivery>(delivery_columns, row);
        if (each.state != DeliveryState::pending) each.next_at.reset();
        all.push_back(std::move(each));
    }
    return access::make_page(std::move(all), page, [](const Delivery& each) { return each.id.text(); });
}

Result<Destinations::Names> Destinations::names(const access::SpaceId& space, const std::string& project) const {
    Names found;
    const auto spaces = TRY(m_access.spaces.names(std::span(&space, 1)));
    if (!spaces.empty()) found.space = spaces.begin()->second;
    if (project.empty()) return found;
    const access::ProjectId id(project);
    const auto projects = TRY(m_access.projects.names(std::span(&id, 1)));
    if (!projects.empty()) found.project = projects.begin()->second;
    return found;
}

Result<Target> Destinations::target(const access::SpaceId& space, const DestinationId& id,
                                    std::string_view purpose) const {
    const auto rows =
        TRY(m_database.query("SELECT type, shown_target FROM destinations WHERE id = ? AND space_id = ?", id, space));
    if (rows.empty()) return not_found("destination " + id.text());
    Target target;
    target.type = parse_enum<DestinationType>(rows.front().text(0)).value_or(DestinationType::webhook);
    if (is_mail(target.type)) {
        for (const std::string_view address : split(rows.front().text(1), ',')) target.to.emplace_back(trim(address));
        return target;
    }
    const secret::Scope scope{space};
    if (has_key(target.type)) target.key = std::string(TRY(m_vault.reveal(scope, id.text(), "key", purpose)).reveal());
    target.url = std::string(TRY(m_vault.reveal(scope, id.text(), "url", purpose)).reveal());
    if (target.type == DestinationType::webhook)
        target.signing_secret = std::string(TRY(m_vault.reveal(scope, id.text(), "signing_secret", purpose)).reveal());
    return target;
}

} // namespace hone::notice
