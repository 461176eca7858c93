#include "notice/message.h"

#include <fmt/format.h>

#include <algorithm>

namespace hone::notice {

namespace {

constexpr size_t most_in_digest = 200;

constexpr std::array variables = {"title", "body", "url", "kind", "space", "project", "time"};

std::string value_of(const Message& message, std::string_view name) {
    if (name == "title") return message.title;
    if (name == "body") return message.body;
    if (name == "url") return message.url;
    if (name == "kind") return message.kind;
    if (name == "space") return message.space;
    if (name == "project") return message.project;
    return to_text(message.created_at).substr(0, 19) + "Z";
}

// Calls `take_text` and `take_name` for the pieces in turn. A value that contains "{{" is not expanded again.
template <class TakeText, class TakeName>
Result<> walk_template(std::string_view text, TakeText take_text, TakeName take_name) {
    for (;;) {
        const size_t open = text.find("{{");
        take_text(text.substr(0, open));
        if (open == text.npos) return {};
        const size_t close = text.find("}}", open);
        if (close == text.npos) return invalid("template has {{ without }}");
        TRY(take_name(trim(text.substr(open + 2, close - open - 2))));
        text.remove_prefix(close + 2);
    }
}

std::string escape_for_slack(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '&')
            out += "&amp;";
        else if (letter == '<')
            out += "&lt;";
        else if (letter == '>')
            out += "&gt;";
        else
            out += letter;
    }
    return out;
}

// RFC 2047: each word at most 75 characters, whole UTF-8 characters in each.
std::string header_text(std::string_view text) {
    if (is_printable_ascii(text) && text.find("=?") == text.npos) return std::string(text.substr(0, 200));
    std::string out;
    while (!text.empty()) {
        const std::string_view piece = truncate_utf8(text, 42);
        out += (out.empty() ? "" : "\r\n ") + ("=?utf-8?B?" + to_base64(piece) + "?=");
        text.remove_prefix(std::max<size_t>(1, piece.size()));
    }
    return out;
}

// "Sun, 15 Nov 2026 09:05:14 +0000"
std::string mail_date(Time time) {
    using namespace std::chrono;
    const auto day = floor<days>(time);
    const year_month_day date(day);
    const hh_mm_ss clock(floor<seconds>(time - day));
    static constexpr std::array days_of_week = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr std::array months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    return fmt::format("{}, {:02} {} {} {:02}:{:02}:{:02} +0000", days_of_week[weekday(day).c_encoding()],
                       static_cast<unsigned>(date.day()), months[static_cast<unsigned>(date.month()) - 1],
                       static_cast<int>(date.year()), clock.hours().count(), clock.minutes().count(),
                       clock.seconds().count());
}

} // namespace

Result<> check_template(std::string_view text) {
    if (text.size() > (4 << 10)) return invalid("template must be at most 4096 bytes long");
    if (!is_valid_utf8(text) || text.find('\0') != text.npos) return invalid("template must be text");
    return walk_template(
        text, [](std::string_view) {},
        [](std::string_view name) -> Result<> {
            std::string known;
            for (const std::string_view variable : variables) {
                if (variable == name) return {};
                known += (known.empty() ? "" : ", ") + std::string(variable);
            }
            return invalid("template has an unknown variable {{" + std::string(truncate_utf8(name, 60)) +
                           "}}; there are " + known);
        });
}

std::string plain_text(const Message& message) {
    std::string out;
    if (message.message_template.empty()) {
        out = message.title;
        if (!message.body.empty()) out += "\n" + message.body;
        if (!message.url.empty()) out += "\n" + message.url;
        return out;
    }
    const auto filled = walk_template(
        message.message_template, [&](std::string_view text) { out += text; },
        [&](std::string_view name) -> Result<> {
            out += value_of(message, name);
            return {};
        });
    return filled.ok() ? out : message.title;
}

Message digest_of(const std::vector<Message>& messages, std::string url, Time now) {
    struct Entry {
        std::string text;
        size_t count = 0;
        std::string url; // of the newest
    };
    std::vector<Entry> entries;
    for (const Message& message : messages) {
        const bool is_usual = message.message_template.empty();
        std::string text = is_usual ? message.title : plain_text(message);
        if (is_usual && !message.project.empty()) text = message.project + ": " + text;
        auto known =
            std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.text == text; });
        if (known == entries.end()) known = entries.insert(entries.end(), Entry{std::move(text), 0, {}});
        ++known->count;
        if (is_usual) known->url = message.url;
    }
    Message digest;
    if (!messages.empty()) digest = messages.front();
    digest.message_template.clear();
    digest.created_at = now;
    digest.url = std::move(url);
    digest.title =
        fmt::format("{} {} in {}", messages.size(), messages.size() == 1 ? "notice" : "notices", digest.space);
    digest.body.clear();
    for (size_t i = 0; i < std::min(entries.size(), most_in_digest); ++i) {
        const Entry& entry = entries[i];
        digest.body += "\n" + entry.text;
        if (entry.count > 1) digest.body += fmt::format(" ({} times)", entry.count);
        digest.body += "\n";
        if (!entry.url.empty()) digest.body += entry.url + "\n";
    }
    if (entries.size() > most_in_digest) digest.body += fmt::format("\nand {} more\n", entries.size() - most_in_digest);
    return digest;
}

std::string webhook_body(const Message& message) {
    json::Object object;
    object["delivery_id"] = message.delivery_id;
    object["notice_id"] = message.notice_id;
    object["kind"] = message.kind;
    object["title"] = message.title;
    object["body"] = message.body;
    object["text"] = plain_text(message);
    object["url"] = message.url;
    object["space"] = json::Object{{"id", message.space_id}, {"name", message.space}};
    object["project"] = message.project_id.empty()
                            ? json::Value(nullptr)
                            : json::Value(json::Object{{"id", message.project_id}, {"name", message.project}});
    object["created_at"] = to_text(message.created_at);
    return json::print(object);
}

std::string slack_body(const Message& message) {
    std::string text;
    if (message.message_template.empty()) {
        // The address is ours and the only one that may be a link.
        text = "*" + escape_for_slack(message.title) + "*";
        if (!message.body.empty()) text += "\n" + escape_for_slack(message.body);
        if (!message.url.empty()) text += "\n<" + message.url + ">";
    } else {
        text = escape_for_slack(plain_text(message));
    }
    return json::print(json::Object{{"text", text}});
}

std::string mail(const Message& message, const std::string& from, const std::vector<std::string>& to) {
    std::string out = "Date: " + mail_date(message.created_at) + "\r\nFrom: Hone <" + from + ">\r\nTo: ";
    for (size_t i = 0; i < to.size(); ++i) out += (i == 0 ? "<" : ",\r\n <") + to[i] + ">";
    const std::string domain = from.substr(from.find('@') + 1);
    out += "\r\nSubject: " + header_text("[Hone] " + message.title) + "\r\nMessage-ID: <" + message.delivery_id + "@" +
           domain +
           ">\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
           "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n";
    // Base64 has no dots, no bare line breaks and no long lines: nothing in a text can end the mail.
    const std::string encoded = to_base64(plain_text(message) + "\n");
    for (size_t at = 0; at < encoded.size(); at += 76) out += encoded.substr(at, 76) + "\r\n";
    return out;
}

} // namespace hone::notice
