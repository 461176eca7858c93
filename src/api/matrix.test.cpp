// Every route as every kind of caller: the answer must be what the route table and the permission table say. The
// expectations come from the tables alone, not from access::Caller.
#include "api/examples.test.h"
#include "api/testing.h"

#include <map>
#include <set>

namespace hone::api::testing {

namespace {

using access::Permission;
using access::SpaceId;
using access::UserId;

std::string route_name(const Route& route) {
    return std::string(route.method) + " " + std::string(route.path);
}

// "DELETE /v1/projects/{project}/bindings/{bound}" is an example for ".../{principal}": names of parameters differ.
std::string without_names(std::string_view text) {
    std::string plain;
    bool inside = false;
    for (const char c : text) {
        if (c == '{') inside = true;
        if (!inside) plain += c;
        if (c == '}') inside = false, plain += "{}";
    }
    return plain;
}

const Example* example_of(const Route& route) {
    for (const Example& example : examples)
        if (without_names(example.route) == without_names(route_name(route))) return &example;
    return nullptr;
}

// A kind of caller: what the tables need to know of it, and how it proves who it is.
struct Who {
    std::string name;
    bool known = true; // false: its credentials count for nothing
    bool person = false;
    bool installation_owner = false;
    bool reads_only = false; // the scope of a key
    std::map<SpaceId, Role> roles{};
    std::optional<access::PermissionSet> custom{}; // of its custom role in the space, instead of the role's
    std::optional<UserId> user{};
    std::optional<std::vector<net::Header>> headers{}; // absent: a new login of `user` for each request
};

bool in_scope(const Who& who, Permission permission) {
    return !who.reads_only || name_of(permission).ends_with("_read");
}

bool holds(const Who& who, const SpaceId& space, Permission permission) {
    const auto& row = access::permission_table()[static_cast<size_t>(permission)];
    if (!in_scope(who, permission)) return false;
    if (who.installation_owner && (who.person || row.installation)) return true;
    if (who.custom && who.roles.contains(space)) return who.custom->has(permission);
    const auto found = who.roles.find(space);
    return !row.installation && found != who.roles.end() && found->second >= row.least_role;
}

bool takes_part(const Who& who, const SpaceId& space) {
    return who.roles.contains(space) || (who.installation_owner && who.person);
}

int expected_status(const Route& route, const Example& example, const Who& who, const SpaceId& space) {
    if (route.need.kind == Need::Kind::guest) return example.allowed;
    if (!who.known) return 401;
    if (route.need.kind == Need::Kind::login) return example.people_only && !who.person ? 403 : example.allowed;
    const Permission permission = route.need.permission;
    if (access::installation_permissions().has(permission))
        return holds(who, space, permission) ? example.allowed : 403;
    bool anywhere = holds(who, space, permission);
    for (const auto& [other, role] : who.roles) anywhere = anywhere || holds(who, other, permission);
    if (!anywhere) return 403;
    if (!takes_part(who, space)) return 404;
    if (!holds(who, space, permission)) return 403;
    if (example.also && !holds(who, space, *example.also)) return example.without;
    if (example.no_service_keys && !who.person && !who.user) return 403;
    return example.allowed;
}

class Matrix {
public:
    explicit Matrix(sql::Database& database) : desk(database, ApiOptions{0, 4 << 20}) {
        space = desk.world.space;
        other = desk.world.add_space("other");
        add_people();
        add_keys();
        add_shut_out();
    }

    // The request of the example, as this caller, about things made for it.
    Ask ask(const Example& example, const Who& who) {
        const size_t blank = example.route.find(' ');
        Ask made{std::string(example.route.substr(0, blank)), fill(example.route.substr(blank + 1), who),
                 fill(example.body, who), who.headers ? *who.headers : desk.session_of(*who.user)};
        if (!example.query.empty()) made.target += "?" + fill(example.query, who);
        return made;
    }

