#include "forge/repos.h"

#include "base/text.h"
#include "forge/git.h"
#include "sandbox/provider/spec.h"
#include "sql/columns.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>

namespace hone::forge {

using access::Caller, access::Page, access::PageRequest, access::Permission, access::SpaceId;

namespace {

constexpr Pack repo_columns{
    sql::Column{"id", &Repo::id},
    sql::Column{"space_id", &Repo::space_id},
    sql::Column{"name", &Repo::name},
    sql::Column{"url", &Repo::url},
    sql::Column{"default_ref", &Repo::default_ref},
    sql::Column{"skill_id", &Repo::skill_id},
    sql::Column{"path_scope", &Repo::path_scope},
    sql::Column{"allow_private", &Repo::allow_private},
    sql::Column{"state", &Repo::state, MirrorState::failed},
    sql::Column{"head_ref", &Repo::head_ref},
    sql::Column{"refs", &Repo::refs},
    sql::Column{"bytes", &Repo::bytes},
    sql::Column{"fetched_at", &Repo::fetched_at},
    sql::Column{"error", &Repo::error},
    sql::Column{"notes", sql::Converted{[](Repo& repo, const sql::Row& row, size_t at) {
                    for (const std::string_view line : split(row.text(at), '\n'))
                        if (!line.empty()) repo.notes.emplace_back(line);
                }}},
    sql::Column{"created_by", &Repo::created_by},
    sql::Column{"created_at", &Repo::created_at},
};
constexpr Pack branch_columns{
    sql::Column{"id", &PushedBranch::id},
    sql::Column{"run_id", &PushedBranch::run_id},
    sql::Column{"repo_id", &PushedBranch::repo_id},
    sql::Column{"branch", &PushedBranch::branch},
    sql::Column{"base_commit", &PushedBranch::base_commit},
    sql::Column{"head_commit", &PushedBranch::head_commit},
    sql::Column{"pushes", &PushedBranch::pushes},
    sql::Column{"created_at", &PushedBranch::created_at},
    sql::Column{"pushed_at", &PushedBranch::pushed_at},
};
const std::string select_repo = "SELECT " + sql::names(repo_columns) + " FROM repos";
constexpr size_t longest_url = 500;
constexpr size_t longest_error = 2000;

Repo repo_of(const sql::Row& row) {
    return sql::read<Repo>(repo_columns, row);
}

Result<std::string> checked_repo_name(std::string_view name) {
    if (!sandbox::is_plain_name(name) || name.find('/') != std::string_view::npos || name.front() == '.' ||
        name.front() == '-' || name.ends_with(".git") || name.size() > 100)
        return invalid("name: 1 to 100 letters, digits, `.`, `_`, `-`; not `.` or `-` first, not `.git` last");
    return std::string(name);
}

Result<std::string> checked_default_ref(std::string_view ref) {
    if (!ref.empty() && !is_ref_name(ref)) return invalid("default_ref is not the name of a branch, tag or commit");
    return std::string(ref);
}

// The same repository: forges serve it with and without .git.
std::string other_spelling(const std::string& url) {
    if (url.starts_with("file://")) return url;
    return url.ends_with(".git") ? url.substr(0, url.size() - 4) : url + ".git";
}

bool is_host(std::string_view host) {
    return !host.empty() && host.size() <= 253 &&
           host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string_view::npos;
}

bool is_plain_text(std::string_view text) {
    return is_valid_utf8(text) && std::none_of(text.begin(), text.end(), [](char c) {
               return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
           });
}

Result<std::string> checked_web_url(std::string_view rest) {
    const size_t slash = rest.find('/');
    std::string_view place = rest.substr(0, slash);
    std::string_view path = slash == std::string_view::npos ? std::string_view() : rest.substr(slash);
    if (place.find('@') != std::string_view::npos)
        return invalid("url must not hold a user or a token; attach a skill with the credential instead");
    std::string host = lowercase_ascii(place.substr(0, place.find(':')));
    if (!is_host(host)) return invalid("url: the host is malformed");
    if (const size_t colon = place.find(':'); colon != std::string_view::npos) {
        const auto port = parse_integer(place.substr(colon + 1));
        if (!port.ok() || port.value() < 1 || port.value() > 65535) return invalid("url: the port is malformed");
        if (port.value() != 443) host += ":" + std::to_string(port.value());
    }
    while (path.ends_with('/')) path.remove_suffix(1);
    if (path.size() < 2) return invalid("url: the path of the repository is missing");
    if (path.find_first_of("?#%\\") != std::string_view::npos)
        return invalid("url must be plain: no query, no fragment, no escapes");
    for (const std::string_view part : split(path.substr(1), '/'))
        if (part.empty() || part == "." || part == "..") return invalid("url: the path is ambiguous");
    return "https://" + host + std::string(path);
}

} // namespace

Result<std::string> checked_url(std::string_view url, const std::string& local) {
    if (url.empty()) return invalid("url is missing");
    if (url.size() > longest_url) return invalid(fmt::format("url is longer than {} characters", longest_url));
    if (url.starts_with("file://")) { // a path as it is: the data directory can have any name
        std::string_view path = url.substr(7);
        if (!is_plain_text(path)) return invalid("url must be UTF-8 without control characters");
        while (path.ends_with('/')) path.remove_suffix(1);
        if (!sandbox::is_clean_absolute_path(path) || !path.starts_with(local + "/"))
            return forbidden("local repositories of a space must be in its folder: " + local);
        return "file://" + std::string(path);
    }
    if (!is_printable_ascii(url) || url.find(' ') != std::string_view::npos)
        return invalid("url must be printable ASCII without spaces");
    if (url.starts_with("https://")) return checked_web_url(url.substr(8));
    if (url.starts_with("ssh://") || url.find('@') < url.find(':'))
        return invalid("ssh is not supported: give the https address, and a skill with a token when it is private");
    if (url.starts_with("http://")) return invalid("plain http is not supported: give the https address");
    return invalid("url must start with https://");
}

std::string name_from_url(std::string_view url) {
    while (url.ends_with('/')) url.remove_suffix(1);
    url = url.substr(url.rfind('/') + 1);
    if (url.ends_with(".git")) url.remove_suffix(4);
    std::string name;
    for (const char c : url.substr(0, 80))
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
            c == '.')
            name += c;
    while (!name.empty() && (name.front() == '.' || name.front() == '-')) name.erase(0, 1);
    while (name.ends_with(".git")) name.resize(name.size() - 4);
    return name.empty() ? "repository" : name;
}

