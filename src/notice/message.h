// A notice as it leaves: the JSON of a webhook, the JSON of a Slack-compatible hook, the text of a mail; services.h has
// the others. Pure functions. Texts of a notice may come from traces: they go in as data, escaped for where they go.
// Any thread.
#pragma once

#include "notice/delivery.h"

namespace hone::notice {

struct Message {
    std::string delivery_id;
    std::string notice_id;
    std::string kind; // a Kind's name, or "test"
    std::string title;
    std::string body;
    std::string url;  // whole address of the page; empty when there is none
    std::string link; // its path
    std::string space_id;
    std::string space;
    std::string project_id; // empty: the whole space
    std::string project;
    Time created_at{};
    std::string message_template; // empty: the usual text
};

// "{{title}}, {{project}}": the variables that a template may have; an unknown one is an error that names it.
Result<> check_template(std::string_view text);
// The message as plain text: by its template, or title, body and address on lines of their own.
std::string plain_text(const Message& message);

// One message for all of them, oldest first: a line of text for each (or its template), the same ones counted. `url` is
// the page with all notices.
Message digest_of(const std::vector<Message>& messages, std::string url, Time now);

std::string webhook_body(const Message& message);
// {"text": …}; <, > and & are escaped as Slack wants it, so that a trace's text cannot mention people or make links.
std::string slack_body(const Message& message);
// Headers and body with CRLF lines, without the final dot; `from` and `to` are checked addresses.
std::string mail(const Message& message, const std::string& from, const std::vector<std::string>& to);

} // namespace hone::notice
