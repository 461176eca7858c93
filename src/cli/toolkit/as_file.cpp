#include "cli/toolkit/as_file.h"

#include "base/file.h"
#include "base/text.h"
#include "cli/terminal/display.h"
#include "cli/toolkit/input.h"
#include "cli/toolkit/scope.h"
#include "cli/toolkit/yaml.h"

#include <algorithm>

namespace hone::cli {

namespace {

constexpr size_t largest_file = 1 << 20;

// The same, whether a number is written 5 or 5.0, and whether what is not set is absent or null.
bool same_value(const json::Value& one, const json::Value& other) {
    if (one.is_number() && other.is_number()) return one.to_number<double>() == other.to_number<double>();
    if (one.is_array() && other.is_array())
        return std::equal(one.get_array().begin(), one.get_array().end(), other.get_array().begin(),
                          other.get_array().end(), same_value);
    if (!one.is_object() || !other.is_object()) return one == other;
    const auto covers = [](const json::Object& wide, const json::Object& narrow) {
        return std::all_of(narrow.begin(), narrow.end(), [&](const auto& entry) {
            const json::Value* there = wide.if_contains(entry.key());
            return there == nullptr ? entry.value().is_null() : same_value(*there, entry.value());
        });
    };
    return covers(one.get_object(), other.get_object()) && covers(other.get_object(), one.get_object());
}

// Whether the server already has all that a file contains.
bool is_unchanged(const json::Object& file, const json::Object& there) {
    return std::all_of(file.begin(), file.end(), [&](const auto& entry) {
        const json::Value* old = there.if_contains(entry.key());
        return old != nullptr && same_value(*old, entry.value());
    });
}

bool wants_json(const Context& context, const std::string& file) {
    if (const auto format = context.parsed.value("--format")) return *format == "json";
    return file.ends_with(".json") || (context.json() && (file.empty() || file == "-"));
}

} // namespace

Result<json::Value> read_value_file(const Context& context, const std::string& file) {
    Input input = TRY(Input::open(context, file));
    const std::string text = TRY(input.read_all(largest_file));
    const bool is_json = file.ends_with(".json") || trim(text).starts_with('{');
    auto parsed = is_json ? json::parse(text) : parse_yaml(text);
    if (!parsed.ok())
        return context.fail(Exit::usage, file + " is not " + (is_json ? "JSON: " : "YAML: ") + parsed.error().message);
    return parsed;
}

Result<json::Object> read_form(const Context& context, const FileKind& kind, const std::string& file) {
    const json::Value value = TRY(read_value_file(context, file));
    const std::string name(kind.name);
    if (!value.is_object() || !value.get_object().contains(kind.marker))
        return context.fail(Exit::usage, file + " is no " + name + ": it has no \"" + std::string(kind.marker) + "\"",
                            "hone " + name + " export prints an example");
    return kind.form(value);
}

Result<> export_as_file(const Context& context, const FileKind& kind, const json::Value& there) {
    const json::Object form = kind.form(there);
    const std::string file = context.value_or_empty("--output");
    const std::string text = wants_json(context, file) ? safe_json(json::print_pretty(form)) : print_yaml(form);
    if (file.empty() || file == "-") {
        context.console.print(text);
        return {};
    }
    TRY(write_file(file, text, 0644));
    return show_done(context, json::Object{{"file", file}}, "Wrote " + file + ".");
}

Result<> apply_file(const Context& context, const FileKind& kind, json::Object form,
                    const std::function<std::string(const json::Value&)>& created) {
    const std::string name = text_of(form, "name");
    const std::string what(kind.name);
    if (name.empty()) return context.usage("the " + what + " has no \"name\"");
    auto before = kind.find(context, form);
    if (!before.ok() && before.error().code != Code::not_found) return before.error();
    if (!before.ok()) {
        context.explanation = {};
        const json::Value made =
            TRY(context.remote.post(std::string(kind.create_path), std::move(form), space_query(context)));
        return show_done(context, made, "Created " + what + " " + name + "." + (created ? created(made) : ""));
    }
    const std::string title = static_cast<char>(what[0] - 'a' + 'A') + what.substr(1) + " " + name;
    if (is_unchanged(form, kind.form(before.value())))
        return show_done(context, before.value(), title + " is unchanged.");
    for (const std::string_view field : kind.fixed) form.erase(field);
    const json::Value changed = TRY(context.remote.call({.method = "PATCH",
                                                         .path = kind.path(before.value()),
                                                         .query = space_query(context),
                                                         .body = std::move(form)}))
                                    .data;
    // What a file leaves out has its default: only the server knows whether that is a change.
    const int64_t version = number_of(changed, "version");
    if (version == 0) return show_done(context, changed, "Changed " + what + " " + name + ".");
    const bool same = version == number_of(before.value(), "version");
    return show_done(context, changed,
                     title + (same ? " is unchanged." : " is now version " + std::to_string(version) + "."));
}

std::vector<Option> export_options() {
    return {
        {.name = "--output", .value = "FILE", .doc = "File to write. Default: standard output.", .short_name = "-o"},
        {.name = "--format",
         .value = "FORMAT",
         .doc = "Format of the file. Default: yaml, or json if the file name ends in .json.",
         .choices = {"yaml", "json"}}};
}

Argument file_argument() {
    return {.name = "FILE", .doc = "YAML or JSON file, as export writes it; - is standard input."};
}

} // namespace hone::cli