    Desk desk;
    SpaceId space, other;
    std::vector<Who> everybody;
    std::optional<access::ProjectId> only_project; // examples are about this one, not each about its own

private:
    Who person(std::string name, const SpaceId& where, Role role) {
        const auto caller = desk.world.join(where, unique() + "@example.com", role);
        return {.name = std::move(name), .person = true, .roles = {{where, role}}, .user = caller.user};
    }

    // A caller whose custom role has the permissions of a role, with some more or less.
    Who with_custom_role(std::string name, access::PermissionSet permissions) {
        Who who = person(std::move(name), space, Role::viewer);
        const auto role = must(desk.world.access.custom_roles.create(desk.world.admin, space,
                                                                     {"custom " + unique(), "", permissions.names()}));
        must(desk.world.access.spaces.set_role(desk.world.admin, space, *who.user, access::RoleChoice(role.name)));
        who.custom = permissions;
        return who;
    }

    void add_custom_roles() {
        using access::permissions_of;
        access::PermissionSet nothing, auditor = permissions_of(Role::viewer), keeper;
        nothing.add(Permission::space_read);
        auditor.add(Permission::audit_read);
        everybody.push_back(with_custom_role("custom role, only the space", nothing));
        everybody.push_back(with_custom_role("custom role, viewer with the audit log", auditor));
        for (const auto& row : access::permission_table())
            if (!row.installation && row.permission != Permission::space_delete &&
                row.permission != Permission::audit_read && row.permission != Permission::key_manage &&
                row.permission != Permission::member_manage)
                keeper.add(row.permission);
        everybody.push_back(with_custom_role("custom role, owner without four permissions", keeper));
    }

    void add_people() {
        add_custom_roles();
        everybody.push_back({.name = "guest", .known = false, .headers = std::vector<net::Header>{}});
        for (const auto& role : enum_names(Role{})) {
            everybody.push_back(person(std::string(role.name) + " of the space", space, role.value));
            everybody.push_back(person(std::string(role.name) + " of another space", other, role.value));
        }
        Who both = person("owner of another space, viewer of this", space, Role::viewer);
        const auto invite =
            must(desk.world.access.invites.create(desk.world.admin, other, user_email(*both.user), Role::owner));
        must(desk.world.access.invites.accept(World::guest(), World::token_of(invite), {}, good_password, "test"));
        both.roles[other] = Role::owner;
        everybody.push_back(both);
        Who nowhere = person("member of no space", other, Role::viewer);
        must(desk.world.access.spaces.remove_member(desk.world.admin, other, *nowhere.user));
        nowhere.roles.clear();
        everybody.push_back(nowhere);
        everybody.push_back({.name = "installation owner",
                             .person = true,
                             .installation_owner = true,
                             .roles = {{space, Role::owner}},
                             .user = desk.world.admin.user});
    }

    void add_keys() {
        for (const auto& role : enum_names(Role{}))
            for (const bool reads_only : {false, true}) {
                const auto key = desk.service_key(space, role.value, {reads_only ? "read" : "all"});
                everybody.push_back({.name = std::string(role.name) + " service key, scope " + key.scopes[0],
                                     .reads_only = reads_only,
                                     .roles = {{space, role.value}},
                                     .headers = Desk::with_key(*key.key)});
            }
        everybody.push_back({.name = "owner service key of another space",
                             .roles = {{other, Role::owner}},
                             .headers = Desk::with_key(*desk.service_key(other, Role::owner).key)});
        for (const bool reads_only : {false, true}) {
            const auto key = must(desk.world.access.keys.create(
                desk.world.admin, space, {.name = "mine", .scopes = {reads_only ? "read" : "all"}}));
            everybody.push_back({.name = "personal key of the installation owner, scope " + key.scopes[0],
                                 .installation_owner = true,
                                 .reads_only = reads_only,
                                 .roles = {{space, Role::owner}},
                                 .user = desk.world.admin.user,
                                 .headers = Desk::with_key(*key.key)});
        }
    }