Result<std::string> checked_path_scope(std::string_view path) {
    while (path.ends_with('/')) path.remove_suffix(1);
    if (path.empty()) return std::string();
    if (path.size() > 500 || !is_valid_utf8(path) || path.front() == '/' || path.front() == '-')
        return invalid("path_scope must be a folder of the repository, such as services/shop");
    for (const std::string_view part : split(path, '/'))
        if (part.empty() || part == "." || part == ".." || part.find_first_of("*?[\\!\n\r") != std::string_view::npos)
            return invalid("path_scope must be a plain folder, without wildcards, `.` or `..`");
    return std::string(path);
}

Result<Page<Repo>> Repos::list(const Caller& caller, const SpaceId& space, const PageRequest& page) const {
    TRY(caller.require(Permission::repo_read, space));
    const auto rows = TRY(m_database.query(select_repo + " WHERE space_id = ? AND id > ? ORDER BY id LIMIT ?", space,
                                           TRY(page.after()), page.limit + 1));
    std::vector<Repo> repos;
    for (const auto& row : rows) repos.push_back(repo_of(row));
    return access::make_page(std::move(repos), page, [](const Repo& repo) { return repo.id.text(); });
}

Result<Repo> Repos::find(const Caller& caller, const RepoId& id, Permission permission) const {
    if (caller.is_guest()) return unauthorized("log in, or send an API key as `Authorization: Bearer …`");
    const auto rows = TRY(m_database.query(select_repo + " WHERE id = ?", id));
    if (rows.empty()) return not_found("repository " + id.text());
    Repo repo = repo_of(rows.front());
    if (caller.kind == access::CallerKind::system) return repo;
    const auto allowed = caller.require(permission, repo.space_id);
    if (allowed.ok()) return repo;
    return allowed.error().code == Code::not_found ? not_found("repository " + id.text()) : allowed.error();
}

