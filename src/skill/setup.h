// What one version of a skill holds beside its secrets: plain values, how each secret is exposed, and for `custom` its
// own variables and hosts. `check` returns whether it is valid, `bindings_of` where its secrets may be sent. Plain
// values and pure functions, any thread.
#pragma once

#include "base/result.h"
#include "skill/grant.h"
#include "skill/types.h"
#include "json/json.h"

#include <set>

namespace hone::skill {

// brokered: the sandbox sees a placeholder; env: the value itself is in the worker's environment.
enum class Exposure { brokered, env };
constexpr auto enum_names(Exposure) {
    return std::array{EnumName{Exposure::brokered, "brokered"}, EnumName{Exposure::env, "env"}};
}

// A HostRule as the API has it.
struct Host {
    std::string host;
    json::Defaulted<int64_t> port = 443;
    json::Defaulted<bool> tls = true;
    json::Defaulted<std::vector<std::string>> methods;
    json::Defaulted<std::string> path_prefix = std::string("/");
    json::Defaulted<bool> websocket = false;
    static constexpr Pack fields{
        Field{"host", &Host::host, "Exact name, or *.example.com for every name below example.com."},
        Field{"port", &Host::port, "443 if not given."},
        Field{"tls", &Host::tls, "true if not given; a secret is never sent to a host without TLS."},
        Field{"methods", &Host::methods, "Methods such as GET; empty: all."},
        Field{"path_prefix", &Host::path_prefix,
              "Whole path segments: /v1 covers /v1/x, not /v10; * stands for any one segment."},
        Field{"websocket", &Host::websocket, "Allows the upgrade to a WebSocket."},
    };
    HostRule rule() const;
    static Host of(const HostRule& rule);
};

struct Declared {
    std::string name;
    json::Defaulted<bool> secret = false;
    json::Defaulted<bool> required = false;
    json::Defaulted<std::string> default_value;
    json::Defaulted<std::string> help;
    json::Defaulted<std::string> header;
    json::Defaulted<std::string> format = std::string("{}");
    json::Defaulted<std::vector<Host>> hosts;
    static constexpr Pack fields{
        Field{"name", &Declared::name, "Name of the environment variable."},
        Field{"secret", &Declared::secret, "Stored encrypted and never shown."},
        Field{"required", &Declared::required, ""},
        Field{"default_value", &Declared::default_value, "Default of a plain variable."},
        Field{"help", &Declared::help, ""},
        Field{"header", &Declared::header,
              "Header that carries the secret; empty: authorization, or another credential header that contains the "
              "placeholder."},
        Field{"format", &Declared::format, "Value of the header, {} for the secret: Bearer {}."},
        Field{"hosts", &Declared::hosts, "Hosts that the secret may be sent to."},
    };
};

struct GitSource {
    std::string url;
    json::Defaulted<std::string> ref;
    json::Defaulted<std::string> path;
    json::Defaulted<std::string> commit;
    // Whether both name the same place.
    bool is_place_of(const GitSource& other) const {
        return url == other.url && *ref == *other.ref && *path == *other.path;
    }
    static constexpr Pack fields{
        Field{"url", &GitSource::url, "Address of the repository: https, or file for one on the server."},
        Field{"ref", &GitSource::ref, "Branch, tag or commit; empty: the default branch."},
        Field{"path", &GitSource::path, "Folder in the repository that contains SKILL.md; empty: the top."},
        Field{"commit", &GitSource::commit,
              "Commit that the folder was fetched from; empty: not fetched yet. Set by the server only."},
    };
};

struct FolderInfo {
    std::string hash;
    std::string name;
    std::string description;
    int64_t files = 0;
    int64_t bytes = 0;
    static constexpr Pack fields{
        Field{"hash", &FolderInfo::hash, "BLAKE2b of names and contents."},
        Field{"name", &FolderInfo::name, "Name in SKILL.md."},
        Field{"description", &FolderInfo::description, "Description in SKILL.md."},
        Field{"files", &FolderInfo::files, ""},
        Field{"bytes", &FolderInfo::bytes, ""},
    };
};

struct Setup {
    std::map<std::string, std::string> variables;
    std::map<std::string, Exposure> exposure;
    std::vector<Declared> declared;
    std::vector<Host> allow;
    std::optional<GitSource> git;
    std::optional<FolderInfo> folder;
    static constexpr Pack fields{
        Field{"variables", &Setup::variables, "Values of plain variables."},
        Field{"exposure", &Setup::exposure, "Exposure of each secret; brokered if not given."},
        Field{"declared", &Setup::declared, "Variables of a custom skill."},
        Field{"allow", &Setup::allow, "Hosts of a custom skill that need no secret."},
        Field{"git", &Setup::git, "Repository that contains the skill's folder."},
        Field{"folder", &Setup::folder, "The uploaded folder."},
    };
};

// A variable of any type, with its part of the setup.
struct Variable {
    std::string name;
    bool secret = false;
    bool required = false;
    std::string default_value;
    std::string help;
    std::vector<std::string> choices;
    std::vector<std::string> aliases;
    Exposure exposure = Exposure::brokered;
    std::string value; // of a plain one: what was set, else the default
    bool is_set = false;
    Audience audience = Audience::worker;
};
std::vector<Variable> variables_of(SkillType type, const Setup& setup);

// One way of a secret: header and format, and the hosts they hold for. `variable` is empty for hosts without a secret.
struct Binding {
    std::string variable;
    std::string header;
    std::string format;
    std::vector<HostRule> hosts;
};
// For whom bindings are made.
struct GrantUse {
    Audience audience = Audience::worker;
    // Addresses of the run's repositories: bindings to a forge are narrowed to them. Nothing: not known, as when a
    // skill is shown; every repository then stands as "*/*".
    std::optional<std::vector<std::string>> repositories = std::vector<std::string>{};
};
inline GrantUse for_delivery() {
    return {Audience::delivery, std::nullopt};
}
Result<std::vector<Binding>> bindings_of(SkillType type, const Setup& setup, const GrantUse& use);
// Of a model skill, without the secret's id.
Result<ModelEndpoint> model_endpoint_of(const Setup& setup);

// Names, values, hosts and formats; errors name what to change.
Result<> check(SkillType type, const Setup& setup);
// What a person should know about a sound setup: each sentence names something that workers can do without review.
std::vector<std::string> warnings_of(SkillType type, const Setup& setup);

// Where this secret may end up, one text per way ("env" included). A change that adds one needs the secret again:
// otherwise a member who can edit a skill could send a stored secret to a host of their own.
Result<std::set<std::string>> ways_of(SkillType type, const Setup& setup, const std::string& variable);

Result<> check_variable_name(std::string_view name);

} // namespace hone::skill
