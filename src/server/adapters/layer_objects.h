// Prepared layers in the object store: a server uses what another one built. A layer is two objects, the contents named
// by their SHA-256 and a manifest that a key of the installation signs, so write access to the bucket is not
// enough to give a server a layer. Layers are sent by a thread of its own, after the run that needed them has begun.
#pragma once

#include "base/duty.h"
#include "base/mutex.h"
#include "objects/object_store.h"
#include "sandbox/archive/layer_archive.h"
#include "sandbox/image/store.h"
#include "secret/vault.h"

#include <deque>
#include <string>

namespace hone::server {

class LayerObjects final : public sandbox::LayerExchange {
public:
    // `key`: 32 bytes that all servers of the installation have.
    LayerObjects(objects::ObjectStore& objects, sandbox::Store store, std::string key);

    void start() { m_duty.start(); }
    Result<bool> fetch(const std::string& key, const std::string& directory) override;
    void offer(const std::string& key) override;
    // Sends one layer that was offered; zero: there may be more. For tests; otherwise a thread does.
    Result<Duration> step();

private:
    std::string manifest_of(const std::string& key, const std::string& sha256, int64_t bytes) const;
    Result<> send(const std::string& key);

    objects::ObjectStore& m_objects;
    const sandbox::Store m_store;
    const std::string m_key;
    Mutex m_mutex;
    std::deque<std::string> m_offered GUARDED_BY(m_mutex);
    Duty m_duty; // last
};

// The key of layers that all servers of this database share, as the key of this data directory's layers too: then equal
// preparations have equal keys on all servers. The first server gives that of its data directory.
Result<std::string> share_layer_key(sql::Database& database, const secret::Vault& vault, const sandbox::Store& store);

} // namespace hone::server
