#include "config/config.h"

#include "base/file.h"

#include <doctest/doctest.h>
#include <filesystem>
#include <unistd.h>

using namespace hone;
using namespace std::chrono_literals;

namespace {
const config::Lookup nothing = [](const std::string&) -> std::optional<std::string> { return std::nullopt; };
} // namespace

TEST_CASE("a flag wins over the environment, the environment over the file") {
    const std::string folder = "/tmp/hone-config-test-" + std::to_string(getpid());
    REQUIRE(make_directories(folder).ok());
    REQUIRE(write_file(folder + "/hone.toml",
                       "listen = \"file:1\"\nlog_level = \"debug\"\nkeep_alive = \"5m\"\nbody_limit = \"1m\"\n")
                .ok());
    const config::Lookup environment = [](const std::string& name) -> std::optional<std::string> {
        if (name == "HONE_LISTEN") return "environment:2";
        if (name == "HONE_LOG_LEVEL") return "error";
        return std::nullopt;
    };
    const auto loaded = config::load({{"data_dir", folder}, {"listen", "flag:3"}}, environment).value();
    CHECK(loaded.config.listen == "flag:3");
    CHECK(loaded.config.log_level == "error");
    CHECK(loaded.config.keep_alive == 5min);
    CHECK(loaded.config.body_limit.count == 1 << 20);
    CHECK(loaded.sources.at("listen") == config::Source::flag);
    CHECK(loaded.sources.at("log_level") == config::Source::environment);
    CHECK(loaded.sources.at("keep_alive") == config::Source::file);
    CHECK(!loaded.sources.contains("edge_threads"));
    REQUIRE(std::system(("rm -r " + folder).c_str()) == 0);
}

TEST_CASE("an error about a wrong value names its source and the value") {
    const auto error_of = [](std::string_view toml) {
        config::Loaded loaded;
        auto outcome = config::apply_file(loaded, toml, "hone.toml");
        return outcome.ok() ? std::string() : outcome.error().message;
    };
    CHECK(error_of("x = 1") == "hone.toml, line 1: unknown setting x (`hone serve --help` lists them)");
    CHECK(error_of("\nedge_threads = 99") == "hone.toml, line 2: edge_threads must be between 1 and 16, not 99");
    CHECK(error_of("log_format = \"xml\"") == "hone.toml, line 1: log_format must be one of text, json");
    CHECK(error_of("keep_alive = \"soon\"").starts_with("hone.toml, line 1: not a duration"));
    CHECK(error_of("listen = [1]") == "hone.toml, line 1: listen must be text or a number");
    CHECK(error_of("listen = ").starts_with("hone.toml, line 1: "));
    CHECK(error_of("\nlisten = \"a:1\" é").starts_with("hone.toml, line 2: "));
    CHECK(error_of("Їx = 1").starts_with("hone.toml"));
    CHECK(error_of("[!]") == "hone.toml: not valid TOML");
    CHECK(error_of("[\v\n\b") == "hone.toml: not valid TOML");
    CHECK(error_of("data_dir = \"/x\"").find("unknown setting data_dir") != std::string::npos);
    CHECK(config::load({{"tls_key_file", "k"}}, nothing).error().message.find("belong together") != std::string::npos);
}

TEST_CASE("paths are absolute once they are read, wherever they come from") {
    const std::string folder = "/tmp/hone-config-test-" + std::to_string(getpid());
    REQUIRE(make_directories(folder + "/data").ok());
    REQUIRE(::symlink("data", (folder + "/link").c_str()) == 0);
    REQUIRE(write_file(folder + "/data/hone.toml", "prices_file = \"prices\"\nui_dir = \"\"\n").ok());
    const std::string here = std::filesystem::current_path().string();
    const config::Lookup environment = [](const std::string& name) -> std::optional<std::string> {
        return name == "HONE_MASTER_KEY_FILE" ? std::optional<std::string>("keys/master") : std::nullopt;
    };
    const auto loaded = config::load({{"data_dir", std::filesystem::relative(folder + "/link").string() + "/"},
                                      {"engine_library", "./libchdb.so"},
                                      {"egress_ca_file", folder + "/link/ca.pem"}},
                                     environment)
                            .value()
                            .config;
    CHECK(loaded.data_dir == folder + "/data");
    CHECK(loaded.prices_file == here + "/prices");
    CHECK(loaded.master_key_file == here + "/keys/master");
    CHECK(loaded.engine_library.starts_with(here + "/"));
    CHECK(loaded.egress_ca_file == folder + "/link/ca.pem"); // a link may be changed to renew what it names
    CHECK(loaded.ui_dir.empty());
    CHECK(config::load({}, nothing).value().config.data_dir == here + "/hone-data");
    CHECK(config::load({{"data_dir", ""}}, nothing).error().message.find("must not be empty") != std::string::npos);
    const auto kubeconfig = [&](const std::string& value) {
        return config::load({{"kubernetes_kubeconfig", value}}, nothing).value().config.kubernetes_kubeconfig;
    };
    CHECK(kubeconfig("in-cluster") == "in-cluster");
    CHECK(kubeconfig("sealed") == "sealed");
    CHECK(kubeconfig("./sealed") == here + "/sealed");
    for (const auto& setting : config::settings())
        CHECK_MESSAGE(
            (setting.is_path() == (setting.name.ends_with("_file") || setting.name.ends_with("_dir") ||
                                   setting.name == "engine_library" || setting.name == "kubernetes_kubeconfig")),
            setting.name);
    REQUIRE(std::system(("rm -r " + folder).c_str()) == 0);
}

TEST_CASE("every setting shows a default that it accepts itself") {
    for (const auto& setting : config::settings()) {
        config::Config config;
        CHECK_MESSAGE(setting.set(config, setting, setting.get(config)).ok(), setting.name);
        CHECK(!setting.doc.empty());
        CHECK(setting.doc.ends_with("."));
    }
}

TEST_CASE("flags are read in both forms and mistakes are named") {
    const char* good[] = {"--listen", "a:1", "--log-level=debug"};
    const auto flags = config::parse_flags(good).value();
    CHECK(flags.at("listen") == "a:1");
    CHECK(flags.at("log_level") == "debug");
    const auto error_of = [](std::vector<const char*> arguments) {
        return config::parse_flags(arguments).error().message;
    };
    CHECK(error_of({"--nope"}) == "unknown option --nope (--help lists them)");
    CHECK(error_of({"--listen"}) == "--listen needs a value");
    CHECK(error_of({"--listen=a", "--listen=b"}) == "--listen is given twice");
    CHECK(config::flags_help().find("--keep-alive DURATION") != std::string::npos);
}
