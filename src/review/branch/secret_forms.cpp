#include "review/branch/secret_forms.h"

#include <cstddef>

namespace hone::review {

namespace {

// Deliberately few: a false alarm stops a person's work.
struct SecretForm {
    std::string_view prefix;
    size_t least_length; // of what follows
    std::string_view what;
};
constexpr SecretForm secret_forms[] = {
    {"ghp_", 36, "a GitHub token"},
    {"gho_", 36, "a GitHub token"},
    {"ghs_", 36, "a GitHub token"},
    {"github_pat_", 40, "a GitHub token"},
    {"glpat-", 20, "a GitLab token"},
    {"sk-ant-", 30, "an Anthropic key"},
    {"sk-proj-", 30, "an OpenAI key"},
    {"sk-", 40, "an API key"},
    {"AKIA", 16, "an AWS access key"},
    {"xoxb-", 20, "a Slack token"},
    {"xoxp-", 20, "a Slack token"},
    {"AIza", 35, "a Google API key"},
    {"hone_", 40, "a Hone API key"},
    {"dt0c01.", 40, "a Dynatrace token"},
    {"npm_", 36, "an npm token"},
    {"-----BEGIN PRIVATE KEY", 0, "a private key"},
    {"-----BEGIN RSA PRIVATE KEY", 0, "a private key"},
    {"-----BEGIN EC PRIVATE KEY", 0, "a private key"},
    {"-----BEGIN OPENSSH PRIVATE KEY", 0, "a private key"},
};

bool is_token_character(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
}

} // namespace

std::string_view seeming_secret(std::string_view text) {
    for (const SecretForm& form : secret_forms)
        for (size_t at = text.find(form.prefix); at != std::string_view::npos; at = text.find(form.prefix, at + 1)) {
            if (at > 0 && is_token_character(text[at - 1])) continue;
            size_t end = at + form.prefix.size();
            while (end < text.size() && is_token_character(text[end])) ++end;
            if (end - at - form.prefix.size() >= form.least_length) return form.what;
        }
    return {};
}

} // namespace hone::review
