#include "forge/push/quarantine.h"

#include "base/log.h"
#include "base/text.h"
#include "sandbox/image/tree.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>

namespace hone::forge {

namespace {

constexpr std::string_view repository_inside = "/quarantine";
constexpr std::string_view mirror_inside = "/mirror";

RunRepo run_repo_of(const sql::Row& row) {
    return {row.text(0), row.id<RepoTag>(1), row.id<access::SpaceTag>(2), row.text(3), row.text(4), row.text(5)};
}
constexpr std::string_view select_run_repo =
    "SELECT run_id, repo_id, space_id, name, base_ref, base_commit FROM run_repos";

// A text that is known already.
class ReadyResponse final : public GitExchange {
public:
    explicit ReadyResponse(std::string text) : m_text(std::move(text)) {}
    Result<> write(std::string_view) override { return {}; }
    Result<> finish() override { return {}; }
    Result<std::string> read() override { return std::exchange(m_text, {}); }

private:
    std::string m_text;
};

// Git's own output, as it comes.
class StreamedResponse final : public GitExchange {
public:
    explicit StreamedResponse(std::unique_ptr<GitProcess> process) : m_process(std::move(process)) {}
    Result<> write(std::string_view bytes) override {
        const auto written = m_process->write(bytes);
        // Git reads no more; its output has the reason.
        if (!written.ok() && written.error().code == Code::conflict) return {};
        return written;
    }
    Result<> finish() override { return m_process->close_input(); }
    Result<std::string> read() override {
        std::string piece = TRY(m_process->read());
        if (!piece.empty()) return piece;
        const GitOutput output = TRY(m_process->finish());
        if (output.exit_code != 0)
            return unavailable("git failed: " + std::string(truncate_utf8(trim(repair_utf8(output.err)), 300)));
        return piece;
    }

private:
    std::unique_ptr<GitProcess> m_process;
};

} // namespace

Result<RunRepo> Quarantine::find(const std::string& run, const std::string& name) const {
    const auto rows = TRY(m_database.query(std::string(select_run_repo) + " WHERE run_id = ? AND name = ?", run, name));
    if (rows.empty())
        return not_found("repository " + std::string(truncate_utf8(repair_utf8(name), 100)) + " of this run");
    return run_repo_of(rows.front());
}

Result<RunRepo> Quarantine::find(const std::string& run, const RepoId& repo) const {
    const auto rows =
        TRY(m_database.query(std::string(select_run_repo) + " WHERE run_id = ? AND repo_id = ?", run, repo));
    if (rows.empty()) return not_found("repository " + repo.text() + " of this run");
    return run_repo_of(rows.front());
}

bool Quarantine::is_here(const std::string& run, const RepoId& repo) const {
    return file_exists(path(run, repo) + "/packed-refs");
}

// What the name stands for: a branch before a tag, a full ref, or a commit that the mirror has.
Result<Ref> Quarantine::resolve(const Repo& repo, const std::vector<Ref>& refs, const std::string& wanted) const {
    const std::string name = !wanted.empty() ? wanted : !repo.default_ref.empty() ? repo.default_ref : repo.head_ref;
    if (!is_ref_name(name)) return invalid("ref is not the name of a branch, tag or commit");
    for (const char* before : {"refs/heads/", "refs/tags/", ""})
        if (const Ref* found = find_ref(refs, before + name)) return *found;
    if (refs.empty() && wanted.empty()) return Ref{repo.head_ref, "", ""}; // an empty repository
    if (name.size() >= 7 && name.find_first_not_of("0123456789abcdef") == std::string::npos) {
        GitJob job;
        job.arguments = {"--git-dir=/mirror", "rev-parse", "-q", "--verify", name + "^{commit}"};
        job.mounts = {{m_mirrors.path(repo.id), std::string(mirror_inside)}};
        const GitOutput output = TRY(m_git.run(job));
        const std::string commit(trim(output.out));
        if (output.exit_code == 0 && is_object_name(commit)) return Ref{commit, commit, commit};
    }
    return not_found(fmt::format("branch, tag or commit {} of {}", truncate_utf8(name, 100), repo.name));
}

Result<RunRepo> Quarantine::open(const std::string& run, const Repo& repo, const std::string& ref) {
    const auto known = find(run, repo.id);
    if (!known.ok() && known.error().code != Code::not_found) return known;
    if (known.ok() && is_here(run, repo.id)) return known;
    const std::vector<Ref> refs = TRY(m_mirrors.refs(repo.id));
    const Ref base = known.ok() ? Ref{known.value().base_ref, known.value().base_commit, known.value().base_commit}
                                : TRY(resolve(repo, refs, ref));
    const std::string place = path(run, repo.id);
    TRY(make_bare_repository(place, std::string(mirror_inside) + "/objects"));
    TRY(write_file(place + "/packed-refs", write_packed_refs(refs), 0644));
    const bool is_branch = base.name.starts_with("refs/heads/");
    TRY(write_file(place + "/HEAD", (is_branch ? "ref: " + base.name : base.commit) + "\n", 0644));
    const RunRepo made{run, repo.id, repo.space_id, repo.name, base.name, base.commit};
    TRY(m_database.execute("INSERT INTO run_repos (run_id, repo_id, space_id, name, base_ref, base_commit, created_at) "
                           "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (run_id, repo_id) DO NOTHING",
                           run, repo.id, repo.space_id, made.name, made.base_ref, made.base_commit, m_clock.now()));
    return made;
}

Result<> Quarantine::set_branch(const RunRepo& repo, const std::string& branch, const std::string& commit) {
    const std::string name = "refs/heads/" + branch;
    if (!is_ref_name(name) || !name.starts_with(prefix(repo.run_id)) || !is_object_name(commit))
        return invalid("that is not a branch of the run");
    const std::string place = path(repo.run_id, repo.repo_id);
    {
        const Lock lock(m_mutex);
        while (m_pushing.contains(place)) m_push_over.wait(m_mutex);
        m_pushing.insert(place);
    }
    const auto written = [&]() -> Result<> {
        std::vector<Ref> refs = TRY(parse_packed_refs(TRY(read_file(place + "/packed-refs", 32 << 20))));
        std::erase_if(refs, [&](const Ref& ref) { return ref.name == name; });
        refs.push_back(Ref{name, commit, commit});
        std::ranges::sort(refs, {}, &Ref::name);
        return write_file(place + "/packed-refs", write_packed_refs(refs), 0644);
    }();
    const Lock lock(m_mutex);
    m_pushing.erase(place);
    m_push_over.notify_all();
    return written;
}

std::vector<GitMount> Quarantine::mounts(const RunRepo& repo) const {
    return {{path(repo.run_id, repo.repo_id), std::string(repository_inside)},
            {m_mirrors.path(repo.repo_id), std::string(mirror_inside)}};
}

GitJob Quarantine::job_of(const RunRepo& repo, const GitRequest& request) const {
    const bool uploads = request.service == GitService::upload_pack;
    GitJob job;
    const std::string program = uploads ? "upload-pack" : "receive-pack";
    if (request.gzip && !request.advertise)
        job.script = "gzip -dc | git " + program + " --stateless-rpc \"$HONE_ROOT\"/quarantine";
    else
        job.arguments = {program, request.advertise ? "--http-backend-info-refs" : "--stateless-rpc",
                         std::string(repository_inside)};
    job.mounts = mounts(repo);
    job.stopped = request.stopped;
    if (request.protocol == "version=2" || request.protocol == "version=1")
        job.environment["GIT_PROTOCOL"] = request.protocol;
    job.settings = {
        {"uploadpack.allowFilter", "true"},        {"uploadpack.allowReachableSHA1InWant", "true"},
        {"uploadpack.allowTipSHA1InWant", "true"}, {"receive.denyDeletes", "true"},
        {"receive.advertiseAtomic", "true"},       {"receive.advertisePushOptions", "false"},
        {"receive.fsckObjects", "true"},           {"receive.maxInputSize", std::to_string(m_options.push_bytes)}};
    job.limits.time = m_options.time;
    job.limits.memory_bytes = int64_t{2} << 30;
    job.limits.output_bytes = m_options.clone_bytes;
    return job;
}

// What git can do as a server is the same for every repository: read once per process.
Result<std::string> Quarantine::capabilities(const RunRepo& repo, const GitRequest& request) {
    {
        const Lock lock(m_mutex);
        if (const auto known = m_capabilities.find(request.protocol); known != m_capabilities.end())
            return known->second;
    }
    const GitOutput output = TRY(m_git.run(job_of(repo, request)));
    if (output.exit_code != 0) return unavailable("git failed: " + std::string(trim(output.err)));
    const Lock lock(m_mutex);
    return m_capabilities[request.protocol] = output.out;
}

Result<std::unique_ptr<GitExchange>> Quarantine::serve(const GitRequest& request) {
    const RunRepo repo = TRY(find(request.run_id, request.repo));
    std::unique_ptr<GitExchange> exchange;
    const bool uploads = request.service == GitService::upload_pack;
    if (request.advertise) {
        GitRequest asked = request;
        if (!uploads) asked.protocol.clear(); // pushes have no second version
        if (asked.protocol == "version=2") {
            exchange = std::make_unique<ReadyResponse>(TRY(capabilities(repo, asked)));
            return exchange;
        }
        GitOutput output = TRY(m_git.run(job_of(repo, asked)));
        if (output.exit_code != 0) return unavailable("git failed: " + std::string(trim(output.err)));
        const std::string_view name = uploads ? "upload-pack" : "receive-pack";
        exchange =
            std::make_unique<ReadyResponse>(packet(fmt::format("# service=git-{}\n", name)) + "0000" + output.out);
        return exchange;
    }
    if (uploads) {
        exchange = std::make_unique<StreamedResponse>(TRY(m_git.start(job_of(repo, request))));
        return exchange;
    }
    if (request.gzip) return invalid("a compressed push is not supported");
    return make_push_exchange(repo, job_of(repo, request));
}

Result<> Quarantine::remove(const std::string& run) {
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM pushed_branches WHERE run_id = ?", run));
        TRY(transaction.execute("DELETE FROM run_repos WHERE run_id = ?", run));
        return {};
    }));
    // Out of sight in one step: a later clone of the run must not stand on half a repository. What a killed server
    // leaves in tmp/ is removed when the next one starts.
    TRY(make_directories(m_options.directory + "/tmp", 0700));
    const std::string aside = m_options.directory + "/tmp/removed-" + make_ulid(m_clock.now());
    if (::rename((m_options.directory + "/" + run).c_str(), aside.c_str()) != 0)
        return errno == ENOENT ? Result<>() : system_error("remove the quarantine", errno);
    return sandbox::remove_tree(aside);
}

