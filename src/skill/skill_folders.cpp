// The folders of custom skills: uploaded or fetched from git, kept by their hash.
#include "skill/skills.h"

namespace hone::skill {

using access::Caller;
using access::Permission;

namespace {

constexpr size_t most_shown_text = 64 << 10;

} // namespace

Result<Skill> Skills::put_folder(const Caller& caller, const SkillId& id, std::vector<FolderFile> files) {
    const Stored before = TRY(permitted(caller, id, Permission::skill_write));
    if (before.type != SkillType::custom) return invalid("only skills of type custom have a folder");
    Stored after = before;
    after.setup.folder = TRY(check_folder(files));
    if (after.setup.git) after.setup.git->commit = std::string(); // the folder is no longer that of the repository
    TRY(store_files(after.setup.folder->hash, files));
    return save(caller, before, std::move(after), {}, "folder uploaded (" + std::to_string(files.size()) + " files)");
}

// The files first: a version never names a folder that is not there. Equal files are stored once.
Result<> Skills::store_files(const std::string& folder_hash, const std::vector<FolderFile>& files) {
    return m_database.write([&](sql::Transaction& transaction) -> Result<> {
        for (const auto& file : files)
            TRY(transaction.execute("INSERT INTO skill_files (folder_hash, path, executable, content) VALUES (?,?,?,?) "
                                    "ON CONFLICT (folder_hash, path) DO NOTHING",
                                    folder_hash, file.path, file.executable, sql::Blob{file.content}));
        return {};
    });
}

Result<Skill> Skills::fetch_folder(const Caller& caller, const SkillId& id,
                                   const std::optional<access::SpaceId>& through) {
    const Stored before = TRY(permitted(caller, id, Permission::skill_write));
    if (before.type != SkillType::custom || !before.setup.git)
        return invalid("the skill has no git repository; set git.url first, or upload a folder");
    const auto& space = before.scope.space ? before.scope.space : through;
    if (!space)
        return invalid("the skill belongs to the installation, and repositories belong to spaces: name the space whose "
                       "repository and credential fetch it, or upload the folder");
    if (m_source == nullptr) return unavailable("this server fetches nothing from git; upload the folder instead");
    FetchedFolder fetched = TRY(m_source->fetch(caller, *space, *before.setup.git, id.text()));
    Stored after = before;
    after.setup.folder = TRY(check_folder(fetched.files));
    after.setup.git->commit = fetched.commit;
    if (*before.setup.git->commit == fetched.commit && before.setup.folder &&
        before.setup.folder->hash == after.setup.folder->hash)
        return find(caller, id);
    TRY(store_files(after.setup.folder->hash, fetched.files));
    return save(caller, before, std::move(after), {},
                "folder fetched from git at " + fetched.commit.substr(0, 12) + " (" +
                    std::to_string(fetched.files.size()) + " files)");
}

Result<std::vector<FolderFile>> Skills::folder_files(const std::string& folder_hash) const {
    const auto rows = TRY(m_database.query(
        "SELECT path, executable, content FROM skill_files WHERE folder_hash = ? ORDER BY path", folder_hash));
    std::vector<FolderFile> files;
    for (const auto& row : rows) files.push_back({row.text(0), row.blob(2), row.flag(1)});
    return files;
}

Result<std::vector<FileView>> Skills::files(const Caller& caller, const SkillId& id) const {
    const Stored stored = TRY(permitted(caller, id, Permission::skill_read));
    std::vector<FileView> views;
    if (!stored.setup.folder) return views;
    for (const auto& file : TRY(folder_files(stored.setup.folder->hash))) {
        FileView view{file.path, static_cast<int64_t>(file.content.size()), file.executable, {}};
        if (file.content.size() <= most_shown_text && is_valid_utf8(file.content) &&
            file.content.find('\0') == std::string::npos)
            view.text = file.content;
        views.push_back(std::move(view));
    }
    return views;
}

} // namespace hone::skill
