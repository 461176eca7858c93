// Whether a run could send a request, why, and with which secret: the broker's policy as a preset, skills and further
// hosts would make it. Nothing is sent. Any thread.
#pragma once

#include "broker/egress/explain.h"
#include "forge/catalog.h"
#include "run/settings/presets.h"
#include "skill/skills.h"

namespace hone::run {

struct ExplainRequest {
    std::string method = "GET";
    std::string url{};
    std::optional<std::string> preset{};      // id or name: its network, skills and hosts
    std::optional<broker::EgressMode> mode{}; // absent: of the preset, else allowlist
    std::vector<std::string> skills{};        // ids or names of further ones
    std::vector<std::string> allow{};         // further hosts, as in a preset
};

Result<broker::Explanation> explain(const Presets& presets, const skill::Skills& skills, const forge::Catalog& repos,
                                    const broker::PackageMirrors& mirrors, const access::Caller& caller,
                                    const access::SpaceId& space, const ExplainRequest& request);

} // namespace hone::run
