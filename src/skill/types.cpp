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
     "A fine-grained token that can read the repositories of the runs. Workers use it for reading only; without "
     "GH_DELIVERY_TOKEN Hone also pushes reviewed branches and opens pull requests with it.",
     {},
     github_token_names},
    {"GITHUB_URL",
     false,
     false,
     "https://github.com",
     "Address of the forge: github.com, a GitHub Enterprise Server, Gitea or Forgejo.",
     {},
     github_url_names},
    {"GH_DELIVERY_TOKEN",
     true,
     false,
     "",
     "A token that Hone alone uses: to fetch repositories, push reviewed branches and open pull requests. No sandbox "
     "can "
     "use it, not even through the broker.",
     {},
     {},
     Audience::delivery},
    {"GITHUB_REPOSITORIES", false, false, "",
     "Repositories that workers can read besides those of their run, separated by commas: team/shop, team/*, or * for "
     "every repository that the token can read."},
    {"GITHUB_WRITES", false, false, "",
     "Requests beyond reading that workers can send to the API, separated by commas: POST /repos/team/shop/issues. "
     "What "
     "they write there is not reviewed."},
};
constexpr std::string_view on_github = "GITHUB_URL=https://github.com";
constexpr std::string_view elsewhere = "GITHUB_URL!=https://github.com";
constexpr std::string_view basic_token = "Basic x-access-token:{}";
constexpr std::string_view reading = "GET HEAD";
// Workers read: GET, HEAD, and the POST with which git fetches. GraphQL is one address for reading and writing of
// everything, so it is not here. Delivery has the whole forge.
constexpr BindingType github_bindings[] = {
    {"GH_TOKEN", "https://api.github.com/repos/{REPOSITORY}", "authorization", "Bearer {}", reading, on_github},
    {"GH_TOKEN", "https://github.com/{REPOSITORY}", "authorization", basic_token, reading, on_github},
    {"GH_TOKEN", "https://github.com/{REPOSITORY}.git", "authorization", basic_token, reading, on_github},
    {"GH_TOKEN", "https://github.com/{REPOSITORY}/git-upload-pack", "authorization", basic_token, "POST", on_github},
    {"GH_TOKEN", "https://github.com/{REPOSITORY}.git/git-upload-pack", "authorization", basic_token, "POST",
     on_github},
    {"", "https://codeload.github.com/", "", "", reading, on_github},
    {"", "https://raw.githubusercontent.com/", "", "", reading, on_github},
    {"", "https://objects.githubusercontent.com/", "", "", reading, on_github},
    {"GH_TOKEN", "{GITHUB_URL}/api/v1/repos/{REPOSITORY}", "authorization", "token {}", reading, elsewhere},
    {"GH_TOKEN", "{GITHUB_URL}/api/v3/repos/{REPOSITORY}", "authorization", "token {}", reading, elsewhere},
    {"GH_TOKEN", "{GITHUB_URL}/{REPOSITORY}/info/refs", "authorization", basic_token, reading, elsewhere},
    {"GH_TOKEN", "{GITHUB_URL}/{REPOSITORY}.git/info/refs", "authorization", basic_token, reading, elsewhere},
    {"GH_TOKEN", "{GITHUB_URL}/{REPOSITORY}/git-upload-pack", "authorization", basic_token, "POST", elsewhere},
    {"GH_TOKEN", "{GITHUB_URL}/{REPOSITORY}.git/git-upload-pack", "authorization", basic_token, "POST", elsewhere},
    {"GH_DELIVERY_TOKEN", "https://api.github.com/", "authorization", "Bearer {}", "", on_github, Audience::delivery},
    {"GH_DELIVERY_TOKEN", "https://uploads.github.com/", "authorization", "Bearer {}", "", on_github,
     Audience::delivery},
    {"GH_DELIVERY_TOKEN", "https://github.com/", "authorization", basic_token, "", on_github, Audience::delivery},
    {"GH_DELIVERY_TOKEN", "{GITHUB_URL}/api", "authorization", "token {}", "", elsewhere, Audience::delivery},
    {"GH_DELIVERY_TOKEN", "{GITHUB_URL}/", "authorization", basic_token, "", elsewhere, Audience::delivery},
};

constexpr VariableType hone_variables[] = {
    {"HONE_API_KEY", true, true, "",
     "A personal API key of the person who starts the runs. Requests to the gateway that carry its placeholder read "
     "what "
     "the key can read; they never write. Runs of other people cannot use it."},
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
    {"PROTOCOL", false, true, "anthropic", "Protocol of the endpoint: anthropic, openai or gemini.", model_protocols},
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
    {"PRICES", false, false, "",
     "Prices of this endpoint's models in US dollars per million tokens, separated by commas: MODEL INPUT OUTPUT "
     "[CACHE_READ [CACHE_WRITE]]. They win over the installation's price table; 0 0 for a model that costs nothing."},
    {"ALLOW_FEATURES", false, false, "",
     "What requests may use beyond text, images and the worker's own tools, separated by commas: url_sources, "
     "web_search, web_fetch, mcp_servers, computer_use, code_execution, files, stored_state, background, "
     "image_generation, "
     "priority, or beta:NAME for a beta header."},
};

constexpr ModelFeature features[] = {
    {"url_sources",
     "The provider fetches images and documents from addresses that the worker chooses: data can leave in "
     "the address, whatever the network mode is."},
    {"web_search", "The provider searches the web with words that the worker chooses."},
    {"web_fetch", "The provider fetches addresses that the worker chooses: data can leave in the address, whatever the "
                  "network mode is."},
    {"mcp_servers",
     "The provider connects to MCP servers that the worker chooses and sends them what the model decides."},
    {"computer_use", "The model is offered the provider's computer tools."},
    {"code_execution", "The provider runs code of the worker in its own containers."},
    {"files",
     "Requests can name files and prompts that are stored with the provider, also those of others with the same "
     "key."},
    {"stored_state", "Requests can name, and leave, conversations that are stored with the provider."},
    {"background", "Requests can continue after the run has ended; their cost is not counted."},
    {"image_generation", "The model can make images; their cost is not in the price table."},
    {"priority", "Requests can use a faster tier that costs more than the price table."},
};

constexpr TypeRow table[] = {
    {SkillType::github, "GitHub", "Read repositories, issues and pull requests on GitHub, GHES, Gitea or Forgejo.",
     "Workers read the repositories of their run. The token never enters the sandbox; writing is done by Hone after "
     "review.",
     github_variables, github_bindings},
    {SkillType::hone,
     "Hone",
     "Let a run read in Hone what an API key of its starter can read.",
     "Without this skill a run reads the traces and evals of its own project, saves its own outputs, and nothing else.",
     hone_variables,
     {}},
    {SkillType::datadog, "Datadog", "Query metrics, logs and monitors beside the traces.",
     "Both keys go to the API host of the chosen site only.", datadog_variables, datadog_bindings},
    {SkillType::dynatrace, "Dynatrace", "Query metrics, logs and problems beside the traces.",
     "The token goes to the environment's own host only.", dynatrace_variables, dynatrace_bindings},
    {SkillType::model,
     "Model",
     "A model provider, or your own endpoint with the same protocol.",
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

std::span<const ModelFeature> model_features() {
    return features;
}

const ModelProtocol* find_model_protocol(std::string_view name) {
    for (const auto& protocol : protocols)
        if (protocol.name == name) return &protocol;
    return nullptr;
}

} // namespace hone::skill
