#include "sql/testing.h"

#include <cstdlib>
#include <filesystem>
#include <unistd.h>

namespace hone::sql::testing {

namespace {

template <class T>
T must(Result<T> result, const char* what) {
    if (!result.ok()) {
        std::fprintf(stderr, "%s: %s | %s\n", what, result.error().message.c_str(), result.error().trail.c_str());
        std::abort();
    }
    return std::move(result).value();
}

void migrate_once(const std::string& url) {
    const auto database = must(Database::open({.url = url}), "open");
    must(migrate(*database, SystemClock()), "migrate");
}

// A PostgreSQL database with all migrations, to be copied: quicker than migrating each.
const std::string& template_name() {
    static const std::string name = [] {
        shared_postgres().administrate("CREATE DATABASE hone_template");
        migrate_once(shared_postgres().url("hone_template"));
        return std::string("hone_template");
    }();
    return name;
}

std::string next_name() {
    static int count = 0;
    return "hone_" + std::to_string(++count);
}

} // namespace

TemporaryDirectory::TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "hone_sql_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    m_path = pattern;
}

TemporaryDirectory::~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(m_path, ignored);
}

FreshDatabase::FreshDatabase(Engine engine, Schema schema, Options options) : m_options(std::move(options)) {
    if (engine == Engine::sqlite) {
        m_options.url = "sqlite:" + m_directory.path() + "/hone.db";
    } else {
        const std::string model = schema == Schema::migrated ? template_name() : "template1";
        m_name = next_name();
        m_options.url = shared_postgres().url(m_name);
        shared_postgres().administrate("CREATE DATABASE " + m_name + " TEMPLATE " + model);
    }
    reopen();
    if (schema == Schema::migrated) must(migrate(*m_database, SystemClock()), "migrate");
}

void FreshDatabase::reopen() {
    m_database.reset();
    m_database = must(Database::open(m_options), "open");
}

FreshDatabase::~FreshDatabase() {
    m_database.reset();
    if (!m_name.empty()) shared_postgres().administrate("DROP DATABASE " + m_name + " WITH (FORCE)");
}

} // namespace hone::sql::testing