    // Those who were somebody once: they must get no further than a guest.
    void add_shut_out() {
        auto& access = desk.world.access;
        const auto shut_out = [&](std::string name, std::vector<net::Header> headers) {
            everybody.push_back({.name = std::move(name), .known = false, .headers = std::move(headers)});
        };
        const auto soon = desk.world.clock.now() + std::chrono::seconds(1);
        const auto expired = desk.service_key(space, Role::owner, {"all"}, soon);
        desk.world.clock.advance(std::chrono::seconds(2));
        shut_out("expired key", Desk::with_key(*expired.key));
        const auto revoked = desk.service_key(space, Role::owner);
        must(access.keys.revoke(desk.world.admin, revoked.id));
        shut_out("revoked key", Desk::with_key(*revoked.key));
        const auto rotated = desk.service_key(space, Role::owner);
        must(access.keys.rotate(desk.world.admin, rotated.id, Duration(0)));
        shut_out("key that was rotated", Desk::with_key(*rotated.key));

        const Who leaver = person("disabled", space, Role::owner);
        const auto session = desk.session_of(*leaver.user);
        auto caller = must(access.logins.open_session(World::guest(), *leaver.user, "test")).caller;
        const auto personal = must(access.keys.create(caller, space, {.name = "of a disabled user"}));
        must(access.users.update(desk.world.admin, *leaver.user, {.disabled = true}));
        shut_out("disabled user", session);
        shut_out("personal key of a disabled user", Desk::with_key(*personal.key));

        shut_out("key nobody made", Desk::with_key("hone_" + crypto::random_token(32)));
        shut_out("cookie nobody got", {{"Cookie", "hone_session=" + crypto::random_token(32)}});
        shut_out("Authorization of another kind", {{"Authorization", "Basic YWRtaW46YWRtaW4="}});
    }

    std::string user_email(const UserId& user) { return must(desk.world.access.users.find(user)).email; }
    std::string unique() { return "n" + std::to_string(++m_made); }

    // A pushed branch that was looked into; what hangs on it. A comment is on the branch that was made just before.
    std::string make_review(std::string_view what) {
        auto& world = desk.world;
        review::Branches& branches = desk.reviews.branches;
        if (what == "comment")
            return must(desk.reviews.reviews.comment(world.admin, m_branch, {.body = "why?"})).id.text();
        const auto run = must(desk.runs.runs.start(
            world.admin, space, {.project = project().text(), .prompt = "look", .settings = testing::a_command()}));
        must(branches.pushed({space, run.id.text(), "repo_" + unique(), "shop", "hone/fix", "aa", "bb"}));
        const auto waiting = must(branches.next_pending()).value();
        review::Inspected found;
        found.title = "Fix";
        found.commits = {{"bb", "w <w@example.com>", "Fix"}};
        found.diff_text = "diff --git a/a.py b/a.py\nindex 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-a\n+b\n";
        found.diff = must(review::parse_diff(found.diff_text));
        found.patch = "From bb\n" + found.diff_text;
        must(branches.inspected(waiting, found));
        m_branch = waiting.artifact;
        if (what == "branch") return m_branch.text();
        must(desk.reviews.reviews.decide(world.admin, m_branch, review::ReviewState::approved, {.revision = 1}));
        return must(desk.reviews.pull_requests.of_artifact(m_branch)).value().id.text();
    }

