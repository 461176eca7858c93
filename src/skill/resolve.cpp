// What skills add up to: the grant of a run, the view of what they reach, the list of secrets to look after, and what
// a pasted .env would set.
#include "skill/skills.h"

#include <algorithm>

namespace hone::skill {

namespace {

using access::Caller;
using access::Permission;
using access::SpaceId;

// Model skills configure the gateway; their variables are not for the sandbox.
bool is_for_environment(SkillType type) {
    return type != SkillType::model;
}

} // namespace

// --- resolve -------------------------------------------------------------------------------------------------------

Result<std::vector<Skills::Stored>> Skills::usable(const Caller& caller, const SpaceId& space,
                                                   std::span<const std::string> skill_ids) const {
    TRY(caller.require(Permission::skill_read, space));
    if (skill_ids.size() > 50) return too_large("at most 50 skills for one run");
    std::vector<Stored> found;
    for (const auto& text : skill_ids) {
        const auto id = TRY(parse_id<SkillTag>(text));
        if (std::any_of(found.begin(), found.end(), [&](const Stored& each) { return each.id == id; })) continue;
        auto stored = TRY(load(id));
        const bool belongs = stored.scope.space ? *stored.scope.space == space : TRY(is_shared_with(id, space));
        if (!belongs) return not_found("skill " + text);
        found.push_back(std::move(stored));
    }
    return found;
}

namespace {

bool is_exposed(const std::vector<Variable>& variables, std::string_view name) {
    return std::any_of(variables.begin(), variables.end(), [&](const Variable& variable) {
        return variable.name == name && variable.exposure == Exposure::env;
    });
}

} // namespace

Result<> Skills::resolve_one(const Stored& stored, const GrantUse& use, std::map<std::string, std::string>& owners,
                             Grant& grant) const {
    const auto infos = TRY(secret_infos(stored.id));
    const auto variables = variables_of(stored.type, stored.setup);
    for (const auto& variable : variables) {
        const bool has_value = variable.secret ? infos.contains(variable.name) : !variable.value.empty();
        if (variable.required && !has_value)
            return conflict("skill " + stored.name + " is not complete: " + variable.name + " is missing (hone " +
                            (variable.secret ? "secret set " + stored.name + " " + variable.name
                                             : "skill set " + stored.name + " --var " + variable.name + "=VALUE") +
                            ")");
        if (!has_value || !is_for_environment(stored.type) || variable.audience == Audience::delivery) continue;
        if (const auto [owner, added] = owners.emplace(variable.name, stored.name); !added)
            return conflict("skills " + owner->second + " and " + stored.name + " both set " + variable.name +
                            ": use one of them");
        if (!variable.secret) grant.plain.emplace_back(variable.name, variable.value);
    }
    if (stored.setup.git && !stored.setup.folder)
        return conflict("skill " + stored.name + " is not complete: its folder was not fetched yet (hone skill fetch)");
    grant.skill_versions.push_back(stored.id.text() + "@" + std::to_string(stored.version));
    if (stored.type == SkillType::model) {
        auto endpoint = TRY(model_endpoint_of(stored.setup));
        endpoint.skill_id = stored.id.text();
        if (const auto info = infos.find("API_KEY"); info != infos.end()) {
            endpoint.secret_id = info->second.id.text();
            endpoint.secret_name = info->second.name;
        }
        grant.models.push_back(std::move(endpoint));
        return {};
    }
    const auto bindings = TRY(bindings_of(stored.type, stored.setup, use));
    for (const auto& binding : bindings)
        if (binding.variable.empty())
            for (const auto& host : binding.hosts) grant.allow.push_back(host);
    for (const auto& variable : variables) {
        auto info = infos.find(variable.name);
        // Without a token of its own delivery uses the one that workers read with.
        bool workers_see_it = variable.exposure == Exposure::env;
        if (use.audience == Audience::delivery && variable.name == "GH_DELIVERY_TOKEN" && info == infos.end()) {
            info = infos.find("GH_TOKEN");
            workers_see_it = is_exposed(variables, "GH_TOKEN");
        }
        if (!variable.secret || info == infos.end()) continue;
        if (use.audience == Audience::worker && variable.audience == Audience::delivery) continue;
        Credential credential{
            variable.name, info->second.id.text(), info->first, variable.exposure == Exposure::brokered, {}, "", "{}"};
        credential.workers_see_it = workers_see_it;
        bool any = false;
        for (const auto& binding : bindings) {
            if (binding.variable != variable.name || binding.hosts.empty()) continue;
            // A worker that has the value itself needs its hosts, but nothing is replaced there.
            if (!credential.brokered) {
                grant.allow.insert(grant.allow.end(), binding.hosts.begin(), binding.hosts.end());
                continue;
            }
            credential.hosts = binding.hosts;
            credential.header = binding.header;
            credential.format = binding.format;
            grant.credentials.push_back(credential);
            any = true;
        }
        // The placeholder is there even when no host takes it: the gateway's own API, or nothing yet.
        if (!any) grant.credentials.push_back(std::move(credential));
    }
    return {};
}

Result<Grant> Skills::resolve(const Caller& caller, const SpaceId& space, std::span<const std::string> skill_ids,
                              const GrantUse& use) const {
    Grant grant;
    std::map<std::string, std::string> owners;
    for (const auto& stored : TRY(usable(caller, space, skill_ids))) TRY(resolve_one(stored, use, owners, grant));
    return grant;
}

Result<Grant> Skills::resolve(const Caller& caller, std::span<const std::string> skill_ids) const {
    if (skill_ids.empty()) return Grant{};
    std::optional<SpaceId> space;
    for (const auto& text : skill_ids) {
        const auto id = TRY(parse_id<SkillTag>(text));
        const auto stored = TRY(permitted(caller, id, Permission::skill_read));
        if (!stored.scope.space) continue;
        if (space && *space != *stored.scope.space) return invalid("the skills belong to different spaces");
        space = stored.scope.space;
    }
    if (!space) {
        if (caller.roles.size() != 1) return invalid("space is missing: give the space in which the skills are used");
        space = caller.roles.begin()->first;
    }
    return resolve(caller, *space, skill_ids);
}

// --- reach ---------------------------------------------------------------------------------------------------------

Result<std::vector<Reach>> Skills::reach(const Caller& caller, const SpaceId& space,
                                         std::span<const std::string> skill_ids) const {
    std::vector<Reach> lines;
    for (const auto& stored : TRY(usable(caller, space, skill_ids))) {
        const auto infos = TRY(secret_infos(stored.id));
        const auto add = [&](std::string kind, std::optional<Host> host, std::string variable, std::string secret,
                             std::string header, std::string format, std::string detail) {
            lines.push_back({stored.id.text(), stored.name, std::move(kind), std::move(host), std::move(variable),
                             std::move(secret), std::move(header), std::move(format), std::move(detail)});
        };
        if (stored.type == SkillType::model) {
            const auto endpoint = TRY(model_endpoint_of(stored.setup));
            add("model", {}, "", infos.contains("API_KEY") ? "API_KEY" : "", endpoint.header, endpoint.format,
                "The model gateway calls " + endpoint.base_url + " (" + endpoint.protocol + ").");
            continue;
        }
        const auto bindings = TRY(bindings_of(stored.type, stored.setup, {Audience::worker, std::nullopt}));
        for (const auto& variable : variables_of(stored.type, stored.setup)) {
            if (!variable.secret || variable.audience == Audience::delivery) continue;
            const bool set = infos.contains(variable.name);
            const bool in_clear = variable.exposure == Exposure::env;
            if (in_clear)
                add("env", {}, variable.name, set ? variable.name : "", "", "",
                    "The worker sees the secret itself and could send it to any host it reaches.");
            if (stored.type == SkillType::hone)
                add("gateway", {}, variable.name, set ? variable.name : "", "authorization", "Bearer {}",
                    "Hone's own API, through the gateway: reading only, in runs that the key's owner starts.");
            for (const auto& binding : bindings)
                if (binding.variable == variable.name)
                    for (const auto& host : binding.hosts)
                        add(in_clear ? "open" : "brokered", Host::of(host), variable.name,
                            set && !in_clear ? variable.name : "", binding.header, binding.format,
                            set ? "" : "The secret is not set yet.");
        }
        for (const auto& binding : bindings)
            if (binding.variable.empty())
                for (const auto& host : binding.hosts) add("open", Host::of(host), "", "", "", "", "");
    }
    return lines;
}

// --- hygiene -------------------------------------------------------------------------------------------------------

Result<std::vector<SecretRow>> Skills::secrets(const Caller& caller, const SpaceId& space) const {
    access::PageRequest page;
    page.limit = access::largest_page;
    const auto skills = TRY(list(caller, space, {}, page));
    std::vector<SecretRow> rows;
    for (const auto& skill : skills.data) {
        const auto infos = TRY(secret_infos(skill.id));
        for (const auto& variable : skill.variables) {
            const auto info = infos.find(variable.name);
            if (info == infos.end()) continue;
            rows.push_back({info->second.id, variable.name, skill.id, skill.name, skill.type, skill.scope,
                            variable.exposure.value_or(Exposure::brokered), info->second.created_by,
                            info->second.created_at, info->second.set_at, info->second.last_used_at, variable.reminders,
                            static_cast<int64_t>(skill.used_by.size())});
        }
    }
    // Those with reminders first, then the oldest.
    std::stable_sort(rows.begin(), rows.end(), [](const SecretRow& a, const SecretRow& b) {
        if (a.reminders.size() != b.reminders.size()) return a.reminders.size() > b.reminders.size();
        return a.set_at < b.set_at;
    });
    return rows;
}

Result<HygieneCounts> Skills::hygiene() const {
    const Time now = m_clock.now();
    const auto secrets = TRY(m_vault.counts(now - m_hygiene.old_after, now - m_hygiene.unused_after));
    HygieneCounts counts{secrets.all, secrets.old, secrets.unused, 0};
    const auto exposed = TRY(m_database.query("SELECT id, setup FROM skills WHERE setup LIKE '%\"env\"%'"));
    for (const auto& row : exposed) {
        const auto setup = json::read<Setup>(row.text(1));
        if (!setup.ok()) continue;
        const auto infos = TRY(secret_infos(SkillId(row.text(0))));
        for (const auto& [name, exposure] : setup.value().exposure)
            if (exposure == Exposure::env && infos.contains(name)) ++counts.env;
    }
    return counts;
}

// --- .env ----------------------------------------------------------------------------------------------------------

Result<EnvPreview> Skills::take_env(SkillType type, const Setup& setup, std::string_view text,
                                    std::map<std::string, std::string>& plain, Secrets& secrets) {
    auto parsed = TRY(parse_dotenv(text));
    EnvPreview preview;
    preview.problems = std::move(parsed.problems);
    const auto variables = variables_of(type, setup);
    for (auto& entry : parsed.entries) {
        const auto fits = [&](const Variable& variable) {
            return variable.name == entry.name ||
                   std::find(variable.aliases.begin(), variable.aliases.end(), entry.name) != variable.aliases.end();
        };
        const auto found = std::find_if(variables.begin(), variables.end(), fits);
        if (found == variables.end()) {
            preview.unknown.push_back(entry.name);
            continue;
        }
        if (entry.value.empty()) {
            preview.problems.push_back("line " + std::to_string(entry.line) + ": " + entry.name + " has no value");
            continue;
        }
        if (found->secret)
            secrets.insert_or_assign(found->name, std::move(entry.value));
        else
            plain.insert_or_assign(found->name, std::string(entry.value.reveal()));
        // The form of a key shows its provider.
        if (type == SkillType::model && found->name == "API_KEY" && !setup.variables.contains("PROTOCOL"))
            if (entry.name != "API_KEY" && !plain.contains("PROTOCOL"))
                plain["PROTOCOL"] = entry.name.starts_with("ANTHROPIC") ? "anthropic"
                                    : entry.name.starts_with("OPENAI")  ? "openai"
                                                                        : "gemini";
        preview.matches.push_back({entry.name, found->name, found->secret, found->is_set, entry.line});
    }
    return preview;
}

Result<EnvPreview> Skills::preview_env(const Caller& caller, const std::optional<SkillId>& id, SkillType type,
                                       std::string_view text) const {
    std::map<std::string, std::string> plain;
    Secrets secrets;
    if (!id) return take_env(type, {}, text, plain, secrets);
    return take_env(caller, *id, text, plain, secrets);
}

Result<EnvPreview> Skills::take_env(const Caller& caller, const SkillId& id, std::string_view text,
                                    std::map<std::string, std::string>& plain, Secrets& secrets) const {
    const Stored stored = TRY(permitted(caller, id, Permission::skill_write));
    const auto infos = TRY(secret_infos(id));
    auto preview = TRY(take_env(stored.type, stored.setup, text, plain, secrets));
    for (auto& match : preview.matches) match.replaces = match.replaces || infos.contains(match.variable);
    return preview;
}

} // namespace hone::skill
