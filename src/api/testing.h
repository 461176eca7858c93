// For tests of the API: an installation on a real database with the API in front, called without sockets.
// Needs TEST_LIBRARIES hone_sql_testing. Not part of the product; one thread, except Desk::send.
#pragma once

#include "access/testing.h"
#include "api/api.h"
#include "api/testing_services.h"
#include "json/json.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace hone::api::testing {

using access::Role;
using access::testing::good_password;
using access::testing::must;
using access::testing::World;

// Two pieces and the end.
class SmallBackup final : public net::BodySource {
public:
    Result<std::string> next() override { return std::string(m_left-- > 0 ? "piece" : ""); }

private:
    int m_left = 2;
};

class TestInstallation final : public Installation {
public:
    explicit TestInstallation(const Clock& clock) : m_clock(clock) {}
    std::string version() const override { return "1.2.3"; }
    Time started_at() const override { return m_clock.now(); }
    int64_t schema_version() const override { return 1; }
    std::string database_engine() const override { return "sqlite"; }
    int64_t data_dir_bytes() const override { return 4096; }
    std::vector<SettingView> settings(const access::Caller& caller) const override {
        if (!caller.permissions_of_installation().has(access::Permission::user_manage)) return {};
        return {{"listen", "Address.", "127.0.0.1:0", "flag"}};
    }
    Result<std::vector<SpaceStorage>> storage(const access::Caller& caller) override {
        TRY(caller.require(access::Permission::user_manage));
        return std::vector<SpaceStorage>(1);
    }
    std::string not_ready() const override { return why_not_ready; }
    std::string metrics() const override { return "hone_extra 1\n"; }
    Result<std::unique_ptr<net::BodySource>> backup(const access::Caller&) override {
        return std::unique_ptr<net::BodySource>(std::make_unique<SmallBackup>());
    }
    Result<StoredBackup> store_backup(const access::Caller&) override {
        return StoredBackup{"hone-1.tar.zst", 1, m_clock.now(), "/objects"};
    }
    Result<std::vector<StoredBackup>> stored_backups(const access::Caller&) override {
        return std::vector<StoredBackup>(3);
    }

    std::string why_not_ready;

private:
    const Clock& m_clock;
};

inline run::Settings a_command() {
    run::Settings settings;
    settings.harness = "command";
    settings.command = std::vector<std::string>{"/bin/cat"};
    return settings;
}

// A folder that goes with the test.
class Folder {
public:
    Folder() : m_path(make()) {}
    ~Folder() { std::filesystem::remove_all(m_path); }
    const std::string& path() const { return m_path; }

private:
    static std::string make() {
        std::string pattern = std::filesystem::temp_directory_path() / "hone-test-api-XXXXXX";
        return ::mkdtemp(pattern.data());
    }
    std::string m_path;
};

struct Ask {
    std::string method;
    std::string target;
    std::string body{};
    std::vector<net::Header> headers{};
};

struct DeskWorld {
    explicit DeskWorld(sql::Database& database) : world(database) {}
    World world;
    Folder files;
};

// The installation with its API, as the edge would call it.
class Desk : public DeskWorld, public ServiceSet {
public:
    explicit Desk(sql::Database& given, ApiOptions options = {})
        : DeskWorld(given),
          ServiceSet(given, world.clock, world.access, files.path()),
          installation(world.clock),
          api(services(installation), net::StaticFiles::embedded({}), options) {}

    // A body is JSON unless the headers say otherwise.
    net::Response send(const Ask& ask) {
        net::Request request;
        request.method = ask.method;
        request.target = ask.target;
        const size_t mark = ask.target.find('?');
        request.path = ask.target.substr(0, mark);
        if (mark != std::string::npos) request.query = ask.target.substr(mark + 1);
        request.headers = ask.headers;
        if (!ask.body.empty() && !request.has_header("Content-Type"))
            request.headers.push_back({"Content-Type", "application/json"});
        request.body = ask.body;
        request.peer = "192.0.2.9";
        request.id = "req_test";
        net::Plan plan = api.plan(request);
        if (plan.response) return std::move(*plan.response);
        return api.handle(std::move(request));
    }

    // A new login of this user: the cookie and the token that writes need.
    std::vector<net::Header> session_of(const access::UserId& user) {
        const auto login = must(world.access.logins.open_session(World::guest(), user, "test"));
        return {{"Cookie", "hone_session=" + login.token}, {"X-CSRF-Token", login.caller.csrf_token}};
    }
    std::vector<net::Header> as_admin() { return session_of(world.admin.user); }
    static std::vector<net::Header> with_key(const std::string& key) { return {{"Authorization", "Bearer " + key}}; }
    access::Key service_key(const access::SpaceId& space, Role role, std::vector<std::string> scopes = {"all"},
                            std::optional<Time> expires_at = {}) {
        access::NewKey wanted{"machine", access::KeyKind::service, std::move(scopes), role, expires_at};
        return must(world.access.keys.create(world.admin, space, wanted));
    }

    TestInstallation installation;
    Api api;
};

// Whether a path fits the path of a route: "/runs/batch" is also a run named "batch".
inline bool leads_to(std::string_view pattern, std::string_view path) {
    const auto wanted = split(pattern, '/'), given = split(path, '/');
    return std::equal(wanted.begin(), wanted.end(), given.begin(), given.end(),
                      [](auto part, auto name) { return part == name || part.starts_with('{'); });
}

inline json::Value body_of(const net::Response& response) {
    return must(json::parse(response.body));
}
// error.code of a refusal; empty when there is none.
inline std::string code_of(const net::Response& response) {
    const auto body = body_of(response);
    const auto* error = body.as_object().if_contains("error");
    return error == nullptr ? "" : std::string(error->as_object().at("code").as_string());
}
// Of our own refusals, and of those that are google.rpc.Status.
inline std::string message_of(const net::Response& response) {
    const auto body = body_of(response);
    const auto* error = body.as_object().if_contains("error");
    return std::string((error == nullptr ? body : *error).as_object().at("message").as_string());
}
inline std::vector<net::Header> plus(std::vector<net::Header> headers, net::Header more) {
    headers.push_back(std::move(more));
    return headers;
}

} // namespace hone::api::testing
