#include "secret/master_keys.h"

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hone::secret {

namespace {

constexpr size_t largest_key_file = 4096;

Result<crypto::SecretBytes> parse(std::string text, const std::string& origin) {
    auto key = crypto::parse_key_text(text);
    if (!key.ok()) return corrupt(origin + " is not a master key (43 base64url characters)");
    return key;
}

Result<crypto::SecretBytes> read_key_file(const std::string& path) {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return system_error("open " + path, errno);
    if ((status.st_mode & 077) != 0)
        return forbidden(path + " can be read by others; make it private: chmod 600 " + path);
    return parse(TRY(read_file(path, largest_key_file)), path);
}

Result<> write_key_file(const std::string& path, const crypto::SecretBytes& key) {
    const crypto::SecretBytes text = crypto::key_text(key);
    std::string line = std::string(text.reveal()) + "\n";
    auto written = write_file(path, line, 0600);
    crypto::wipe(line);
    return written;
}

// A rename is there after a crash only when its directory was synced.
Result<> rename_durably(const std::string& from, const std::string& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) return system_error("rename " + from + " to " + to, errno);
    const size_t slash = to.rfind('/');
    const std::string directory = slash == std::string::npos ? "." : to.substr(0, slash + 1);
    const Fd opened(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened.is_open() || ::fsync(opened.get()) != 0) return system_error("sync " + directory, errno);
    return {};
}

Error unknown_key(const std::string& id) {
    return not_found("master key " + id);
}

} // namespace

std::string master_key_id(const crypto::SecretBytes& key) {
    return to_hex(crypto::keyed_hash(key.reveal(), "hone master key id").substr(0, 8));
}

Result<std::unique_ptr<MasterKeys>> MasterKeys::open(MasterKeyOptions options) {
    if (!options.value.empty() && !options.command.empty())
        return invalid("HONE_MASTER_KEY and master_key_command exclude each other: set one of them");
    const MasterKeySource source = !options.command.empty() ? MasterKeySource::command
                                   : !options.value.empty() ? MasterKeySource::environment
                                                            : MasterKeySource::file;
    if (source == MasterKeySource::file && !file_exists(options.file)) {
        if (!options.create_file)
            return Error{Code::not_found,
                         "the master key " + options.file + " is missing; no backup holds it: put your copy back",
                         {}};
        // A key that was prepared but whose first file is gone must not be hidden by a new one.
        if (file_exists(options.file + ".next"))
            return conflict(options.file + " is missing, but " + options.file +
                            ".next is there: put the key back before starting");
        TRY(write_key_file(options.file, crypto::random_secret(crypto::sealing_key_bytes)));
    }
    std::unique_ptr<MasterKeys> keys(new MasterKeys(std::move(options), source));
    auto current = TRY(keys->read_source());
    const std::string id = keys->add(std::move(current));
    {
        const Lock lock(keys->m_mutex);
        keys->m_current = id;
    }
    if (source == MasterKeySource::file && file_exists(keys->next_path())) {
        auto next = TRY(read_key_file(keys->next_path()));
        const std::string prepared = keys->add(std::move(next));
        const Lock lock(keys->m_mutex);
        keys->m_prepared = prepared;
    }
    if (!keys->m_options.old_value.empty()) {
        auto old = TRY(parse(std::string(keys->m_options.old_value.reveal()), "HONE_MASTER_KEY_OLD"));
        keys->add(std::move(old));
    }
    return keys;
}

Result<crypto::SecretBytes> MasterKeys::read_source() const {
    switch (m_source) {
    case MasterKeySource::file:
        return read_key_file(m_options.file);
    case MasterKeySource::environment:
        return parse(std::string(m_options.value.reveal()), "HONE_MASTER_KEY");
    case MasterKeySource::command:
        return parse(TRY(run_key_command(m_options.command)), "what master_key_command prints");
    }
    return internal("no source of the master key");
}

std::string MasterKeys::add(crypto::SecretBytes key) {
    const std::string id = master_key_id(key);
    const Lock lock(m_mutex);
    m_keys.insert_or_assign(id, std::move(key));
    return id;
}

std::string MasterKeys::current_id() const {
    const Lock lock(m_mutex);
    return m_current;
}

bool MasterKeys::has(const std::string& id) const {
    const Lock lock(m_mutex);
    return m_keys.contains(id);
}

Result<std::string> MasterKeys::seal(const std::string& id, std::string_view context,
                                     const crypto::SecretBytes& plain) const {
    const Lock lock(m_mutex);
    const auto found = m_keys.find(id);
    if (found == m_keys.end()) return unknown_key(id);
    return crypto::seal(found->second, context, plain.reveal());
}

Result<crypto::SecretBytes> MasterKeys::unseal(const std::string& id, std::string_view context,
                                               std::string_view sealed) const {
    const Lock lock(m_mutex);
    const auto found = m_keys.find(id);
    if (found == m_keys.end()) return unknown_key(id);
    return crypto::unseal(found->second, context, sealed);
}

Result<std::string> MasterKeys::prepare() {
    auto given = TRY(read_source());
    const std::string id = master_key_id(given);
    if (id != current_id()) return add(std::move(given));
    if (m_source == MasterKeySource::environment)
        return conflict(
            "the master key comes from the environment: restart with the new key in HONE_MASTER_KEY and the current "
            "key in HONE_MASTER_KEY_OLD; the server then encrypts the data keys with the new key");
    if (m_source == MasterKeySource::command)
        return conflict("master_key_command still prints the same key: change it to print a new key first");
    auto fresh = crypto::random_secret(crypto::sealing_key_bytes);
    auto written = write_key_file(next_path(), fresh);
    if (!written.ok())
        return conflict("cannot write " + next_path() + " (" + written.error().message + "): put a new key into " +
                        m_options.file + " yourself and rotate again");
    const std::string made = add(std::move(fresh));
    const Lock lock(m_mutex);
    m_prepared = made;
    return made;
}

Result<> MasterKeys::promote(const std::string& id) {
    const Lock lock(m_mutex);
    if (!m_keys.contains(id)) return unknown_key(id);
    if (m_prepared == id) {
        TRY(rename_durably(next_path(), m_options.file));
        m_prepared.reset();
    }
    m_current = id;
    return {};
}

void MasterKeys::forget_others() {
    const Lock lock(m_mutex);
    const std::string current = m_current; // the analysis does not look into lambdas
    std::erase_if(m_keys, [&](const auto& entry) { return entry.first != current; });
    m_options.old_value = {};
}

std::optional<std::string> MasterKeys::prepared_id() const {
    const Lock lock(m_mutex);
    return m_prepared;
}

void MasterKeys::discard_prepared() {
    const Lock lock(m_mutex);
    if (!m_prepared) return;
    ::unlink(next_path().c_str());
    m_keys.erase(*m_prepared);
    m_prepared.reset();
}

Result<> MasterKeys::refresh() {
    auto given = TRY(read_source());
    add(std::move(given));
    return {};
}

} // namespace hone::secret
