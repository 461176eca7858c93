// One push into a run's quarantine: read its head, check it, let git check and index it in a sandbox, take over
// the result, call the listener, and only then respond.
#include "base/log.h"
#include "base/text.h"
#include "forge/push/quarantine.h"
#include "sandbox/image/tree.h"

#include <fmt/format.h>

namespace hone::forge {

namespace {

// $1: the run's prefix of refs; $2: where its work began; $3: most files that a branch changes; $4: largest object. The
// repository that git writes to is a fresh one that stands on the quarantine; its new packs and refs are all that
// leaves. What is over a limit leaves only the reason, in out/refused. Trees of trees can name more files than there
// are atoms: the process that lists them has little memory.
constexpr std::string_view receive_script = R"sh(
set -eu
mkdir -p out/pack
git init -q --bare --template= r
cp "$HONE_ROOT"/quarantine/HEAD "$HONE_ROOT"/quarantine/packed-refs r/
echo "$HONE_ROOT"/quarantine/objects > r/objects/info/alternates
git receive-pack --stateless-rpc r > result
cd r
git for-each-ref --format='%(objectname) %(*objectname) %(refname)' "$1" > ../out/refs
: > ../out/bases
nothing=$(git hash-object -t tree /dev/null)
while read -r object name; do
    base=
    if [ -n "$2" ]; then base=$(git merge-base "$2" "$object" 2> /dev/null || true); fi
    echo "$base $object" >> ../out/bases
    {
        (ulimit -d 400000; git diff-tree -r --no-renames "${base:-$nothing}" "$object" 2> /dev/null) ||
            echo unknown > ../failed
    } | head -n "$(($3 + 1))" > ../changed
    if [ "$(wc -l < ../changed)" -gt "$3" ] || [ -e ../failed ]; then
        echo "${name##* }: a branch changes at most $3 files" > ../out/refused
        exit 0
    fi
    cat ../changed >> ../all_changed
done < ../out/refs
for index in objects/pack/*.idx; do
    if [ -e "$index" ]; then git show-index < "$index"; fi
done | cut -d ' ' -f 2 | git cat-file --batch-check='%(objectsize) %(objectname)' |
    awk -v most="$4" '$1 > most { print; exit }' > ../large
if [ -s ../large ]; then
    read -r size object < ../large
    name=$(grep -F -m 1 " $object " ../all_changed | cut -f 2 || true)
    echo "${name:-object $object} has $((size >> 20)) MiB; a file has at most $(($4 >> 20)) MiB" > ../out/refused
    exit 0
fi
find objects/pack -name 'pack-*' -exec mv -t ../out/pack {} +
cat ../result
)sh";

// "BASE HEAD" lines → the base of a head; empty: none.
std::string base_of(std::string_view lines, std::string_view head) {
    for (const std::string_view line : split(lines, '\n')) {
        const size_t space = line.find(' ');
        if (space == std::string_view::npos || line.substr(space + 1) != head) continue;
        if (is_object_name(line.substr(0, space))) return std::string(line.substr(0, space));
    }
    return {};
}

} // namespace

class PushExchange final : public GitExchange {
public:
    PushExchange(Quarantine& quarantine, RunRepo repo, GitJob job)
        : m_quarantine(quarantine),
          m_repo(std::move(repo)),
          m_job(std::move(job)) {}
    ~PushExchange() override {
        m_process.reset();
        if (!m_job.export_to.empty()) (void)sandbox::remove_tree(m_job.export_to).ok();
        if (!m_holds) return;
        const Lock lock(m_quarantine.m_mutex);
        m_quarantine.m_pushing.erase(place());
        m_quarantine.m_push_over.notify_all();
    }

    Result<> write(std::string_view bytes) override {
        if (m_is_done) return {}; // the rest of a refused push is read and thrown away
        m_total += static_cast<int64_t>(bytes.size());
        if (m_total > m_quarantine.m_options.push_bytes + static_cast<int64_t>(longest_push_head))
            return refuse(fmt::format("a push has at most {} MiB", m_quarantine.m_options.push_bytes >> 20));
        if (m_process) return pass(bytes);
        m_head_bytes += bytes;
        return check_head(false);
    }

    Result<> finish() override {
        if (!m_is_done && !m_process) TRY(check_head(true));
        if (!m_process) return {};
        TRY(m_process->close_input());
        std::string result;
        const auto ended = read_result(result);
        // Limits of its sandbox are the push's own fault, and its client shows only messages in git's format.
        if (!ended.ok() && (ended.error().code == Code::too_large || ended.error().code == Code::busy))
            return refuse("the push is too large to be checked: " + ended.error().message);
        const GitOutput output = TRY(ended);
        if (output.exit_code != 0)
            return unavailable("git could not take the push: " +
                               std::string(truncate_utf8(trim(repair_utf8(output.err)), 300)));
        if (const std::string why = refused_inside(); !why.empty()) return refuse(why);
        const std::string messages = TRY(m_quarantine.take_over(m_repo, m_job.export_to));
        m_response = (m_head.has("side-band-64k") ? messages : "") + result;
        m_is_done = true;
        return {};
    }

    Result<std::string> read() override { return std::exchange(m_response, {}); }

private:
    std::string place() const { return m_quarantine.path(m_repo.run_id, m_repo.repo_id); }

    Result<> refuse(const std::string& reason) {
        m_process.reset();
        m_is_done = true;
        m_response = refuse_push(m_head, reason);
        log(Level::info, "push refused", {{"run", m_repo.run_id}, {"repo", m_repo.repo_id.text()}, {"why", reason}});
        return {};
    }

    Result<GitOutput> read_result(std::string& result) {
        for (;;) {
            const std::string piece = TRY(m_process->read());
            if (piece.empty()) return m_process->finish();
            result += piece;
        }
    }

    std::string refused_inside() const {
        const auto said = read_file(m_job.export_to + "/refused", 16 << 10);
        return said.ok() ? std::string(truncate_utf8(repair_utf8(trim(said.value())), 500)) : std::string();
    }

    // Checks the head as soon as it is complete.
    Result<> check_head(bool at_end) {
        PushRead read = TRY(read_push_head(m_head_bytes, at_end));
        if (read.state == PushReading::more) return {};
        m_head = std::move(read.head);
        const QuarantineOptions& options = m_quarantine.m_options;
        if (m_head.commands.empty()) { // a client that only tries whether it may speak
            m_is_done = true;
            m_response = "0000";
            return {};
        }
        if (const std::string reason = check_push(m_head, Quarantine::prefix(m_repo.run_id)); !reason.empty())
            return refuse(reason);
        if (m_head.objects > options.push_objects)
            return refuse(fmt::format("a push has at most {} objects", options.push_objects));
        if (size_of_packs(place()) >= options.most_bytes)
            return refuse(fmt::format("the pushes of this run have {} MiB already", options.most_bytes >> 20));
        TRY(begin());
        return pass(std::exchange(m_head_bytes, {}));
    }

    Result<> begin() {
        {
            const Lock lock(m_quarantine.m_mutex);
            while (m_quarantine.m_pushing.contains(place())) m_quarantine.m_push_over.wait(m_quarantine.m_mutex);
            m_quarantine.m_pushing.insert(place());
            m_holds = true;
        }
        m_job.script = receive_script;
        const QuarantineOptions& options = m_quarantine.m_options;
        m_job.arguments = {Quarantine::prefix(m_repo.run_id), m_repo.base_commit, std::to_string(options.push_files),
                           std::to_string(options.push_file_bytes)};
        m_job.limits.output_bytes = 1 << 20;
        m_job.limits.time = options.push_time;
        // In memory: the pack as it comes, its index, and what git keeps beside.
        m_job.limits.disk_bytes = 3 * options.push_bytes;
        const std::string folder = m_quarantine.m_options.directory + "/tmp";
        TRY(make_directories(folder, 0700));
        m_job.export_to = folder + "/" + make_ulid(m_quarantine.m_clock.now());
        m_process = TRY(m_quarantine.m_git.start(m_job));
        return {};
    }

    Result<> pass(std::string_view bytes) {
        const auto written = m_process->write(bytes);
        // Git reads no more; its output has the reason.
        if (!written.ok() && written.error().code == Code::conflict) return {};
        return written;
    }

    Quarantine& m_quarantine;
    const RunRepo m_repo;
    GitJob m_job;
    std::string m_head_bytes;
    PushHead m_head;
    int64_t m_total = 0;
    bool m_holds = false;
    bool m_is_done = false;
    std::string m_response;
    std::unique_ptr<GitProcess> m_process;
};

std::unique_ptr<GitExchange> Quarantine::make_push_exchange(const RunRepo& repo, GitJob job) {
    return std::make_unique<PushExchange>(*this, repo, std::move(job));
}

Result<std::string> Quarantine::take_over(const RunRepo& repo, const std::string& brought) {
    const std::string place = path(repo.run_id, repo.repo_id);
    const std::string own = prefix(repo.run_id);
    const RefList now = parse_for_each_ref(TRY(read_file(brought + "/refs", 1 << 20)));
    const std::string bases = TRY(read_file(brought + "/bases", 1 << 20));
    std::vector<Ref> refs = TRY(parse_packed_refs(TRY(read_file(place + "/packed-refs", 32 << 20))));
    std::vector<Push> pushes;
    for (const Ref& ref : now.refs) {
        if (!ref.name.starts_with(own)) continue;
        const Ref* before = find_ref(refs, ref.name);
        if (before != nullptr && before->object == ref.object) continue;
        pushes.push_back({repo.space_id, repo.run_id, repo.repo_id.text(), repo.name,
                          ref.name.substr(std::string_view("refs/heads/").size()), base_of(bases, ref.commit),
                          ref.commit});
    }
    if (pushes.empty()) return std::string();
    TRY(take_packs(brought + "/pack", place));
    std::erase_if(refs, [&](const Ref& ref) { return ref.name.starts_with(own); });
    refs.insert(refs.end(), now.refs.begin(), now.refs.end());
    TRY(write_file(place + "/packed-refs", write_packed_refs(refs), 0644));
    const Time time = m_clock.now();
    std::string messages;
    for (const Push& push : pushes) {
        TRY(m_database.execute(
            "INSERT INTO pushed_branches (id, space_id, run_id, repo_id, branch, base_commit, head_commit, pushes, "
            "created_at, pushed_at) VALUES (?, ?, ?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT (run_id, repo_id, branch) DO "
            "UPDATE SET base_commit = excluded.base_commit, head_commit = excluded.head_commit, pushes = "
            "pushed_branches.pushes + 1, pushed_at = excluded.pushed_at",
            make_id<BranchTag>(m_clock), push.space, push.run, push.repo, push.branch, push.base_commit,
            push.head_commit, time, time));
        log(Level::info, "branch pushed", {{"run", push.run}, {"repo", push.repo}, {"branch", push.branch}});
        if (m_listener == nullptr) continue;
        const auto told = m_listener->pushed(push);
        messages += progress_packet(told.ok() ? push.branch + " waits for review." : "Hone: " + told.error().message);
    }
    return messages;
}

} // namespace hone::forge
