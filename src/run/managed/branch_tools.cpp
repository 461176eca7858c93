#include "run/managed/branch_tools.h"

#include "base/text.h"
#include "json/path.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::run {

namespace {

constexpr std::string_view tool_name = "save_branch";
constexpr std::string_view usual_branch = "work";
constexpr std::string_view bundle_end = ".bundle";
constexpr std::string_view patch_end = ".patch";
constexpr std::string_view bundle_begin = "# v"; // with the number of its version
constexpr size_t largest_patch = 5 << 20;

json::Object text_property(std::string_view description) {
    return json::Object{{"type", "string"}, {"description", description}};
}

json::Object save_branch_tool(const std::vector<RepoSettings>& repos) {
    std::vector<std::string> names;
    for (const RepoSettings& repo : repos) names.push_back(repository_name(repo.url));
    const std::string description = fmt::format(
        "Save a change of code as a branch for review; pushing is not possible. People review it, and Hone opens the "
        "pull request. Repositories: {}. Commit the change, then send the output of git format-patch --stdout "
        "--base=BASE BASE..HEAD, where BASE is the commit that was cloned. A later call with the same branch replaces "
        "it: send the whole change again. For large changes write a bundle instead: git bundle create "
        "/mnt/session/outputs/{}.bundle BASE..BRANCH.",
        fmt::join(names, ", "), names.front());
    return json::Object{
        {"type", "custom"},
        {"name", tool_name},
        {"description", description},
        {"input_schema",
         json::Object{
             {"type", "object"},
             {"properties",
              json::Object{{"patch", text_property("Output of git format-patch --stdout, or a diff.")},
                           {"repository", text_property("Its name; can be left out when there is one.")},
                           {"branch", text_property("Name of the branch; work if it is left out.")},
                           {"message", text_property("Message of the commit when the patch is a diff.")},
                           {"base64", text_property("A git bundle or a patch in base64, instead of patch.")}}}}}};
}

// The usual alphabet and the one for URLs, with or without padding.
Result<std::string> decode_base64(std::string_view text) {
    std::string letters;
    for (const char c : text)
        if (c != '=' && c != '\n' && c != '\r') letters += c == '+' ? '-' : c == '/' ? '_' : c;
    auto bytes = from_base64url(letters);
    if (!bytes.ok()) return invalid("base64 is not valid");
    return bytes;
}

std::string file_stem(const std::string& name, std::string_view end) {
    return name.substr(0, name.size() - end.size());
}

} // namespace

std::string repository_name(const std::string& url) {
    std::string name = url.substr(url.find_last_of('/') + 1);
    if (name.ends_with(".git")) name.resize(name.size() - 4);
    return name;
}

Result<RepoSettings> choose_repository(const std::vector<RepoSettings>& repos, std::string_view name) {
    std::vector<std::string> names;
    const RepoSettings* found = nullptr;
    for (const RepoSettings& repo : repos) {
        const bool is_named =
            repo.url == name || repository_name(repo.url) == name || repo.url.ends_with("/" + std::string(name));
        if (repos.size() == 1 && (name.empty() || is_named)) return repo;
        names.push_back(repo.url);
        if (!is_named || name.empty()) continue;
        if (found != nullptr) return invalid("two repositories have this name; give the address of one of them");
        found = &repo;
    }
    if (found == nullptr) return invalid(fmt::format("repository: one of {}", fmt::join(names, ", ")));
    return *found;
}

bool is_bundle(std::string_view name) {
    return name.ends_with(bundle_end);
}

std::optional<std::string> branch_of_file(const std::vector<RepoSettings>& repos, const std::string& name,
                                          std::string_view content) {
    const bool is_patch = name.ends_with(patch_end);
    if (repos.empty() || (!is_patch && !is_bundle(name))) return std::nullopt;
    std::string stem = file_stem(name, is_patch ? patch_end : bundle_end);
    json::Object input;
    for (const RepoSettings& repo : repos) {
        const std::string own = repository_name(repo.url);
        if (stem != own && !stem.starts_with(own + ".")) continue;
        input["repository"] = own;
        stem = stem == own ? std::string() : stem.substr(own.size() + 1);
        break;
    }
    if (is_patch && !stem.empty()) input["branch"] = stem; // a bundle names its own
    input["base64"] = to_base64(content);
    return json::print(input);
}

Result<json::Array> BranchTools::list() {
    json::Array tools = TRY(m_others->list());
    tools.push_back(save_branch_tool(m_parts.repos));
    return tools;
}

Result<managed::ToolReply> BranchTools::call(const std::string& name, const std::string& input) {
    if (name != tool_name) return m_others->call(name, input);
    const auto saved = save(input);
    if (saved.ok()) return managed::ToolReply{saved.value(), false};
    return managed::ToolReply{saved.error().message, true};
}

Result<std::string> BranchTools::save(const std::string& input) const {
    const json::Value arguments = TRY(json::parse(input));
    const auto text = [&](std::string_view key) { return json::text_at(arguments, {key}); };
    const RepoSettings repo = TRY(choose_repository(m_parts.repos, text("repository")));
    std::string bytes = TRY(decode_base64(text("base64")));
    if (bytes.empty()) bytes = text("patch");
    if (bytes.empty()) return invalid("patch: required, the output of git format-patch --stdout");
    forge::Offer offer;
    if (bytes.starts_with(bundle_begin)) {
        offer.bundle = std::move(bytes);
    } else {
        if (bytes.size() > largest_patch)
            return too_large(fmt::format("a patch has at most {} MiB; write a bundle instead", largest_patch >> 20));
        offer.patch = {std::move(bytes), text("branch"), text("message")};
        if (offer.patch.branch.empty()) offer.patch.branch = usual_branch;
    }
    return m_parts.supply.receive({m_parts.space, m_parts.run.text(), repo.url, *repo.ref, m_parts.skills, m_stopped},
                                  offer);
}

} // namespace hone::run
