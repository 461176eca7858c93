#include "notice/services.h"

#include "crypto/hmac.h"

namespace hone::notice {

namespace {

constexpr size_t discord_units = 2000;
constexpr size_t pagerduty_summary_units = 1024;
constexpr size_t opsgenie_message_units = 130;
constexpr size_t card_lines = 40;

enum class Severity { critical, error, warning, info };

// Kinds that are not here are information.
constexpr std::pair<Kind, Severity> severities[] = {
    {Kind::spans_late, Severity::critical},         {Kind::break_glass_login, Severity::critical},
    {Kind::monitor_triggered, Severity::error},     {Kind::budget_spent, Severity::error},
    {Kind::automation_paused, Severity::warning},   {Kind::budget_near, Severity::warning},
    {Kind::pull_request_failed, Severity::warning}, {Kind::issue_new, Severity::warning},
    {Kind::eval_task_paused, Severity::warning},    {Kind::evaluator_drifted, Severity::warning},
};

Severity severity_of(std::string_view kind) {
    for (const auto& [each, severity] : severities)
        if (name_of(each) == kind) return severity;
    return Severity::info;
}

// The bytes of the character that begins at `at`, and its UTF-16 code units. The text is valid UTF-8.
size_t character_size(std::string_view text, size_t at) {
    const auto first = static_cast<unsigned char>(text[at]);
    const size_t size = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    return std::min(size, text.size() - at);
}

size_t units_of(std::string_view text) {
    size_t units = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t size = character_size(text, at);
        units += size == 4 ? 2 : 1;
        at += size;
    }
    return units;
}

// Discord reads Markdown: a backslash before each sign that it could mean something to, within `units` in all.
std::string escape_for_discord(std::string_view text, size_t units) {
    constexpr std::string_view signs = "\\*_~`|>#[]()<:@-";
    std::string out;
    size_t used = 0;
    for (size_t at = 0; at < text.size();) {
        const size_t size = character_size(text, at);
        const bool is_sign = size == 1 && signs.find(text[at]) != signs.npos;
        const size_t needed = is_sign || size == 4 ? 2 : 1;
        if (used + needed + 1 > units) return out + "…";
        if (is_sign) out += '\\';
        out += text.substr(at, size);
        used += needed;
        at += size;
    }
    return out;
}

// Text of a card: runs of a RichTextBlock have no Markdown, other than the text of a TextBlock.
json::Object card_line(std::string_view text, bool is_title) {
    json::Object run{{"type", "TextRun"}, {"text", text.empty() ? std::string_view(" ") : text}};
    if (is_title) run["weight"] = "Bolder";
    return {{"type", "RichTextBlock"}, {"inlines", json::Array{std::move(run)}}};
}

std::string source_of(const Message& message) {
    return message.project.empty() ? message.space : message.space + "/" + message.project;
}

// With a template the whole text is the people's own; the usual one is in parts.
std::string first_line(const Message& message) {
    if (message.message_template.empty()) return message.title;
    const std::string text = plain_text(message);
    const std::string line = text.substr(0, text.find('\n'));
    return trim(line).empty() ? message.title : line; // services refuse an empty one
}

json::Object details_of(const Message& message) {
    json::Object details{{"kind", message.kind}, {"space", message.space}, {"text", plain_text(message)}};
    if (!message.project.empty()) details["project"] = message.project;
    return details;
}

std::string close_url(const std::string& url, const std::string& alias) {
    return url + "/" + percent_encode(alias) + "/close?identifierType=alias";
}

void sign_webhook(net::ClientRequest& request, const Target& target, const Message& message, Time now) {
    const std::string stamp = std::to_string(to_ns(now) / 1'000'000'000);
    request.headers.push_back({"X-Hone-Kind", message.kind});
    request.headers.push_back({"X-Hone-Delivery", message.delivery_id});
    request.headers.push_back({"X-Hone-Timestamp", stamp});
    request.headers.push_back(
        {"X-Hone-Signature",
         "sha256=" + to_hex(crypto::hmac_sha256(target.signing_secret, stamp + "." + request.body))});
}

} // namespace

bool is_recovery(const Message& message) {
    return message.kind == name_of(Kind::monitor_recovered) || message.kind == name_of(Kind::spans_caught_up);
}

std::string incident_key(const Message& message) {
    const std::string begin = "hone/" + message.space_id + "/";
    if (message.kind == name_of(Kind::monitor_triggered) || message.kind == name_of(Kind::monitor_recovered))
        return begin + message.link.substr(message.link.rfind('/') + 1);
    if (message.kind == name_of(Kind::spans_late) || message.kind == name_of(Kind::spans_caught_up))
        return begin + "spans";
    return begin + (message.notice_id.empty() ? message.delivery_id : message.notice_id);
}

std::string cut_units(std::string_view text, size_t units) {
    if (units_of(text) <= units) return std::string(text);
    size_t at = 0, used = 0;
    for (;;) {
        const size_t size = character_size(text, at);
        const size_t needed = size == 4 ? 2 : 1;
        if (used + needed + 1 > units) return std::string(text.substr(0, at)) + "…";
        used += needed;
        at += size;
    }
}

std::string discord_body(const Message& message) {
    std::string content;
    if (message.message_template.empty()) {
        content = "**" + escape_for_discord(message.title, 500) + "**";
        const std::string url = message.url.empty() ? "" : "\n<" + message.url + ">";
        const size_t used = units_of(content) + units_of(url) + 1;
        if (!message.body.empty() && used < discord_units)
            content += "\n" + escape_for_discord(message.body, discord_units - used);
        content += url;
    } else {
        content = escape_for_discord(plain_text(message), discord_units);
    }
    json::Object body;
    body["content"] = content;
    body["allowed_mentions"] = json::Object{{"parse", json::Array{}}};
    body["flags"] = 4; // no previews of links
    return json::print(body);
}

std::string teams_body(const Message& message) {
    json::Array lines;
    const bool is_usual = message.message_template.empty();
    if (is_usual) lines.push_back(card_line(message.title, true));
    const std::string text = is_usual ? message.body : plain_text(message);
    if (!text.empty())
        for (const std::string_view line : split(text, '\n')) {
            if (lines.size() == card_lines) {
                lines.push_back(card_line("…", false));
                break;
            }
            lines.push_back(card_line(line, false));
        }
    json::Object card{{"$schema", "http://adaptivecards.io/schemas/adaptive-card.json"},
                      {"type", "AdaptiveCard"},
                      {"version", "1.4"},
                      {"body", std::move(lines)}};
    if (!message.url.empty())
        card["actions"] =
            json::Array{json::Object{{"type", "Action.OpenUrl"}, {"title", "Open in Hone"}, {"url", message.url}}};
    json::Object attachment{{"contentType", "application/vnd.microsoft.card.adaptive"},
                            {"contentUrl", nullptr},
                            {"content", std::move(card)}};
    return json::print(json::Object{{"type", "message"}, {"attachments", json::Array{std::move(attachment)}}});
}

std::string pagerduty_body(const Message& message, std::string_view routing_key) {
    static constexpr std::array names = {"critical", "error", "warning", "info"};
    json::Object body{{"routing_key", routing_key},
                      {"event_action", is_recovery(message) ? "resolve" : "trigger"},
                      {"dedup_key", incident_key(message)}};
    body["payload"] = json::Object{{"summary", cut_units(first_line(message), pagerduty_summary_units)},
                                   {"source", source_of(message)},
                                   {"severity", names[static_cast<size_t>(severity_of(message.kind))]},
                                   {"timestamp", to_text(message.created_at)},
                                   {"component", "hone"},
                                   {"class", message.kind},
                                   {"custom_details", details_of(message)}};
    body["client"] = "Hone";
    if (!message.url.empty()) {
        body["client_url"] = message.url;
        body["links"] = json::Array{json::Object{{"href", message.url}, {"text", "Open in Hone"}}};
    }
    return json::print(body);
}

std::string opsgenie_body(const Message& message) {
    if (is_recovery(message))
        return json::print(json::Object{{"source", "Hone"}, {"user", "Hone"}, {"note", first_line(message)}});
    static constexpr std::array priorities = {"P1", "P2", "P3", "P5"};
    return json::print(json::Object{{"message", cut_units(first_line(message), opsgenie_message_units)},
                                    {"alias", incident_key(message)},
                                    {"description", plain_text(message)},
                                    {"priority", priorities[static_cast<size_t>(severity_of(message.kind))]},
                                    {"source", "Hone"},
                                    {"entity", source_of(message)},
                                    {"tags", json::Array{"hone", message.kind}},
                                    {"details", json::Object{{"space", message.space}, {"url", message.url}}}});
}

net::ClientRequest request_for(const Target& target, const Message& message, Time now) {
    net::ClientRequest request;
    request.method = "POST";
    request.url = target.url;
    request.headers = {{"Content-Type", "application/json"}};
    switch (target.type) {
    case DestinationType::webhook:
        request.body = webhook_body(message);
        sign_webhook(request, target, message, now);
        break;
    case DestinationType::slack:
        request.body = slack_body(message);
        break;
    case DestinationType::discord:
        request.body = discord_body(message);
        break;
    case DestinationType::teams:
        request.body = teams_body(message);
        break;
    case DestinationType::pagerduty:
        request.body = pagerduty_body(message, target.key);
        break;
    case DestinationType::opsgenie:
        request.body = opsgenie_body(message);
        request.headers.push_back({"Authorization", "GenieKey " + target.key});
        if (is_recovery(message)) request.url = close_url(target.url, incident_key(message));
        break;
    case DestinationType::email:
    case DestinationType::email_digest:
        break; // sent by smtp
    }
    return request;
}

} // namespace hone::notice
