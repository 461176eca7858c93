// The models that a provider offers, for people who choose one. The request goes where model calls go, with the same
// credential, proxy, authorities and checks of addresses. Blocks; thread-safe.
#pragma once

#include "broker/wire/dial.h"
#include "skill/grant.h"

#include <string>
#include <string_view>
#include <vector>

namespace hone::broker {

struct ListedModel {
    std::string name;  // as requests name it
    std::string title; // empty: the provider has none
};

// `key` may be empty. The text of an error never contains it.
Result<std::vector<ListedModel>> list_models(const Dialer& dialer, const skill::ModelEndpoint& endpoint,
                                             std::string_view key, const Cancel& cancel);

// The body of a provider's response. Pure.
Result<std::vector<ListedModel>> read_model_list(std::string_view protocol, std::string_view body);

} // namespace hone::broker