    std::string make(std::string_view what, const Who& who) {
        auto& world = desk.world;
        if (what == "space") return space.text();
        if (what == "unique") return unique();
        if (what == "project") return project().text();
        if (what == "user" || what == "principal")
            return world.join(space, unique() + "@example.com", Role::viewer).user.text();
        if (what == "export") return "spans-1.jsonl"; // there is none
        if (what == "bound") {
            const auto user = world.join(space, unique() + "@example.com", Role::viewer).user;
            must(world.access.projects.bind(world.admin, m_project, user.text(), Role::viewer));
            return user.text();
        }
        if (what == "reset") {
            const auto user = world.join(space, unique() + "@example.com", Role::viewer).user;
            return must(world.access.password_resets.create(world.admin, user)).token;
        }
        if (what == "view") {
            access::SavedView view;
            view.name = unique();
            return must(world.access.saved_views.put(world.admin, m_project, view)).name;
        }
        if (what == "preset")
            return must(desk.runs.presets.create(world.admin, space, unique(), "", testing::a_command())).name;
        if (what == "run" || what == "ended run") {
            const auto run = must(desk.runs.runs.start(
                world.admin, space, {.project = project().text(), .prompt = "look", .settings = testing::a_command()}));
            if (what == "ended run") must(desk.runs.runs.cancel(world.admin, run.id));
            return run.id.text();
        }
        if (what == "artifact") {
            const auto run = must(desk.runs.runs.start(
                world.admin, space, {.project = project().text(), .prompt = "look", .settings = testing::a_command()}));
            return must(desk.runs.artifacts.save({space, run.project_id, run.id.text(), review::ArtifactKind::file,
                                                  unique(), "", "content", false}))
                .id.text();
        }
        if (what == "branch" || what == "comment" || what == "pull_request") return make_review(what);
        if (what == "repo")
            return must(desk.repos.create(world.admin, space, {.url = "https://git.example.com/team/" + unique()}))
                .id.text();
        if (what == "issue" || what == "other_issue") {
            const auto where = what == "issue" ? project() : m_project;
            const auto issue = must(desk.signal.issues.report(access::Caller::system(), space, where, "test",
                                                              {"problem " + unique(), "seen", {}, {}, {}, unique()}));
            m_fingerprint = issue.fingerprint;
            return issue.id.text();
        }
        if (what == "role") {
            must(world.database.execute("DELETE FROM custom_roles WHERE id NOT IN (SELECT custom_role FROM members "
                                        "WHERE custom_role IS NOT NULL)")); // a space has a hundred at most
            return must(world.access.custom_roles.create(world.admin, space, {"role " + unique(), "", {}})).id.text();
        }
        if (what == "grant") return make_id<identity::AgentGrantTag>(world.clock).text(); // of nobody
        if (what == "fingerprint") return m_fingerprint;
        if (what == "code_evaluator" || what == "eval_task") {
            signal::NewEvaluator code;
            code.name = unique();
            code.kind = evaluate::EvaluatorKind::code;
            code.code.emplace();
            code.code->source = "def evaluate(document): return True";
            const auto made = must(desk.signal.evaluators.create(access::Caller::system(), space, code)).id;
            if (what == "code_evaluator") return made.text();
            must(world.database.execute("DELETE FROM eval_tasks")); // a project has a hundred at most
            evaluate::NewEvalTask wanted;
            wanted.project = project().text();
            wanted.evaluator = made.text();
            const auto find = [&](const std::string&, std::optional<int64_t>) {
                return desk.signal.evaluators.version(access::Caller::system(), made, 1);
            };
            return must(desk.evaluate.eval_tasks.create(access::Caller::system(), space, wanted, find)).id.text();
        }
        if (what == "eval_backfill") return make_id<evaluate::EvalBackfillTag>(world.clock).text();
        if (what == "evaluator") {
            must(world.database.execute("DELETE FROM evaluators")); // a project has a hundred at most
            signal::NewEvaluator wanted;
            wanted.name = unique();
            wanted.project = project().text();
            wanted.condition = std::string("status = error");
            return must(desk.signal.evaluators.create(access::Caller::system(), space, wanted)).id.text();
        }
        if (what == "dataset" || what == "split" || what == "label" || what == "used_label" || what == "example" ||
            what == "proposal" || what.find("experiment") != what.npos)
            return make_evaluate(what);
        if (what.starts_with("prompt") || what == "tag") return make_prompt(what);
        if (what == "protected_tag")
            return must(desk.evaluate.prompts.protect_tag(world.admin, space, "tag-" + unique())).name;
        if (what == "annotation_config") {
            evaluate::AnnotationConfigContent content;
            content.name = unique();
            return must(desk.evaluate.annotation_configs.create(world.admin, space, content)).id.text();
        }
        if (what == "queue") {
            evaluate::NewQueue wanted;
            wanted.name = unique();
            wanted.project = project().text();
            wanted.configs = {make("annotation_config", who)};
            return must(desk.evaluate.queues.create(world.admin, space, wanted)).id.text();
        }
        if (what == "calibration") return make_id<evaluate::CalibrationTag>(world.clock).text();
        if (what == "pair_task") { // under way; its evaluator, a model, is not here
            const auto id = make_id<evaluate::PairTaskTag>(world.clock);
            const std::string experiment = make("experiment", who);
            must(world.database.execute(
                "INSERT INTO pair_tasks (id, space_id, base_id, other_id, evaluator_id, number, name, concurrency, "
                "state, reason, server, lease_until, attempt_at, started_by_name, created_at) VALUES (?, ?, ?, ?, "
                "'evaluator_1', 1, 'better', 1, 'running', '', '', 0, 0, '', ?)",
                id, space, experiment, experiment, world.clock.now()));
            return id.text();
        }
        if (what == "queue_item") return make_id<evaluate::QueueItemTag>(world.clock).text();
        if (what == "monitor") {
            monitor::NewMonitor wanted;
            wanted.settings.metric = telemetry::Metric::error_rate;
            wanted.name = unique();
            wanted.project = project().text();
            wanted.settings.condition.threshold = 0.1;
            return must(desk.monitors.create(world.admin, space, wanted)).id.text();
        }
        if (what == "destination") {
            // There are so many callers that they would come to the limit of a space.
            must(world.database.execute("DELETE FROM destinations"));
            notice::NewDestination wanted;
            wanted.name = unique();
            wanted.url = "http://127.0.0.1:9/never";
            return must(desk.destinations.create(world.admin, space, wanted)).id.text();
        }
        if (what == "automation" || what == "hook") {
            automation::NewAutomation wanted;
            wanted.name = unique();
            wanted.project = project().text();
            wanted.preset = must(desk.runs.presets.create(world.admin, space, unique(), "", testing::a_command())).name;
            wanted.prompt = "look";
            wanted.trigger.schedule = "@daily";
            if (what == "hook") {
                wanted.trigger = {};
                wanted.trigger.type = automation::TriggerType::webhook;
            }
            return must(desk.automations.create(world.admin, space, wanted)).id.text();
        }
        if (what == "trace") return "4bf92f3577b34da6a3ce929d0e0e4736";
        if (what == "span") return "00f067aa0ba902b7";
        if (what == "session") return "chat-1";
        if (what.ends_with("skill")) return skill(what);
        if (what == "secret_name") return "GH_TOKEN";
        if (what == "harness") return "codex";
        if (what == "seq") return "1";
        if (what == "check") return "12";
        if (what == "key") return desk.service_key(space, Role::viewer, {"read"}).id.text();
        if (what == "login") {
            const auto user = who.person && who.user ? *who.user : world.admin.user;
            return must(world.access.logins.open_session(World::guest(), user, "test")).caller.login_session.text();
        }
        const auto invite =
            must(world.access.invites.create(world.admin, space, unique() + "@example.com", Role::viewer));
        if (what == "invite") return invite.id.text();
        if (what == "token") return World::token_of(invite);
        if (what == "provider") {
            auto& providers = desk.identities.providers;
            if (providers.find(world.admin, "company").ok()) return "company";
            return must(providers.create(world.admin, {"company", {}, "https://id.example.com", "hone"})).name;
        }
        FAIL("examples.test.h uses {", what, "}: say in matrix.test.cpp how to make one");
        return "";
    }
    // A dataset, or what belongs to the one that was made last.
    std::string make_evaluate(std::string_view what) {
        auto& world = desk.world;
        auto& evaluate = desk.evaluate;
        if (what == "dataset") {
            evaluate::Upload upload;
            upload.name = unique();
            evaluate::NewExample example;
            example.input = json::Object{{"q", "hi"}};
            upload.examples = {example};
            m_dataset = must(evaluate.datasets.upload(world.admin, space, upload)).dataset;
            return m_dataset.text();
        }
        if (what == "split")
            return must(evaluate.datasets.create_split(world.admin, m_dataset, {.name = unique()})).id.text();
        if (what == "label" || what == "used_label") {
            const auto label =
                must(evaluate.datasets.create_label(world.admin, space, {.name = unique(), .color = "#00ff00"})).id;
            if (what == "used_label") must(evaluate.datasets.add_label(world.admin, m_dataset, label));
            return label.text();
        }
        const auto example = [&] {
            return must(evaluate.datasets.examples(world.admin, m_dataset, evaluate::newest_version, {}, -1, 1))
                .front()
                .id;
        };
        if (what == "example") return example().text();
        if (what == "proposal") {
            evaluate::NewProposal proposal;
            proposal.input = json::Object{{"q", unique()}};
            must(evaluate.proposals.propose(world.admin, space, m_dataset.text(), {proposal}));
            return must(evaluate.proposals.list(world.admin, m_dataset, evaluate::ProposalState::pending, {}))
                .data.front()
                .id.text();
        }
        if (what == "same_experiment") return m_experiment.text();
        if (what == "experiment_tag") {
            must(evaluate.experiments.set_tag(world.admin, m_experiment, "baseline", ""));
            return "baseline";
        }
        make_evaluate("dataset");
        m_experiment = must(evaluate.experiments.create(world.admin, m_dataset, {})).id;
        if (what == "experiment") return m_experiment.text();
        if (what == "started_experiment" || what == "stopped_experiment") {
            evaluate::StartTask task;
            task.task.command = std::string("cat");
            must(evaluate.tasks.start(world.admin, m_experiment, task, {}));
            if (what == "stopped_experiment") must(evaluate.tasks.stop(world.admin, m_experiment));
            return m_experiment.text();
        }
        evaluate::ExperimentRun run;
        run.experiment_id = m_experiment;
        run.example_id = example();
        const auto id = must(evaluate.experiments.add_run(world.admin, run));
        evaluate::ExperimentEval eval;
        eval.run_id = id;
        eval.name = "correct";
        eval.score = 0;
        must(evaluate.experiments.set_eval(world.admin, eval));
        return what == "run_experiment" ? m_experiment.text() : id.text();
    }
    std::string make_prompt(std::string_view what) {
        auto& prompts = desk.evaluate.prompts;
        if (what == "prompt_tag" || what == "tag") {
            must(prompts.set_tag(desk.world.admin, m_prompt.id, "production", ""));
            return "production";
        }
        const json::Object content{
            {"model_provider", "OPENAI"},
            {"model_name", "gpt-x"},
            {"template_type", "CHAT"},
            {"template_format", "MUSTACHE"},
            {"template", json::Object{{"type", "chat"}, {"messages", json::Array{}}}},
            {"invocation_parameters", json::Object{{"type", "openai"}, {"openai", json::Object{}}}}};
        m_prompt = must(prompts.add_version(desk.world.admin, space, {.name = unique()}, content));
        return what == "prompt" ? m_prompt.prompt_id.text() : m_prompt.id.text();
    }
    std::string skill(std::string_view what) {
        const bool of_space = what == "skill" || what == "custom_skill";
        skill::NewSkill wanted{"skill " + unique(),
                               what == "custom_skill" ? skill::SkillType::custom : skill::SkillType::github};
        skill::Secrets secrets;
        if (what != "custom_skill") secrets.emplace("GH_TOKEN", crypto::SecretBytes("ghp_secret"));
        const auto made =
            must(desk.skills.create(desk.world.admin, of_space ? std::optional(space) : std::nullopt, wanted, secrets));
        if (what == "shared_skill") must(desk.skills.share(desk.world.admin, made.id, space));
        return made.id.text();
    }
    access::ProjectId project() {
        if (only_project) return m_project = *only_project;
        m_project = desk.world.add_project(desk.world.admin, space, "project " + unique()).id;
        return m_project;
    }