Result<std::vector<Quarantine::Stored>> Quarantine::stored() const {
    std::map<std::string, Time> registered;
    for (const auto& row : TRY(m_database.query(
             "SELECT r.run_id, MAX(r.created_at), MAX(COALESCE(b.pushed_at, 0)) FROM run_repos r LEFT JOIN "
             "pushed_branches b ON b.run_id = r.run_id GROUP BY r.run_id")))
        registered[row.text(0)] = std::max(row.time(1), row.time(2));
    std::vector<Stored> all;
    std::error_code failed;
    for (const auto& entry : std::filesystem::directory_iterator(m_options.directory, failed)) {
        Stored one;
        one.run = entry.path().filename().string();
        if (!one.run.starts_with("run_")) continue;
        const Fd opened(::open(entry.path().c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (opened.is_open()) one.bytes = sandbox::measure_tree(opened.get(), INT64_MAX).bytes;
        if (const auto known = registered.find(one.run); known != registered.end()) {
            one.is_registered = true;
            one.used = known->second;
        }
        all.push_back(std::move(one));
    }
    return all;
}

Result<int64_t> Quarantine::sweep(const ExistingRuns& existing) {
    constexpr size_t page = 500;
    int64_t removed = 0;
    std::string after;
    for (;;) {
        const auto rows =
            TRY(m_database.query("SELECT DISTINCT run_id FROM run_repos WHERE run_id > ? ORDER BY run_id LIMIT ?",
                                 after, static_cast<int64_t>(page)));
        std::vector<std::string> ids;
        for (const auto& row : rows) ids.push_back(row.text(0));
        const auto known = TRY(existing(ids));
        for (const std::string& id : ids) {
            if (known.contains(id)) continue;
            TRY(remove(id));
            ++removed;
        }
        if (ids.size() < page) return removed;
        after = ids.back();
    }
}

} // namespace hone::forge
