#include "cli/commands/team/version.h"

#include "cli/remote/view.h"

namespace hone::cli {

const char* program_version() {
    return HONE_VERSION;
}

namespace {

Result<> version(Context& context) {
    const std::string& url = context.remote.target().url;
    json::Object shown{{"client", program_version()}, {"url", url}, {"server", nullptr}};
    auto info = context.remote.get("/v1/server");
    std::string server;
    if (info.ok() && info.value().is_object()) {
        json::Object known;
        for (const auto* field : {"version", "schema_version", "database", "started_at"})
            if (const auto* value = info.value().get_object().if_contains(field)) known[field] = *value;
        server = text_of(info.value(), "version") + " at " + url;
        shown["server"] = std::move(known);
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
             .needs = Needs::server,
             .run = version},
            {.path = "licenses",
             .summary = "List the libraries that are part of Hone, and their licenses.",
             .run = licenses}};
}

} // namespace hone::cli
