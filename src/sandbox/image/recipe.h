// Images from Debian packages: a list of lines like a Dockerfile's, which mmdebstrap carries out without a daemon, and
// the list of the default image. The list is the installation owner's own: its RUN lines run in mmdebstrap's chroot
// with the network of this machine, never in a worker's sandbox. Any process.
#pragma once

#include "sandbox/image/image.h"

#include <map>

namespace hone::sandbox {

// FROM debian[:SUITE] | default, PACKAGES name…, ENV NAME=value, COPY SOURCE TARGET, RUN command. A backslash at the
// end continues a line, `#` begins a comment line.
struct ImageRecipe {
    struct Step {
        std::string command;        // RUN; empty: a copy
        std::string source, target; // of a copy; `source` is absolute
    };
    std::string suite;
    std::vector<std::string> packages;
    std::map<std::string, std::string> environment;
    std::vector<Step> steps;
};

constexpr std::string_view public_archive = "http://deb.debian.org/debian/";

// What workers and charts need: Python with numpy, pandas and matplotlib, Node.js with npm, git, ripgrep, jq, curl, a
// compiler.
ImageRecipe default_recipe();
// `folder`: where sources of copies are looked for; none may lie outside. Errors name the line.
Result<ImageRecipe> parse_recipe(std::string_view text, const std::string& folder);
// The arguments of mmdebstrap, which writes a tar to its stdout.
std::vector<std::string> mmdebstrap_arguments(const ImageRecipe& recipe, const std::string& mirror);

// Progress goes to this program's stderr. Replaces an image of the same name that no sandbox uses.
Result<ImageView> build_image(Provider& provider, const Store& store, const std::string& name,
                              const ImageRecipe& recipe, const std::string& mirror, ImageOptions options);

// One tool that workers need, and where a root has it.
struct WorkerTool {
    std::string_view name;
    std::string_view path; // below the root; a `*` stands for any name
};
// Those of the default image that `root` ("" is the machine's own) lacks.
std::vector<std::string> missing_tools(const std::string& root);

} // namespace hone::sandbox
