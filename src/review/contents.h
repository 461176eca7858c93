// Contents of artifacts by their digest: in the data directory, or in the object store that the installation has. What
// was saved before a store was set stays in the data directory and is read from there. Thread-safe.
#pragma once

#include "base/result.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace hone::objects {
class ObjectStore;
}

namespace hone::review {

class Contents {
public:
    explicit Contents(const std::string& data_directory);
    ~Contents();
    Contents(const Contents&) = delete;
    Contents& operator=(const Contents&) = delete;

    // Before requests come. `owner` names this data directory in the store: only its owner deletes there.
    void set_store(objects::ObjectStore& store, std::string owner);

    // The digest. Saving a content again makes it recent.
    Result<std::string> keep(std::string_view content);
    // not_found; corrupt when it has another digest.
    Result<std::string> read(const std::string& digest, size_t limit) const;

    using IsNamed = std::function<Result<bool>(const std::string& digest)>;
    // Deletes one content that nothing names and that was not saved within `age`.
    Result<> remove(const std::string& digest, std::chrono::nanoseconds age, const IsNamed& is_named);

    struct Swept {
        int64_t removed = 0;
        int64_t bytes = 0;
    };
    // Deletes all contents that nothing names and that were not saved within `age`, and what broken uploads left.
    Result<Swept> sweep(std::chrono::nanoseconds age, const IsNamed& is_named);

private:
    // Whether this data directory may delete in the store.
    Result<bool> may_delete() const;

    const std::unique_ptr<objects::ObjectStore> m_local;
    objects::ObjectStore* m_store; // m_local, or the store of the installation
    std::string m_owner;
};

} // namespace hone::review