    std::string fill(std::string_view text, const Who& who) {
        std::string filled;
        while (!text.empty()) {
            const size_t open = text.find('{');
            const size_t close = text.find('}', open);
            // The braces of JSON are followed by a quote or by their end.
            if (open == text.npos || close == text.npos) break;
            if (text[open + 1] == '"' || close == open + 1) {
                filled += text.substr(0, open + 1);
                text.remove_prefix(open + 1);
                continue;
            }
            filled += text.substr(0, open);
            filled += make(text.substr(open + 1, close - open - 1), who);
            text.remove_prefix(close + 1);
        }
        return filled + std::string(text);
    }

    int m_made = 0;
    access::ProjectId m_project;
    std::string m_fingerprint;   // of the issue made last
    review::ArtifactId m_branch; // made last
    evaluate::DatasetId m_dataset;
    evaluate::ExperimentId m_experiment;
    evaluate::PromptVersion m_prompt;
};

// What the key of a run may do, in words of the tables alone: read its project.
int expected_for_run_key(const Route& route, const Example& example, bool about_its_project) {
    if (route.need.kind == Need::Kind::guest) return example.allowed;
    if (example.not_for_runs) return 403;
    if (route.need.kind == Need::Kind::login) return example.people_only ? 403 : example.allowed;
    if (route.need.permission != Permission::project_read) return 403;
    const auto names_project = [](std::string_view text) {
        return text.find("{project}") != text.npos || text.find("{evaluator}") != text.npos ||
               text.find("{eval_task}") != text.npos; // which are of a project
    };
    const bool names = names_project(example.route) || names_project(example.query) || names_project(example.body);
    if (names && !about_its_project) return 404;
    return example.also && *example.also != Permission::project_read ? example.without : example.allowed;
}

bool is_refusal(int status) {
    return status == 401 || status == 403 || status == 404;
}

} // namespace

TEST_CASE("every route has an example, and every example a route") {
    std::set<std::string> known;
    for (const Route& route : routes()) {
        known.insert(without_names(route_name(route)));
        if (example_of(route) == nullptr)
            FAIL_CHECK("add an example for ", route_name(route), " to the examples of its family");
    }
    for (const Example& example : examples) {
        INFO("an example for no route: ", example.route);
        CHECK(known.contains(without_names(example.route)));
    }
}

TEST_CASE("every route responds to every kind of caller as the tables declare") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    Matrix matrix(fresh.database());
    std::map<int, int> seen;
    for (const Route& route : routes()) {
        const Example* example = example_of(route);
        REQUIRE_MESSAGE(example != nullptr,
                        "add an example for " << route_name(route) << " to the examples of its family");
        for (const Who& who : matrix.everybody) {
            const int expected = expected_status(route, *example, who, matrix.space);
            const Ask ask = matrix.ask(*example, who);
            const auto response = matrix.desk.send(ask);
            INFO(route_name(route), " as ", who.name, ": ", ask.target, " -> ", response.body.substr(0, 300));
            CHECK(response.status == expected);
            ++seen[response.status];
            if (response.status == 401) CHECK(!response.header("WWW-Authenticate").empty());
            if (!is_refusal(response.status)) continue;
            const auto body = body_of(response);
            if (route.errors == ErrorForm::ours || route.errors == ErrorForm::detailed)
                CHECK(!code_of(response).empty());
            if (route.errors == ErrorForm::detailed) CHECK(!body.at("detail").as_string().empty());
            if (route.errors == ErrorForm::rpc_status) CHECK(body.at("code").as_int64() > 0);
            if (route.errors == ErrorForm::oauth) CHECK(!body.at("error").as_string().empty());
            if (route.errors == ErrorForm::json_rpc) CHECK(body.at("error").at("code").as_int64() < 0);
        }
    }
    // The matrix would prove nothing if one kind of answer never came.
    for (const int status : {200, 204, 401, 403, 404}) CHECK(seen[status] > 0);
}