Result<Repo> Repos::find(const Caller& caller, const SpaceId& space, std::string_view id_or_name,
                         Permission permission) const {
    if (caller.kind != access::CallerKind::system) TRY(caller.require(permission, space));
    const auto rows = TRY(
        m_database.query(select_repo + " WHERE space_id = ? AND (id = ? OR name = ?)", space, id_or_name, id_or_name));
    if (rows.empty()) return not_found("repository " + std::string(truncate_utf8(id_or_name, 100)));
    return repo_of(rows.front());
}

// The id of a skill of the space, given by id or name.
Result<std::optional<std::string>> Repos::checked_skill(const Caller& caller, const SpaceId& space,
                                                        const std::optional<std::string>& skill) const {
    if (!skill || skill->empty()) return std::optional<std::string>();
    return std::optional<std::string>(TRY(m_skills.find(caller, space, *skill)).id.text());
}

Result<Repo> Repos::insert(const Caller& caller, Repo repo, bool name_is_given) {
    repo.id = make_id<RepoTag>(m_clock);
    repo.created_at = m_clock.now();
    const std::string wanted = repo.name;
    const RepoId id = TRY(m_database.write([&](sql::Transaction& transaction) -> Result<RepoId> {
        const auto same = TRY(transaction.query("SELECT id FROM repos WHERE space_id = ? AND url IN (?, ?)",
                                                repo.space_id, repo.url, other_spelling(repo.url)));
        if (!same.empty()) {
            if (name_is_given) return conflict("this repository is registered already: " + same.front().text(0));
            return same.front().id<RepoTag>(0);
        }
        std::string name = wanted;
        for (int number = 2;; ++number) {
            const auto taken =
                TRY(transaction.query("SELECT 1 FROM repos WHERE space_id = ? AND name = ?", repo.space_id, name));
            if (taken.empty()) break;
            if (name_is_given) return conflict("a repository named " + name + " exists already in this space");
            if (number > 1000) return conflict("too many repositories are named " + wanted);
            name = wanted + "-" + std::to_string(number);
        }
        TRY(transaction.execute("INSERT INTO repos (id, space_id, name, url, default_ref, skill_id, path_scope, "
                                "allow_private, state, head_ref, refs, bytes, fetched_at, error, notes, created_by, "
                                "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, '', 0, 0, NULL, '', '', ?, ?)",
                                repo.id, repo.space_id, name, repo.url, repo.default_ref, repo.skill_id,
                                repo.path_scope, repo.allow_private, name_of(MirrorState::created), repo.created_by,
                                repo.created_at));
        TRY(m_access.audit.record(transaction, caller,
                                  {"repo_create", repo.space_id, repo.id.text(), {{"name", name}, {"url", repo.url}}}));
        return repo.id;
    }));
    return find(Caller::system(), id);
}

Result<std::string> Repos::checked_address(const SpaceId& space, std::string_view url) const {
    auto own = checked_url(url, m_local + "/" + space.text());
    if (own.ok() || !url.starts_with("file://")) return own;
    // Registered before each space had a folder of its own: stays usable where it is registered (local_path decides).
    const auto earlier = checked_url(url, m_local);
    if (!earlier.ok()) return own;
    const auto rows =
        TRY(m_database.query("SELECT 1 FROM repos WHERE space_id = ? AND url = ?", space, earlier.value()));
    return rows.empty() ? std::move(own) : earlier;
}

Result<std::string> Repos::local_path(const Repo& repo) const {
    const auto resolved = [](const std::string& path) -> std::string {
        std::error_code error;
        const auto found = std::filesystem::canonical(path, error);
        return error ? std::string() : found.string();
    };
    const auto refused = [&] { return forbidden("the repository " + repo.url + " belongs to another space"); };
    const std::string path = resolved(repo.url.substr(std::string_view("file://").size()));
    if (path.empty()) return not_found("the repository " + repo.url);
    const std::string all = resolved(m_local);
    if (all.empty() || !path.starts_with(all + "/")) return refused();
    const std::string_view inside = std::string_view(path).substr(all.size() + 1);
    const std::string_view first = inside.substr(0, inside.find('/'));
    if (first == repo.space_id.text() && inside.size() > first.size()) return path;
    if (parse_id<access::SpaceTag>(first).ok()) return refused();
    const auto oldest =
        TRY(m_database.query("SELECT space_id FROM repos WHERE url = ? ORDER BY created_at, id LIMIT 1", repo.url));
    if (oldest.empty() || oldest.front().text(0) != repo.space_id.text()) return refused();
    return path;
}

