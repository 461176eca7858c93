// Things of a server that a team keeps as files in git, as YAML or JSON: `hone preset export`, `hone preset apply`, and
// the same for automations and monitors. A file holds names, not ids, and nothing that belongs to one server. One
// thread.
#pragma once

#include "cli/remote/view.h"

#include <functional>

namespace hone::cli {

struct FileKind {
    std::string_view name;                                // "preset"
    std::string_view marker;                              // the field without which a file is no such thing
    std::function<json::Object(const json::Value&)> form; // the part of a response that a file contains
    std::function<Result<json::Value>(const Context&, const json::Object&)>
        find;                                            // by the content of a file; not_found else
    std::function<std::string(const json::Value&)> path; // of one that is there
    std::string_view create_path;                        // POST here makes one
    std::vector<std::string_view> fixed = {};            // fields that cannot be changed: left out of the PATCH
};

// A file's content: JSON when it starts with a brace, else YAML. "-" is standard input.
Result<json::Value> read_value_file(const Context& context, const std::string& file);
// The same, of this kind; also what `show --json` prints will do.
Result<json::Object> read_form(const Context& context, const FileKind& kind, const std::string& file);

// Prints or writes (--output) what is there; the format is --format's, else the file's ending's, else YAML.
Result<> export_as_file(const Context& context, const FileKind& kind, const json::Value& there);
// Creates what is not there and changes what differs, so that it can be run repeatedly. `created` may add to the
// sentence about something new.
Result<> apply_file(const Context& context, const FileKind& kind, json::Object form,
                    const std::function<std::string(const json::Value&)>& created = {});

std::vector<Option> export_options();
Argument file_argument();

} // namespace hone::cli
