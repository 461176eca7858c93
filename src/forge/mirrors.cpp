#include "forge/mirrors.h"

#include "base/log.h"
#include "base/text.h"
#include "sandbox/image/tree.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::forge {

namespace {

// $1: address; $2: `one` to put everything into one pack. Brings what the mirror lacks, and lists the refs.
constexpr std::string_view fetch_script = R"(
set -eu
mkdir -p out/pack
# A repository on this machine is served by a second git, which reads no settings but this file.
printf '[safe]\n\tdirectory = *\n' > gitconfig
export GIT_CONFIG_GLOBAL="$HONE_ROOT"/workspace/gitconfig
git init -q --bare --template= r
cd r
if [ -e "$HONE_ROOT"/mirror/packed-refs ]; then
    echo "$HONE_ROOT"/mirror/objects > objects/info/alternates
    cp "$HONE_ROOT"/mirror/packed-refs packed-refs
fi
git ls-remote --symref "$1" HEAD > ../out/head
git fetch -q --prune --no-tags --no-write-fetch-head --no-recurse-submodules "$1" \
    '+refs/heads/*:refs/heads/*' '+refs/tags/*:refs/tags/*'
git for-each-ref --format='%(objectname) %(*objectname) %(refname)' refs/heads refs/tags > ../out/refs
head=$(sed -n '1s/^ref: \(.*\)	HEAD$/\1/p' ../out/head)
: > ../out/notes
if [ -n "$head" ] && git rev-parse -q --verify "$head^{commit}" > /dev/null; then
    if git cat-file -e "$head:.gitmodules" 2> /dev/null; then echo submodules >> ../out/notes; fi
    if git cat-file blob "$head:.gitattributes" 2> /dev/null | head -c 1000000 | grep -q 'filter=lfs'; then
        echo lfs >> ../out/notes
    fi
fi
if [ "$2" = one ]; then # also what no ref leads to any more: a quarantine may stand on it
    for index in "$HONE_ROOT"/mirror/objects/pack/*.idx objects/pack/*.idx; do
        if [ -e "$index" ]; then git show-index < "$index"; fi
    done | cut -d ' ' -f 2 | sort -u | git pack-objects -q --non-empty ../out/pack/pack > /dev/null
else
    find objects/pack -name 'pack-*' -exec mv -t ../out/pack {} +
fi
)";

// Objects are checked as those of a push are: nothing named .git or .., no .gitmodules that is an option or a link.
// Faults of form that old programs left in well-known histories, and that are harmless, are accepted.
constexpr std::string_view harmless_faults[] = {
    "zeroPaddedFilemode",
    "zeroPaddedDate",
    "badTimezone",
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "missingEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingNameBeforeEmail",
    "multipleAuthors",
    "nulInCommit",
    "badFilemode",
};

constexpr std::string_view bare_config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n";
constexpr size_t largest_ref_list = 32 << 20;
constexpr size_t most_packs = 50; // each fetch brings one; git searches all of them

std::string note_text(std::string_view note) {
    if (note == "submodules") return "It has submodules; they are not fetched, their folders stay empty.";
    if (note == "lfs") return "It uses Git LFS; files kept there stay pointers.";
    return {};
}

int64_t size_of_files(const std::string& directory) {
    std::error_code failed;
    int64_t bytes = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory, failed))
        bytes += static_cast<int64_t>(entry.file_size(failed));
    return bytes;
}

std::vector<std::string> names_in(const std::string& directory) {
    std::error_code failed;
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(directory, failed))
        names.push_back(entry.path().filename().string());
    return names;
}

bool is_pack_name(std::string_view name) {
    if (!name.starts_with("pack-")) return false;
    name.remove_prefix(5);
    for (const std::string_view ending : {".pack", ".idx"})
        if (name.ends_with(ending)) return is_object_name(name.substr(0, name.size() - ending.size()));
    return false;
}

} // namespace

Result<> make_bare_repository(const std::string& path, const std::string& alternates) {
    for (const char* folder :
         {"", "/objects", "/objects/info", "/objects/pack", "/refs", "/refs/heads", "/refs/tags"}) {
        TRY(make_directories(path + folder, 0755));
        ::chmod((path + folder).c_str(), 0755);
    }
    if (!file_exists(path + "/config")) TRY(write_file(path + "/config", bare_config, 0644));
    if (!file_exists(path + "/HEAD")) TRY(write_file(path + "/HEAD", "ref: refs/heads/main\n", 0644));
    if (!alternates.empty()) TRY(write_file(path + "/objects/info/alternates", alternates + "\n", 0644));
    return {};
}

Result<int64_t> take_packs(const std::string& from, const std::string& repository) {
    std::error_code failed;
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(from, failed))
        if (entry.is_regular_file(failed) && is_pack_name(entry.path().filename().string()))
            files.push_back(entry.path());
    // A reader that finds an index opens its pack: the packs go first.
    std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.extension() > b.extension(); });
    int64_t bytes = 0;
    for (const auto& file : files) {
        bytes += static_cast<int64_t>(std::filesystem::file_size(file, failed));
        if (::chmod(file.c_str(), 0444) != 0) return system_error("chmod " + file.string(), errno);
        TRY(sync_file(file)); // refs that name its objects are written next
        const std::string target = repository + "/objects/pack/" + file.filename().string();
        if (::rename(file.c_str(), target.c_str()) != 0) return system_error("rename to " + target, errno);
    }
    if (!files.empty()) TRY(sync_directory(repository + "/objects/pack"));
    return bytes;
}

int64_t size_of_packs(const std::string& repository) {
    return size_of_files(repository + "/objects/pack");
}

Mirrors::~Mirrors() {
    m_ending = true;
    std::map<RepoId, std::shared_ptr<Fetch>> fetches;
    {
        const Lock lock(m_mutex);
        fetches.swap(m_fetches);
    }
    for (auto& [id, running] : fetches)
        if (running->thread.joinable()) running->thread.join();
}

std::shared_ptr<Mirrors::Fetch> Mirrors::start_fetch(const RepoId& id) {
    std::shared_ptr<Fetch> last, running;
    {
        const Lock lock(m_mutex);
        auto& slot = m_fetches[id];
        if (slot && !slot->finished) return slot;
        last = std::exchange(slot, std::make_shared<Fetch>());
        running = slot;
        running->thread = std::jthread([this, id, running] { run_fetch(id, running); });
    }
    // Not left to its destructor: a thread that has finished may be the last to hold its Fetch, and would join
    // itself.
    if (last) last->thread.join();
    return running;
}

void Mirrors::run_fetch(const RepoId& id, const std::shared_ptr<Fetch>& running) {
    const auto fetched = [&]() -> Result<> { return fetch_once(TRY(m_repos.find(access::Caller::system(), id))); }();
    if (!fetched.ok()) {
        const auto noted = m_repos.fetch_failed(id, fetched.error().message);
        if (!noted.ok())
            log(Level::warning, "fetch not recorded", {{"repo", id.text()}, {"why", noted.error().message}});
        log(Level::warning, "repository could not be fetched",
            {{"repo", id.text()}, {"why", fetched.error().message}, {"trail", fetched.error().trail}});
    }
    const Lock lock(m_mutex);
    if (!fetched.ok()) running->error = fetched.error();
    running->finished = true;
    m_finished.notify_all();
}

void Mirrors::begin(const RepoId& id) {
    (void)start_fetch(id);
}

bool Mirrors::is_fetching(const RepoId& id) const {
    const Lock lock(m_mutex);
    const auto found = m_fetches.find(id);
    return found != m_fetches.end() && !found->second->finished;
}

Result<Repo> Mirrors::fetch(const RepoId& id, const std::function<bool()>& stopped) {
    const std::shared_ptr<Fetch> running = start_fetch(id);
    {
        const Lock lock(m_mutex);
        while (!running->finished) {
            if (stopped && stopped()) return busy("the repository is still being fetched");
            m_finished.wait_for(m_mutex, std::chrono::milliseconds(200));
        }
        if (running->error) return *running->error;
    }
    return m_repos.find(access::Caller::system(), id);
}

Result<Repo> Mirrors::fetch_if_old(const Repo& repo, const std::function<bool()>& stopped) {
    const bool fresh = repo.state == MirrorState::ready && repo.fetched_at &&
                       m_clock.now() - *repo.fetched_at < m_options.fresh_for && m_clock.now() >= *repo.fetched_at;
    return fresh ? Result<Repo>(repo) : fetch(repo.id, stopped);
}

Result<> Mirrors::fetch_once(const Repo& repo) {
    const std::string mirror = path(repo.id);
    TRY(make_bare_repository(mirror));
    GitJob job;
    job.script = fetch_script;
    job.mounts = {{mirror, "/mirror"}};
    if (repo.url.starts_with("file://")) {
        job.mounts.push_back({TRY(m_repos.local_path(repo)), "/source"});
        job.arguments = {"/source"};
    } else {
        job.arguments = {repo.url};
        job.remote = Remote{repo.space_id, repo.url, repo.skill_id.value_or(""), repo.allow_private, repo.id.text()};
    }
    const std::vector<std::string> before = names_in(mirror + "/objects/pack");
    const bool into_one = before.size() >= 2 * most_packs; // a pack and its index
    job.arguments.emplace_back(into_one ? "one" : "more");
    job.settings = {{"fetch.fsckObjects", "true"}};
    for (const std::string_view fault : harmless_faults)
        job.settings.emplace_back("fetch.fsck." + std::string(fault), "ignore");
    job.limits.time = m_options.fetch_time;
    job.limits.memory_bytes = int64_t{2} << 30;
    job.limits.disk_bytes = m_options.most_bytes + (int64_t{64} << 20);
    job.limits.on_disk = true;
    job.stopped = [this] { return m_ending.load(); };
    TRY(make_directories(m_options.directory + "/tmp", 0700));
    job.export_to = m_options.directory + "/tmp/" + make_ulid(m_clock.now());
    const auto ended = m_git.run(job);
    const auto done = [&]() -> Result<> {
        const GitOutput output = TRY(ended);
        if (output.exit_code != 0) return explain(repo, job.remote, output);
        return m_repos.fetched(repo.id, TRY(take_over(repo, job.export_to, into_one ? before : Names{})));
    }();
    (void)sandbox::remove_tree(job.export_to).ok();
    return done;
}

// Git's message, its cause as the forge itself describes it, and what to do.
Error Mirrors::explain(const Repo& repo, const std::optional<Remote>& remote, const GitOutput& output) const {
    const std::string printed(truncate_utf8(repair_utf8(trim(output.err)), 1500));
    const std::string doing = "fetch " + repo.url;
    if (!remote)
        return unavailable("could not " + doing + ": " +
                           (printed.empty() ? fmt::format("exit code {}", output.exit_code) : printed));
    Diagnosis known{cause_of_git(printed, repo.skill_id.has_value()), printed, {}};
    Diagnose diagnose;
    {
        const Lock lock(m_mutex);
        diagnose = m_diagnose;
    }
    if (diagnose) known = diagnose(*remote, known);
    return to_error(doing, known);
}

Result<Fetched> Mirrors::take_over(const Repo& repo, const std::string& brought, const Names& replaced) {
    const std::string mirror = path(repo.id);
    const std::vector<std::string> fresh = names_in(brought + "/pack");
    const RefList list = parse_for_each_ref(TRY(read_file(brought + "/refs", largest_ref_list)));
    Fetched fetched;
    fetched.head_ref = parse_head(TRY(read_file(brought + "/head", 1 << 20)));
    if (fetched.head_ref.empty() || find_ref(list.refs, fetched.head_ref) == nullptr) {
        const auto branch = std::find_if(list.refs.begin(), list.refs.end(),
                                         [](const Ref& ref) { return ref.name.starts_with("refs/heads/"); });
        if (fetched.head_ref.empty()) fetched.head_ref = branch == list.refs.end() ? "refs/heads/main" : branch->name;
    }
    const std::string notes = TRY(read_file(brought + "/notes", 1 << 10));
    for (const std::string_view line : split(notes, '\n'))
        if (const std::string note = note_text(line); !note.empty()) fetched.notes.push_back(note);
    if (list.refs.empty())
        fetched.notes.emplace_back("It is empty: push a first commit to its default branch before a run uses it.");
    if (list.left_out > 0)
        fetched.notes.push_back(fmt::format("{} refs have names that are not taken over.", list.left_out));
    const int64_t kept = replaced.empty() ? size_of_packs(mirror) : 0;
    if (kept + size_of_files(brought + "/pack") > m_options.most_bytes)
        return too_large(fmt::format("the repository is larger than {} MiB", m_options.most_bytes >> 20));
    TRY(take_packs(brought + "/pack", mirror));
    // A reader with an open file continues with it; other readers open the new one.
    for (const std::string& name : replaced)
        if (std::find(fresh.begin(), fresh.end(), name) == fresh.end())
            ::unlink((mirror + "/objects/pack/" + name).c_str());
    TRY(write_file(mirror + "/packed-refs", write_packed_refs(list.refs), 0644));
    TRY(write_file(mirror + "/HEAD", "ref: " + fetched.head_ref + "\n", 0644));
    fetched.refs = static_cast<int64_t>(list.refs.size());
    fetched.bytes = size_of_packs(mirror);
    return fetched;
}

Result<std::vector<Ref>> Mirrors::refs(const RepoId& id) const {
    const std::string file = path(id) + "/packed-refs";
    if (!file_exists(file)) return std::vector<Ref>{};
    return parse_packed_refs(TRY(read_file(file, largest_ref_list)));
}

// Out of sight in one step: half a mirror must not be found by a fetch. What a killed server leaves in tmp/ is removed
// when the next one starts.
Result<std::string> Mirrors::set_aside(const RepoId& id) const {
    TRY(make_directories(m_options.directory + "/tmp", 0700));
    std::string aside = m_options.directory + "/tmp/removed-" + make_ulid(m_clock.now());
    if (::rename(path(id).c_str(), aside.c_str()) != 0 && errno != ENOENT)
        return system_error("remove the mirror", errno);
    return aside;
}

Result<> Mirrors::remove(const RepoId& id) {
    return sandbox::remove_tree(TRY(set_aside(id)));
}

Result<std::vector<Mirrors::Stored>> Mirrors::stored() const {
    const auto registered = TRY(m_repos.mirror_uses());
    std::vector<Stored> all;
    for (const std::string& name : names_in(m_options.directory)) {
        if (!name.ends_with(".git")) continue;
        auto id = parse_id<RepoTag>(name.substr(0, name.size() - 4));
        if (!id.ok()) continue;
        Stored one{id.value(), size_of_packs(path(id.value())), false, is_fetching(id.value()), {}};
        if (const auto use = registered.find(one.id); use != registered.end()) {
            one.is_registered = true;
            one.is_needed = one.is_needed || use->second.has_runs;
            one.used = use->second.used;
        }
        all.push_back(std::move(one));
    }
    return all;
}

Result<bool> Mirrors::discard(const RepoId& id) {
    std::string aside;
    {
        const Lock lock(m_mutex); // no fetch begins meanwhile
        if (const auto found = m_fetches.find(id); found != m_fetches.end() && !found->second->finished) return false;
        if (!TRY(m_repos.forget_mirror(id))) return false;
        aside = TRY(set_aside(id));
    }
    TRY(sandbox::remove_tree(aside));
    return true;
}

} // namespace hone::forge
