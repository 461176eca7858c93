#include "cli/commands/team/version.h"

#include "base/text.h"
#include "cli/remote/view.h"

namespace hone::cli {

const char* program_version() {
    return HONE_VERSION;
}

namespace {

// Whether "0.9.1" comes before "0.10.0". What is not a number counts as 0.
bool is_older(std::string_view one, std::string_view other) {
    const auto numbers = [](std::string_view text) {
        std::vector<int64_t> parts;
        for (const std::string_view part : split(text, '.')) {
            const auto number = parse_integer(part);
            parts.push_back(number.ok() ? number.value() : 0);
        }
        return parts;
    };
    return numbers(one) < numbers(other);
}

// What a comparison shows, without a request to another server.
std::string upgrade_notice(const json::Value& info) {
    const auto* replaced = info.get_object().if_contains("program_replaced");
    if (replaced && replaced->is_bool() && replaced->get_bool())
        return "The server's program on the disk was replaced: restart the server to complete the upgrade.";
    const std::string server = text_of(info, "version");
    if (is_older(server, program_version())) return "The server is older than this program: upgrade the server.";
    if (is_older(program_version(), server)) return "This program is older than the server: upgrade it.";
    return "";
}

Result<> version(Context& context) {
    const std::string& url = context.remote.target().url;
    json::Object shown{{"client", program_version()}, {"url", url}, {"server", nullptr}};
    std::string notice;
    auto info = context.remote.get("/v1/server");
    std::string server;
    if (info.ok() && info.value().is_object()) {
        json::Object known;
        for (const auto* field : {"version", "program_replaced", "schema_version", "database", "started_at"})
            if (const auto* value = info.value().get_object().if_contains(field)) known[field] = *value;
        server = text_of(info.value(), "version") + " at " + url;
        shown["server"] = std::move(known);
        notice = upgrade_notice(info.value());
    } else if (context.explanation.exit == Exit::unauthorized) {
        server = "at " + url + "; log in to see its version: hone login";
    } else {
        server = "not reached at " + url;
    }
    context.explanation = {}; // the client's own version is what was requested; a server is optional
    if (context.json()) {
        print_json(context, shown);
        return {};
    }
    context.print(std::string("hone ") + program_version());
    context.print("server " + server);
    if (!notice.empty()) context.print(notice);
    return {};
}

Result<> licenses(Context& context) {
    const Items items = TRY(context.remote.list_whole("/v1/licenses", {}));
    if (context.json()) {
        print_json(context, items.items);
        return {};
    }
    for (const json::Value& each : items.items)
        context.print(text_of(each, "name") + ": " + text_of(each, "license") + " (" + text_of(each, "purpose") + ")");
    return {};
}

} // namespace

std::vector<Command> version_commands() {
    return {{.path = "version",
             .summary = "Show the version of this program and of the server.",
             .details =
                 "No request is sent elsewhere: newer versions are announced where your packages come from. Compare a "
                 "package before an upgrade: dpkg-deb -f hone_*.deb Version",
             .needs = Needs::server,
             .run = version},
            {.path = "licenses",
             .summary = "List the libraries that are part of Hone, and their licenses.",
             .run = licenses}};
}

} // namespace hone::cli
