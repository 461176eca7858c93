// Package mirrors as entries of an allow list: a preset names `npm` or `pypi`, the installation has its address. A
// mirror is read-only (GET and HEAD, below its address), and its clients get its address. Values, any thread.
#pragma once

#include "base/fields.h"
#include "broker/egress/policy.h"
#include "config/config.h"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::broker {

enum class PackageKind { npm, pypi, debian, crates, go, maven };
constexpr auto enum_names(PackageKind) {
    return std::array{EnumName{PackageKind::npm, "npm"},       EnumName{PackageKind::pypi, "pypi"},
                      EnumName{PackageKind::debian, "debian"}, EnumName{PackageKind::crates, "crates"},
                      EnumName{PackageKind::go, "go"},         EnumName{PackageKind::maven, "maven"}};
}

// The release whose packages `debian` serves.
constexpr std::string_view debian_suite = "bookworm";

// A file that a client of packages reads, below /hone/packages.
struct PackageFile {
    std::string name;
    std::string content;
};

class PackageMirrors {
public:
    // The public ones.
    PackageMirrors();
    static Result<PackageMirrors> of(const config::Config& config);
    // `addresses`: one or more, separated by commas: the first is the index that clients are given, the others are
    // hosts that it refers to. Empty: this installation has none of this kind.
    Result<> set(PackageKind kind, std::string_view addresses);

    // Invalid when one of the kinds has no mirror here.
    Result<std::vector<PolicyRule>> rules(const std::vector<PackageKind>& kinds) const;
    // What clients read: variables, and the files that they name.
    std::map<std::string, std::string> variables(const std::vector<PackageKind>& kinds) const;
    std::vector<PackageFile> files(const std::vector<PackageKind>& kinds) const;
    // The addresses, for the key of a layer.
    std::string description(const std::vector<PackageKind>& kinds) const;

private:
    struct Mirror {
        std::vector<std::string> addresses;
        std::vector<skill::HostRule> rules;
    };
    Result<> read(const config::Config& config);
    const Mirror* find(PackageKind kind) const;

    std::map<PackageKind, Mirror> m_mirrors;
};

// Where the files are inside a sandbox.
constexpr std::string_view package_files = "/hone/packages";
// Shell lines that put the files of clients without a variable (cargo, Maven before 3.9) in the home, unless there are
// some.
std::string_view package_prelude();

} // namespace hone::broker
