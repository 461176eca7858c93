// What a model request may hold. A model provider is a server with a network of its own: a request can ask it to fetch
// an address, to connect to a server, to read a stored file or to continue in the background, whatever the run's
// network mode is. So every field, tool and content of a request must be one that is known to stay between worker and
// provider; all others are refused, unless the model skill opts in by name (ALLOW_FEATURES, skill/types.h). Pure: any
// thread.
#pragma once

#include "broker/spending/usage.h"
#include "broker/wire/http_head.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

// Content of a request that its size does not show.
struct ModelContent {
    int64_t images = 0;
    int64_t documents = 0;
    bool says_store = false; // responses: the field `store` is there
};

// Errors: forbidden = a field, tool or content that is not allowed; invalid = it could be read in two ways.
Result<ModelContent> check_model_request(ModelApi api, std::string_view body, std::span<const std::string> features);

// Whether a model searches the web without a tool in the request, by its name.
bool searches_by_itself(std::string_view model);
// Errors: forbidden = such a model, and the feature web_search is not allowed.
Result<> check_model_name(std::string_view model, std::span<const std::string> features);

// The request's headers as the provider gets them: only those that are known, betas only where they are known or
// allowed. Errors: forbidden = a beta that is neither.
Result<std::vector<Header>> model_headers(const std::vector<Header>& headers, std::span<const std::string> features);

} // namespace hone::broker
