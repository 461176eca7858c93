// Answers that are more than one thing of access.
#pragma once

#include "api/call.h"

namespace hone::api {

struct PasswordResetRequested {
    bool by_mail = false;
    static constexpr std::tuple fields{
        Field{
            "by_mail", &PasswordResetRequested::by_mail,
            "If the account exists, a link is sent to it; false: this server sends no mail, an installation owner can "
            "create a link."},
    };
};

struct PasswordResetInfo {
    std::string email;
    static constexpr std::tuple fields{Field{"email", &PasswordResetInfo::email, "E-mail address of the account."}};
};

struct PasswordResetLink {
    std::string email;
    std::string path;
    Time expires_at{};
    static constexpr std::tuple fields{
        Field{"email", &PasswordResetLink::email, "E-mail address of the account."},
        Field{"path", &PasswordResetLink::path, "Path of the page that sets the password; only in this response."},
        Field{"expires_at", &PasswordResetLink::expires_at, "An hour after it was created."},
    };
};

struct Me {
    std::optional<access::User> user;
    std::optional<access::Key> key;
    std::vector<access::Space> spaces;
    std::vector<std::string> installation_permissions;
    std::optional<std::string> csrf_token;
    bool must_change_password = false;
    static constexpr std::tuple fields{
        Field{"user", &Me::user, "null for a service key."},
        Field{"key", &Me::key, "The API key the request came with."},
        Field{"spaces", &Me::spaces, "The caller's spaces, at most 1000."},
        Field{"installation_permissions", &Me::installation_permissions, ""},
        Field{"csrf_token", &Me::csrf_token, "Goes into X-CSRF-Token on writes with a cookie."},
        Field{"must_change_password", &Me::must_change_password, "The password was generated and printed once."},
    };
};

struct RoleInfo {
    access::Role role = access::Role::viewer;
    std::string doc;
    std::vector<std::string> permissions;
    static constexpr std::tuple fields{
        Field{"role", &RoleInfo::role, ""},
        Field{"doc", &RoleInfo::doc, ""},
        Field{"permissions", &RoleInfo::permissions, ""},
    };
};

struct PermissionInfo {
    std::string name;
    std::string doc;
    bool installation = false;
    static constexpr std::tuple fields{
        Field{"name", &PermissionInfo::name, ""},
        Field{"doc", &PermissionInfo::doc, ""},
        Field{"installation", &PermissionInfo::installation, "Held by installation owners only."},
    };
};

struct ServerInfo {
    std::string version;
    Time started_at{};
    int64_t schema_version = 0;
    std::string database;
    int64_t data_dir_bytes = 0;
    std::vector<RoleInfo> roles;
    std::vector<PermissionInfo> permissions;
    std::vector<SettingView> settings;
    static constexpr std::tuple fields{
        Field{"version", &ServerInfo::version, ""},
        Field{"started_at", &ServerInfo::started_at, ""},
        Field{"schema_version", &ServerInfo::schema_version, ""},
        Field{"database", &ServerInfo::database, "sqlite or postgres."},
        Field{"data_dir_bytes", &ServerInfo::data_dir_bytes, "Disk used by the data directory."},
        Field{"roles", &ServerInfo::roles, ""},
        Field{"permissions", &ServerInfo::permissions, ""},
        Field{"settings", &ServerInfo::settings, "For installation owners; empty for others."},
    };
};

} // namespace hone::api