Result<Repo> Repos::create(const Caller& caller, const SpaceId& space, const NewRepo& wanted) {
    TRY(caller.require(Permission::repo_write, space));
    Repo repo;
    repo.space_id = space;
    repo.url = TRY(checked_address(space, wanted.url));
    repo.name = wanted.name.empty() ? name_from_url(repo.url) : TRY(checked_repo_name(wanted.name));
    repo.default_ref = TRY(checked_default_ref(wanted.default_ref));
    repo.skill_id = TRY(checked_skill(caller, space, wanted.skill_id));
    repo.path_scope = TRY(checked_path_scope(wanted.path_scope));
    repo.allow_private = wanted.allow_private;
    if (repo.allow_private && !caller.permissions_of_installation().has(Permission::skill_share))
        return forbidden("only installation owners may let a forge be on a private address");
    repo.created_by = caller.name;
    return insert(caller, std::move(repo), true);
}

Result<Repo> Repos::find_or_create(const SpaceId& space, std::string_view url, std::optional<std::string> skill_id,
                                   const std::string& who) {
    Repo repo;
    repo.space_id = space;
    repo.url = TRY(checked_address(space, url));
    repo.name = name_from_url(repo.url);
    repo.skill_id = std::move(skill_id);
    repo.created_by = who;
    Repo found = TRY(insert(Caller::system(), std::move(repo), false));
    if (found.url.starts_with("file://")) TRY(local_path(found));
    return found;
}

Result<Repo> Repos::update(const Caller& caller, const RepoId& id, const RepoChange& change) {
    Repo repo = TRY(find(caller, id, Permission::repo_write));
    const std::string before = repo.name;
    if (change.name) repo.name = TRY(checked_repo_name(*change.name));
    const std::string old_url = repo.url;
    if (change.url) {
        repo.url = TRY(checked_address(repo.space_id, *change.url));
        if (repo.url.starts_with("file://") != old_url.starts_with("file://"))
            return invalid("url: a repository on a forge cannot become one on this server, and the reverse");
    }
    if (change.default_ref) repo.default_ref = TRY(checked_default_ref(*change.default_ref));
    if (change.skill_id) repo.skill_id = TRY(checked_skill(caller, repo.space_id, *change.skill_id));
    if (change.path_scope) repo.path_scope = TRY(checked_path_scope(*change.path_scope));
    if (change.allow_private && *change.allow_private != repo.allow_private) {
        if (*change.allow_private && !caller.permissions_of_installation().has(Permission::skill_share))
            return forbidden("only installation owners may let a forge be on a private address");
        repo.allow_private = *change.allow_private;
    }
    TRY(m_database.write([&](sql::Transaction& transaction) -> Result<> {
        const auto taken = TRY(transaction.query("SELECT 1 FROM repos WHERE space_id = ? AND name = ? AND id <> ?",
                                                 repo.space_id, repo.name, repo.id));
        if (!taken.empty()) return conflict("a repository named " + repo.name + " exists already in this space");
        const auto same = TRY(transaction.query("SELECT id FROM repos WHERE space_id = ? AND url IN (?, ?) AND id <> ?",
                                                repo.space_id, repo.url, other_spelling(repo.url), repo.id));
        if (!same.empty()) return conflict("this address is registered already: " + same.front().text(0));
        // What the last fetch of the old address or credential reported is out of date.
        TRY(transaction.execute("UPDATE repos SET url = ?, error = '' WHERE id = ?", repo.url, repo.id));
        TRY(transaction.execute("UPDATE repos SET name = ?, default_ref = ?, skill_id = ?, path_scope = ?, "
                                "allow_private = ? WHERE id = ?",
                                repo.name, repo.default_ref, repo.skill_id, repo.path_scope, repo.allow_private,
                                repo.id));
        return m_access.audit.record(transaction, caller,
                                     {"repo_update",
                                      repo.space_id,
                                      repo.id.text(),
                                      {{"name", repo.name}, {"url", repo.url}, {"url_before", old_url}}});
    }));
    return find(caller, id);
}

