#include "broker/egress/packages.h"

#include "base/text.h"

#include <algorithm>
#include <fmt/format.h>

namespace hone::broker {

namespace {

constexpr std::string_view debian_keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

// Reading only: what a mirror serves is data, and a worker publishes nothing.
Result<skill::HostRule> rule_of(PackageKind kind, std::string_view address) {
    constexpr std::string_view secure = "https://", plain = "http://";
    const auto refuse = [&](std::string_view why) {
        return invalid(fmt::format("packages_{}: \"{}\" {}: write https://mirror.example.com/path/", name_of(kind),
                                   truncate_utf8(address, 100), why));
    };
    const bool tls = address.starts_with(secure);
    if (!tls && !address.starts_with(plain)) return refuse("is not an address");
    std::string_view rest = address.substr(tls ? secure.size() : plain.size());
    const size_t slash = rest.find('/');
    const std::string_view place = rest.substr(0, slash);
    const std::string_view path = slash == rest.npos ? "/" : rest.substr(slash);
    if (place.find('@') != place.npos) return refuse("holds a user or password");
    // It is written into files of clients: nothing in it may end a quoted text there.
    if (!is_printable_ascii(address) || address.find_first_of("?#\"'<>&\\ `$") != address.npos ||
        is_ambiguous_path(path))
        return refuse("has characters that no mirror's address has");
    auto parsed = parse_host_port(place, tls ? 443 : 80);
    if (!parsed.ok()) return refuse("has no host");
    skill::HostRule rule;
    rule.host = parsed.value().host;
    rule.port = parsed.value().port;
    rule.tls = tls;
    rule.methods = {"GET", "HEAD"};
    rule.path_prefix = path == "/" ? "/" : std::string(path.substr(0, path.find_last_not_of('/') + 1));
    return rule;
}

std::string with_slash(const std::string& address) {
    return address.ends_with('/') ? address : address + "/";
}
std::string without_slash(const std::string& address) {
    return address.substr(0, address.find_last_not_of('/') + 1);
}

std::string apt_configuration() {
    return fmt::format("Dir::Etc::sourcelist \"{0}/sources.list\";\nDir::Etc::sourceparts \"/dev/null\";\n"
                       "APT::Sandbox::User \"root\";\nAcquire::Languages \"none\";\n",
                       package_files);
}

std::string cargo_configuration(const std::string& index) {
    return fmt::format("[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+{}\"\n",
                       with_slash(index));
}

std::string maven_settings(const std::string& address) {
    return fmt::format(
        "<settings><mirrors><mirror><id>mirror</id><mirrorOf>*</mirrorOf><url>{}</url></mirror></mirrors>"
        "<proxies><proxy><id>broker</id><active>true</active><protocol>http</protocol>"
        "<host>127.0.0.1</host><port>3128</port></proxy><proxy><id>broker-tls</id><active>true</active>"
        "<protocol>https</protocol><host>127.0.0.1</host><port>3128</port></proxy></proxies></settings>"
        "\n",
        address);
}

} // namespace

PackageMirrors::PackageMirrors() {
    CHECK_OR_ABORT(read(config::Config{}).ok());
}

Result<PackageMirrors> PackageMirrors::of(const config::Config& config) {
    PackageMirrors mirrors;
    TRY(mirrors.read(config));
    return mirrors;
}

Result<> PackageMirrors::read(const config::Config& config) {
    TRY(set(PackageKind::npm, config.packages_npm));
    TRY(set(PackageKind::pypi, config.packages_pypi));
    TRY(set(PackageKind::debian, config.packages_debian));
    TRY(set(PackageKind::crates, config.packages_crates));
    TRY(set(PackageKind::go, config.packages_go));
    return set(PackageKind::maven, config.packages_maven);
}

Result<> PackageMirrors::set(PackageKind kind, std::string_view addresses) {
    Mirror mirror;
    for (const std::string_view part : split(addresses, ',')) {
        const std::string_view address = trim(part);
        if (address.empty()) continue;
        mirror.rules.push_back(TRY(rule_of(kind, address)));
        mirror.addresses.emplace_back(address);
    }
    if (mirror.addresses.empty())
        m_mirrors.erase(kind);
    else
        m_mirrors[kind] = std::move(mirror);
    return {};
}

const PackageMirrors::Mirror* PackageMirrors::find(PackageKind kind) const {
    const auto found = m_mirrors.find(kind);
    return found == m_mirrors.end() ? nullptr : &found->second;
}

Result<std::vector<PolicyRule>> PackageMirrors::rules(const std::vector<PackageKind>& kinds) const {
    std::vector<PolicyRule> rules;
    for (const PackageKind kind : kinds) {
        const Mirror* mirror = find(kind);
        if (mirror == nullptr)
            return invalid(fmt::format("sandbox.packages names {0}, and this installation has no mirror for it: its "
                                       "owner sets packages_{0}",
                                       name_of(kind)));
        for (const skill::HostRule& rule : mirror->rules)
            rules.push_back({rule, false, "packages " + std::string(name_of(kind))});
    }
    return rules;
}

std::map<std::string, std::string> PackageMirrors::variables(const std::vector<PackageKind>& kinds) const {
    std::map<std::string, std::string> variables;
    for (const PackageKind kind : kinds) {
        const Mirror* mirror = find(kind);
        if (mirror == nullptr) continue;
        const std::string& address = mirror->addresses.front();
        switch (kind) {
        case PackageKind::npm:
            for (const char* name : {"NPM_CONFIG_REGISTRY", "YARN_REGISTRY", "YARN_NPM_REGISTRY_SERVER"})
                variables[name] = address;
            for (const char* name : {"NPM_CONFIG_AUDIT", "NPM_CONFIG_FUND", "NPM_CONFIG_UPDATE_NOTIFIER"})
                variables[name] = "false";
            break;
        case PackageKind::pypi:
            for (const char* name : {"PIP_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL"}) variables[name] = address;
            variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1";
            variables["PIP_BREAK_SYSTEM_PACKAGES"] = "1"; // with --user: the system's own are read-only
            break;
        case PackageKind::debian:
            variables["APT_CONFIG"] = std::string(package_files) + "/apt.conf";
            break;
        case PackageKind::crates:
            variables["CARGO_REGISTRIES_CRATES_IO_PROTOCOL"] = "sparse";
            break;
        case PackageKind::go:
            variables["GOPROXY"] = without_slash(address);
            variables["GOTOOLCHAIN"] = "local";
            break;
        case PackageKind::maven:
            variables["MAVEN_ARGS"] = "-s " + std::string(package_files) + "/settings.xml";
            break;
        }
    }
    return variables;
}

std::vector<PackageFile> PackageMirrors::files(const std::vector<PackageKind>& kinds) const {
    std::vector<PackageFile> files;
    for (const PackageKind kind : kinds) {
        const Mirror* mirror = find(kind);
        if (mirror == nullptr) continue;
        const std::string& address = mirror->addresses.front();
        if (kind == PackageKind::debian) {
            files.push_back({"apt.conf", apt_configuration()});
            files.push_back({"sources.list",
                             fmt::format("deb [signed-by={}] {} {} main\n", debian_keyring, address, debian_suite)});
        }
        if (kind == PackageKind::crates && address != "https://index.crates.io/")
            files.push_back({"cargo.toml", cargo_configuration(address)});
        if (kind == PackageKind::maven) files.push_back({"settings.xml", maven_settings(address)});
    }
    return files;
}

std::string PackageMirrors::description(const std::vector<PackageKind>& kinds) const {
    std::string text;
    for (const PackageKind kind : kinds) {
        text += std::string(name_of(kind)) + "=";
        if (const Mirror* mirror = find(kind))
            for (const std::string& address : mirror->addresses) text += address + ",";
        text += ";";
    }
    return text;
}

std::string_view package_prelude() {
    return R"(if [ -f /hone/packages/cargo.toml ] && [ ! -e "$HOME/.cargo/config.toml" ]; then
  mkdir -p "$HOME/.cargo" && cp /hone/packages/cargo.toml "$HOME/.cargo/config.toml"
fi
if [ -f /hone/packages/settings.xml ] && [ ! -e "$HOME/.m2/settings.xml" ]; then
  mkdir -p "$HOME/.m2" && cp /hone/packages/settings.xml "$HOME/.m2/settings.xml"
fi
)";
}

} // namespace hone::broker
