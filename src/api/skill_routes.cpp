// Skills, secrets, what they may reach.
#include "api/routes.h"

#include "api/broker_handlers.h"
#include "api/skill_handlers.h"

namespace hone::api {

namespace {

using enum access::Permission;

const Route skill_table[] = {
    route<list_skill_types>("GET", "/v1/skill_types", login, "Types of skills: their variables and hosts."),
    route<list_skills>("GET", "/v1/skills", need(skill_read), "Skills of a space, its own and those shared with it."),
    route<create_skill>("POST", "/v1/skills", need(skill_write), "Create a skill; secrets need secret_write too."),
    route<get_skill>("GET", "/v1/skills/{skill}", need(skill_read), "A skill by id or name."),
    route<update_skill>("PATCH", "/v1/skills/{skill}", need(skill_write), "Change a skill: a new version."),
    route<delete_skill>("DELETE", "/v1/skills/{skill}", need(skill_write), "Delete a skill with its secrets."),
    route<list_skill_versions>("GET", "/v1/skills/{skill}/versions", need(skill_read), "Every version, newest first."),
    route<fetch_skill_folder>("POST", "/v1/skills/{skill}/fetch", need(skill_write),
                              "Fetch a custom skill's folder from its git repository as it is now."),
    route<list_skill_files>("GET", "/v1/skills/{skill}/folder", need(skill_read), "Files of a custom skill."),
    route<put_skill_folder>("PUT", "/v1/skills/{skill}/folder", need(skill_write),
                            "Upload a custom skill's folder: tar.gz, or JSON with files.")
        .takes("application/json, application/gzip")
        .with_body_limit(8 << 20),
    route<set_skill_secret>("PUT", "/v1/skills/{skill}/secrets/{name}", need(secret_write),
                            "Set or replace a secret; it is never shown."),
    route<delete_skill_secret>("DELETE", "/v1/skills/{skill}/secrets/{name}", need(secret_write), "Delete a secret."),
    route<share_skill>("PUT", "/v1/skills/{skill}/shares/{space}", need(skill_share),
                       "Share a skill of the installation with a space."),
    route<unshare_skill>("DELETE", "/v1/skills/{skill}/shares/{space}", need(skill_share), "Stop sharing it."),
    route<preview_env>("POST", "/v1/skill_env", need(skill_write), "What a .env file would set; nothing is stored."),
    route<list_secrets>("GET", "/v1/secrets", need(skill_read), "Names of secrets, their age and last use."),
    route<list_reach>("GET", "/v1/reach", need(skill_read), "What skills may reach, and with which secret."),
    route<explain_request>("GET", "/v1/broker/explain", need(skill_read),
                           "Whether a run could send a request, why, and with which secret."),
    route<get_encryption>("GET", "/v1/encryption", need(secret_rotate), "The keys that encrypt secrets."),
    route<rotate_encryption>("POST", "/v1/encryption/rotate", need(secret_rotate),
                             "Rotate the master key or data keys, without downtime."),
};

} // namespace

std::span<const Route> skill_routes() {
    return skill_table;
}

} // namespace hone::api