TEST_CASE("a refused write changes nothing") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    Matrix matrix(fresh.database());
    const char* const tables[] = {"users",   "spaces",   "members", "projects", "api_keys",
                                  "invites", "bindings", "presets", "runs",     "artifacts"};
    const auto counts = [&] {
        std::vector<int64_t> all;
        for (const char* table : tables) all.push_back(matrix.desk.world.count(table));
        return all;
    };
    for (const Route& route : routes()) {
        if (route.method == "GET" || route.need.kind == Need::Kind::guest) continue;
        for (const Who& who : matrix.everybody) {
            const Example* example = example_of(route);
            if (!is_refusal(expected_status(route, *example, who, matrix.space))) continue;
            const Ask ask = matrix.ask(*example, who);
            const auto before = counts();
            const auto response = matrix.desk.send(ask);
            INFO(route_name(route), " as ", who.name);
            CHECK(is_refusal(response.status));
            CHECK(counts() == before);
        }
    }
}

TEST_CASE("a write with a cookie needs the CSRF token on every route, a key never does") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    Matrix matrix(fresh.database());
    const Who* admin = nullptr;
    for (const Who& who : matrix.everybody)
        if (who.name == "installation owner") admin = &who;
    REQUIRE(admin != nullptr);
    for (const Route& route : routes()) {
        if (route.need.kind == Need::Kind::guest) continue;
        INFO(route_name(route));
        Ask ask = matrix.ask(*example_of(route), *admin);
        const auto token = ask.headers[1];
        REQUIRE(token.name == "X-CSRF-Token");
        ask.headers.pop_back();
        const bool reads = route.method == "GET";
        CHECK((matrix.desk.send(ask).status == 403) == !reads);
        ask.headers.push_back({"X-CSRF-Token", token.value + "x"});
        CHECK((matrix.desk.send(ask).status == 403) == !reads);
        // The token of another login is no good either.
        ask.headers.back().value = matrix.desk.as_admin()[1].value;
        CHECK((matrix.desk.send(ask).status == 403) == !reads);
        ask.headers.back() = token;
        CHECK(matrix.desk.send(ask).status == example_of(route)->allowed);
    }
}

