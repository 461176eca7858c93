// The master keys of this process: the current one and, during a rotation, the one before or after it. They wrap data
// keys and nothing else, and never leave this class. Where the key comes from: a file (made at the first start), the
// variable HONE_MASTER_KEY, or a command that prints it. Thread-safe.
#pragma once

#include "base/mutex.h"
#include "base/result.h"
#include "crypto/seal.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hone::secret {

enum class MasterKeySource { file, environment, command };
constexpr std::string_view name_of(MasterKeySource source) {
    return source == MasterKeySource::file ? "file" : source == MasterKeySource::command ? "command" : "environment";
}

struct MasterKeyOptions {
    std::string file{};          // used when there is neither a value nor a command
    bool create_file = false;    // make it (0600) when it is absent
    std::string command{};       // run by /bin/sh; prints the key
    crypto::SecretBytes value{}; // the text of HONE_MASTER_KEY
    // The key before, when the new one was put in place by hand (HONE_MASTER_KEY_OLD). Any source.
    crypto::SecretBytes old_value{};
};

class MasterKeys {
public:
    static Result<std::unique_ptr<MasterKeys>> open(MasterKeyOptions options);

    MasterKeySource source() const { return m_source; }
    std::string current_id() const;
    bool has(const std::string& id) const;

    // With the key of this id; not_found when this process does not hold it.
    Result<std::string> seal(const std::string& id, std::string_view context, const crypto::SecretBytes& plain) const;
    Result<crypto::SecretBytes> unseal(const std::string& id, std::string_view context, std::string_view sealed) const;

    // --- rotation, in this order: prepare, (re-wrap everything), promote, forget_others -----------------------------
    // The id of the key to change to. A file gets a new key, kept durably in FILE.next until it is promoted; if
    // the file or the command has a new key, it is that one.
    Result<std::string> prepare();
    // From now on the current one; for a file also on disk.
    Result<> promote(const std::string& id);
    void forget_others();
    // After a restart: the key that was prepared and maybe never used.
    std::optional<std::string> prepared_id() const;
    void discard_prepared();
    // Reads the source again, where another server may have put a new key.
    Result<> refresh();

private:
    explicit MasterKeys(MasterKeyOptions options, MasterKeySource source)
        : m_options(std::move(options)),
          m_source(source) {}
    Result<crypto::SecretBytes> read_source() const;
    std::string add(crypto::SecretBytes key);
    std::string next_path() const { return m_options.file + ".next"; }

    MasterKeyOptions m_options;
    const MasterKeySource m_source;
    mutable Mutex m_mutex;
    std::map<std::string, crypto::SecretBytes> m_keys GUARDED_BY(m_mutex);
    std::string m_current GUARDED_BY(m_mutex);
    std::optional<std::string> m_prepared GUARDED_BY(m_mutex);
};

// Names a key without revealing it: 16 hexadecimal digits.
std::string master_key_id(const crypto::SecretBytes& key);

// What the command prints, at most 4 KiB within 30 seconds; its other output goes to the log's descriptor.
Result<std::string> run_key_command(const std::string& command);

} // namespace hone::secret
