// Which space, which project and which time a command is about. One thread.
#pragma once

#include "cli/remote/context.h"
#include "cli/remote/remote.h"

namespace hone::cli {

// The --space option as a query parameter.
Query space_query(const Context& context);
// A request in that space, and its response.
Result<json::Value> send_in_space(const Context& context, std::string method, std::string path,
                                  std::optional<json::Value> body = {});
// The --space option, else the space of the API key.
Result<std::string> current_space(const Context& context);
// The PROJECT argument; with --space a name is looked up there, since some routes take no space.
Result<std::string> wanted_project(const Context& context);
// An option that is a time as it is, or a duration as that long ago; empty when it is absent.
Result<std::string> moment(const Context& context, std::string_view option);

// What the commands about traces share: --project (HONE_PROJECT, else the space's only one) and which of its spans.
Option project_option();
std::vector<Option> span_options(); // project, filter, after, before
// Id or name.
Result<std::string> span_project(const Context& context);
// "/v1/projects/<project>/<rest>"
Result<std::string> span_path(const Context& context, const std::vector<std::string>& rest);
// space, filter, after and before.
Result<Query> span_query(const Context& context);

// --provider, with its choices.
Option provider_option(std::string_view doc);

// For routes that take ids only: what looks like one ("mon_…") as it is, else the one of the space with this name.
Result<std::string> id_by_name(const Context& context, const std::string& route, const std::string& prefix,
                               const std::string& what, const std::string& given);

inline constexpr std::string_view trace_topic = "Traces";

} // namespace hone::cli