TEST_CASE("every permission decides about a route") {
    std::set<Permission> used;
    for (const Route& route : routes())
        if (route.need.kind == Need::Kind::permission) used.insert(route.need.permission);
    for (const Example& example : examples)
        if (example.also) used.insert(*example.also);
    for (const auto& row : access::permission_table()) {
        INFO(name_of(row.permission));
        CHECK(used.contains(row.permission));
    }
}

TEST_CASE("the key of a run reads its own project and nothing else, on every route") {
    sql::testing::FreshDatabase fresh(sql::Engine::sqlite, sql::testing::Schema::migrated);
    Matrix matrix(fresh.database());
    auto& world = matrix.desk.world;
    const auto project = world.add_project(world.admin, matrix.space, "bound").id;
    // The run of somebody who may do everything: the key must not.
    const auto key = must(world.access.keys.create_for_run({.run = "run_01ARZ3NDEKTSV4RRFFQ69G5FAV",
                                                            .space = matrix.space,
                                                            .project = project,
                                                            .user = world.admin.user,
                                                            .expires_at = world.clock.now() + std::chrono::hours(1)}));
    const Who worker{.name = "the key of a run", .headers = Desk::with_key(*key.key)};
    std::map<int, int> seen;
    for (const Route& route : routes()) {
        const Example* example = example_of(route);
        REQUIRE(example != nullptr);
        for (const bool about_its_project : {true, false}) {
            matrix.only_project = about_its_project ? std::optional(project) : std::nullopt;
            const Ask ask = matrix.ask(*example, worker);
            const auto response = matrix.desk.send(ask);
            INFO(route_name(route), " about ", about_its_project ? "its" : "another", " project: ", ask.target, " -> ",
                 response.body.substr(0, 300));
            CHECK(response.status == expected_for_run_key(route, *example, about_its_project));
            ++seen[response.status];
        }
    }
    for (const int status : {200, 403, 404, 503}) CHECK(seen[status] > 0);
    must(world.access.keys.end_for_run("run_01ARZ3NDEKTSV4RRFFQ69G5FAV"));
    CHECK(matrix.desk.send({"GET", "/v1/me", "", *worker.headers}).status == 401);
}

} // namespace hone::api::testing
