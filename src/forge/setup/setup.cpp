#include "forge/setup/setup.h"

#include "base/text.h"

#include <algorithm>
#include <array>

namespace hone::forge {

namespace {

// $1 repository, $2 commit, $3 pattern of names.
constexpr std::string_view list_script = R"(
git -C "$1" ls-tree -r -z --full-tree "$2" > "$HONE_ROOT"/workspace/tree || exit 3
grep -zE "$3" "$HONE_ROOT"/workspace/tree | head -z -n 2001
exit 0
)";
// $1 repository, $2 object, $3 most bytes.
constexpr std::string_view read_script = R"(git -C "$1" cat-file blob "$2" | head -c "$3")";

// $1 repository, $2 commit, $3 folder, $4 the setup script, $5 where what the script makes beside the files of the
// repository goes, because /workspace of a layer is never seen, $6 how. Nothing of the checkout itself stays.
constexpr std::string_view build_script = R"(
folder="/workspace/$3"
git init --quiet "$folder"
echo "$1/objects" > "$folder/.git/objects/info/alternates"
git -C "$folder" -c core.hooksPath=/dev/null checkout --quiet --detach "$2"
cd "$folder"
/bin/sh -e -c "$4" < /dev/null
cd "$folder"
mkdir -p "$5/$3"
git ls-files --others --directory | sed 's,^,/,' | head -n 1000 > "$5/$3.exclude"
git ls-files --others --directory -z | xargs -0 -r cp "$6" --parents -t "$5/$3" --
cd /
rm -rf "$folder"
)";

constexpr std::array root_of_setup{"/opt/hone-setup", "-al"};
constexpr std::array home_of_setup{"/home/worker/.hone-setup", "-a"};

} // namespace

Result<SetupPlan> Setup::plan(const SetupWanted& wanted) const {
    if (wanted.setup.empty() || wanted.commit.empty()) return SetupPlan{};
    if (!is_object_name(wanted.commit)) return invalid("not a commit");
    GitJob job;
    job.script = list_script;
    job.arguments = {wanted.directory, wanted.commit, setup_file_pattern()};
    job.mounts = wanted.mounts;
    job.stopped = wanted.cancelled;
    const GitOutput listed = TRY(m_git.run(job));
    if (listed.exit_code != 0)
        return unavailable("the files of the commit could not be listed: " +
                           std::string(truncate_utf8(repair_utf8(trim(listed.err)), 500)));
    const std::vector<TreeEntry> files = TRY(parse_tree(listed.out));
    std::string text;
    if (const TreeEntry* file = find_devcontainer(wanted.setup, files)) {
        if (!is_object_name(file->object)) return invalid("not an object");
        job.script = read_script;
        job.arguments = {wanted.directory, file->object, std::to_string(largest_devcontainer + 1)};
        text = TRY(m_git.run(job)).out;
    }
    return plan_setup(wanted.setup, files, text);
}

Result<SetupLayer> Setup::prepare(const SetupWanted& wanted, const SetupPlan& plan) const {
    SetupLayer made;
    made.source = plan.source;
    if (plan.script.empty()) return made;
    sandbox::Preparation preparation;
    preparation.space = wanted.space.text();
    preparation.root = wanted.image;
    preparation.layers = wanted.layers;
    preparation.script = build_script;
    preparation.env = wanted.env;
    preparation.inputs = plan.inputs;
    for (const auto& [name, value] : {std::pair<std::string_view, std::string>{"purpose", "setup"},
                                      {"repository", wanted.repo},
                                      {"folder", wanted.name},
                                      {"script", plan.script},
                                      {"network", wanted.network_description},
                                      {"branch", wanted.origin}})
        preparation.inputs.value[std::string(name)] = value;
    preparation.timeout_ms = wanted.seconds * 1000;
    preparation.limits = wanted.limits;
    if (wanted.network) preparation.network = sandbox::NetworkMode::broker;
    for (const GitMount& mount : wanted.mounts) preparation.mounts.value.push_back({mount.source, mount.target, true});
    const SystemClock clock;
    const Duration began = clock.steady();
    const std::string what = "setup (" + plan.source + ")";
    sandbox::BuildOptions options;
    options.cancelled = wanted.cancelled;
    options.network = wanted.network;
    options.what = what;
    options.start = wanted.start;
    // A layer of a pod is its home, which is another file system than its workspace.
    options.arguments = {wanted.directory, wanted.commit, wanted.name, plan.script};
    for (const char* word : wanted.provider != nullptr ? home_of_setup : root_of_setup)
        options.arguments.push_back(word);
    sandbox::Provider& provider = wanted.provider != nullptr ? *wanted.provider : m_provider;
    const sandbox::PreparedLayer layer = TRY(sandbox::prepare_layer(provider, m_store, preparation, options));
    made.key = layer.key;
    made.built = layer.built;
    made.log = layer.log;
    made.took_ms = std::chrono::duration_cast<std::chrono::milliseconds>(clock.steady() - began).count();
    return made;
}

} // namespace hone::forge
