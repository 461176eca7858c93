#include "skill/types.h"

namespace hone::skill {

namespace {

constexpr std::string_view github_token_names[] = {"GITHUB_TOKEN", "GITEA_TOKEN", "FORGEJO_TOKEN"};
constexpr std::string_view github_url_names[] = {"GITHUB_SERVER_URL", "GITEA_URL"};
constexpr std::string_view datadog_api_names[] = {"DATADOG_API_KEY"};
constexpr std::string_view datadog_app_names[] = {"DATADOG_APP_KEY", "DD_APPLICATION_KEY"};
constexpr std::string_view datadog_site_names[] = {"DATADOG_SITE", "DD_HOST"};
constexpr std::string_view dynatrace_token_names[] = {"DYNATRACE_API_TOKEN", "DT_TOKEN", "DT_PLATFORM_TOKEN"};
constexpr std::string_view dynatrace_url_names[] = {"DT_ENVIRONMENT", "DYNATRACE_URL", "DT_URL"};
constexpr std::string_view dynatrace_schemes[] = {"Api-Token", "Bearer"};
constexpr std::string_view model_protocols[] = {"anthropic", "openai", "gemini"};
constexpr std::string_view model_key_names[] = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY",
                                                "GOOGLE_API_KEY"};
constexpr std::string_view model_url_names[] = {"ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OPENAI_API_BASE"};
constexpr std::string_view booleans[] = {"false", "true"};

constexpr VariableType github_variables[] = {
    {"GH_TOKEN",
     true,
     true,
     "",
     "A fine-grained token with access to the repositories that workers may read. It needs no write permission: "
     "branches are pushed by Hone after review.",
     {},
     github_token_names},
    {"GITHUB_URL",
     false,
     false,
     "https://github.com",
     "Address of the forge: github.com, a GitHub Enterprise Server, Gitea or Forgejo.",
     {},
     github_url_names},
};
constexpr BindingType github_bindings[] = {
    {"GH_TOKEN", "https://api.github.com/", "authorization", "Bearer {}", "", "GITHUB_URL=https://github.com"},
    {"GH_TOKEN", "https://uploads.github.com/", "authorization", "Bearer {}", "", "GITHUB_URL=https://github.com"},
    {"GH_TOKEN", "https://github.com/", "authorization", "Basic x-access-token:{}", "",
     "GITHUB_URL=https://github.com"},
    {"", "https://codeload.github.com/", "", "", "GET HEAD", "GITHUB_URL=https://github.com"},
    {"", "https://raw.githubusercontent.com/", "", "", "GET HEAD", "GITHUB_URL=https://github.com"},
    {"", "https://objects.githubusercontent.com/", "", "", "GET HEAD", "GITHUB_URL=https://github.com"},
    {"GH_TOKEN", "{GITHUB_URL}/api", "authorization", "token {}", "", "GITHUB_URL!=https://github.com"},
    {"GH_TOKEN", "{GITHUB_URL}/", "authorization", "Basic x-access-token:{}", "", "GITHUB_URL!=https://github.com"},
};

constexpr VariableType hone_variables[] = {
    {"HONE_API_KEY", true, true, "",
     "An API key of this installation. The run may then do what this key may do, beside reading its own project."},
};

constexpr VariableType datadog_variables[] = {
    {"DD_API_KEY", true, true, "", "API key of the organisation.", {}, datadog_api_names},
    {"DD_APP_KEY", true, true, "", "Application key; give it only the scopes for reading.", {}, datadog_app_names},
    {"DD_SITE",
     false,
     false,
     "datadoghq.com",
     "Site of the organisation, such as datadoghq.eu.",
     {},
     datadog_site_names},
};
constexpr BindingType datadog_bindings[] = {
    {"DD_API_KEY", "https://api.{DD_SITE}/", "dd-api-key", "{}"},
    {"DD_APP_KEY", "https://api.{DD_SITE}/", "dd-application-key", "{}"},
};

constexpr VariableType dynatrace_variables[] = {
    {"DT_API_TOKEN",
     true,
     true,
     "",
     "An access token with scopes for reading (metrics.read, logs.read, …).",
     {},
     dynatrace_token_names},
    {"DT_ENVIRONMENT_URL",
     false,
     true,
     "",
     "Address of the environment: https://abc12345.live.dynatrace.com.",
     {},
     dynatrace_url_names},
    {"DT_AUTH_SCHEME", false, false, "Api-Token", "Api-Token for access tokens, Bearer for platform tokens.",
     dynatrace_schemes},
};
constexpr BindingType dynatrace_bindings[] = {
    {"DT_API_TOKEN", "{DT_ENVIRONMENT_URL}/", "authorization", "Api-Token {}", "", "DT_AUTH_SCHEME=Api-Token"},
    {"DT_API_TOKEN", "{DT_ENVIRONMENT_URL}/", "authorization", "Bearer {}", "", "DT_AUTH_SCHEME=Bearer"},
};

constexpr VariableType model_variables[] = {
    {"PROTOCOL", false, true, "anthropic", "What the endpoint speaks: anthropic, openai or gemini.", model_protocols},
    {"BASE_URL",
     false,
     false,
     "",
     "Address of a compatible endpoint, such as http://10.0.0.5:8000. Empty: the provider's own.",
     {},
     model_url_names},
    {"API_KEY", true, false, "", "Key of the provider. An endpoint of your own may need none.", {}, model_key_names},
    {"MODELS", false, false, "", "Models that may be used, separated by commas. Empty: any."},
    {"ALLOW_PRIVATE", false, false, "false",
     "true: the endpoint may be on a private address or without TLS. Only installation owners may set it.", booleans},
};

constexpr TypeRow table[] = {
    {SkillType::github, "GitHub", "Read repositories, issues and pull requests on GitHub, GHES, Gitea or Forgejo.",
     "The token reaches the forge's own hosts only, and never enters the sandbox.", github_variables, github_bindings},
    {SkillType::hone,
     "Hone",
     "Let a run do in Hone what an API key may do.",
     "Without this skill a run reads the traces and evals of its own project and nothing else.",
     hone_variables,
     {}},
    {SkillType::datadog, "Datadog", "Query metrics, logs and monitors beside the traces.",
     "Both keys go to the API host of the chosen site only.", datadog_variables, datadog_bindings},
    {SkillType::dynatrace, "Dynatrace", "Query metrics, logs and problems beside the traces.",
     "The token goes to the environment's own host only.", dynatrace_variables, dynatrace_bindings},
    {SkillType::model,
     "Model",
     "A model provider, or an endpoint of your own that speaks like one.",
     "Workers call Hone's model gateway, which adds the key, counts tokens and holds budgets.",
     model_variables,
     {}},
    {SkillType::custom,
     "Custom",
     "A folder with a SKILL.md, with variables and hosts of your own.",
     "Upload the folder or name a git repository; declare each variable and where its secret may go.",
     {},
     {}},
};
static_assert(std::size(table) == enum_names(SkillType{}).size());

constexpr ModelProtocol protocols[] = {
    {"anthropic", "https://api.anthropic.com", "x-api-key", "{}"},
    {"openai", "https://api.openai.com", "authorization", "Bearer {}"},
    {"gemini", "https://generativelanguage.googleapis.com", "x-goog-api-key", "{}"},
};

} // namespace

std::span<const TypeRow> type_table() {
    return table;
}

const TypeRow& type_row(SkillType type) {
    return table[static_cast<size_t>(type)];
}

const ModelProtocol* find_model_protocol(std::string_view name) {
    for (const auto& protocol : protocols)
        if (protocol.name == name) return &protocol;
    return nullptr;
}

} // namespace hone::skill