Result<> Repos::remove(const Caller& caller, const RepoId& id) {
    const Repo repo = TRY(find(caller, id, Permission::repo_write));
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        TRY(transaction.execute("DELETE FROM pushed_branches WHERE repo_id = ?", id));
        TRY(transaction.execute("DELETE FROM run_repos WHERE repo_id = ?", id));
        TRY(transaction.execute("DELETE FROM repos WHERE id = ?", id));
        return m_access.audit.record(
            transaction, caller, {"repo_delete", repo.space_id, id.text(), {{"name", repo.name}, {"url", repo.url}}});
    });
}

Result<std::vector<std::string>> Repos::guarded_urls(const SpaceId& space) const {
    const auto rows =
        TRY(m_database.query("SELECT DISTINCT url FROM repos WHERE space_id = ? OR fetched_at IS NOT NULL", space));
    std::vector<std::string> urls;
    for (const auto& row : rows) urls.push_back(row.text(0));
    return urls;
}

Result<> Repos::fetched(const RepoId& id, const Fetched& fetched) {
    std::string notes;
    for (const std::string& note : fetched.notes) notes += note + "\n";
    TRY(m_database.execute("UPDATE repos SET state = ?, head_ref = ?, refs = ?, bytes = ?, fetched_at = ?, error = '', "
                           "notes = ? WHERE id = ?",
                           name_of(MirrorState::ready), fetched.head_ref, fetched.refs, fetched.bytes, m_clock.now(),
                           notes, id));
    return {};
}

Result<std::map<std::string, int64_t>> Repos::bytes_by_space() const {
    std::map<std::string, int64_t> bytes;
    for (const auto& row :
         TRY(m_database.query("SELECT space_id, CAST(SUM(bytes) AS BIGINT) FROM repos GROUP BY space_id")))
        bytes[row.text(0)] = row.integer(1);
    return bytes;
}

Result<std::map<RepoId, Repos::MirrorUse>> Repos::mirror_uses() const {
    const auto rows = TRY(m_database.query(
        "SELECT r.id, COALESCE(r.fetched_at, r.created_at), CASE WHEN EXISTS (SELECT 1 FROM run_repos u WHERE "
        "u.repo_id = r.id) THEN 1 ELSE 0 END FROM repos r"));
    std::map<RepoId, MirrorUse> uses;
    for (const auto& row : rows) uses[row.id<RepoTag>(0)] = {row.time(1), row.integer(2) != 0};
    return uses;
}

Result<bool> Repos::forget_mirror(const RepoId& id) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<bool> {
        const auto used = TRY(transaction.query("SELECT 1 FROM run_repos WHERE repo_id = ? LIMIT 1", id));
        const auto known = TRY(transaction.query("SELECT 1 FROM repos WHERE id = ?", id));
        if (!used.empty() && !known.empty()) return false;
        TRY(transaction.execute("UPDATE repos SET state = ?, head_ref = '', refs = 0, bytes = 0, fetched_at = NULL, "
                                "error = '', notes = '' WHERE id = ?",
                                name_of(MirrorState::created), id));
        return true;
    });
}

Result<> Repos::fetch_failed(const RepoId& id, const std::string& why) {
    std::string error = repair_utf8(truncate_utf8(why, longest_error));
    std::erase(error, '\0');
    TRY(m_database.execute("UPDATE repos SET state = ?, error = ? WHERE id = ?", name_of(MirrorState::failed), error,
                           id));
    return {};
}

Result<Page<PushedBranch>> Repos::branches(const Caller& caller, const RepoId& id, const PageRequest& page) const {
    TRY(find(caller, id));
    const std::string after = TRY(page.after());
    const auto rows = TRY(
        m_database.query("SELECT " + sql::names(branch_columns) +
                             " FROM pushed_branches WHERE repo_id = ? AND (? = '' OR id < ?) ORDER BY id DESC LIMIT ?",
                         id, after, after, page.limit + 1));
    std::vector<PushedBranch> branches;
    for (const auto& row : rows) branches.push_back(sql::read<PushedBranch>(branch_columns, row));
    return access::make_page(std::move(branches), page, [](const PushedBranch& branch) { return branch.id.text(); });
}

} // namespace hone::forge
