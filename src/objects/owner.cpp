#include "objects/owner.h"

#include "base/file.h"
#include "base/text.h"
#include "crypto/crypto.h"

namespace hone::objects {

Result<std::string> owner_of(const std::string& data_directory) {
    const std::string file = data_directory + "/object-store-owner";
    if (!file_exists(file)) TRY(write_file(file, crypto::random_token(18) + "\n", 0600));
    const std::string text = TRY(read_file(file, 1024));
    std::string owner(trim(text));
    if (owner.empty()) return corrupt(file + " is empty: remove it");
    return owner;
}

Result<bool> is_owner(ObjectStore& store, const std::string& owner) {
    auto found = get_text(store, owner_key, 1024);
    if (!found.ok() && found.error().code == Code::not_found) {
        TRY(store.put(owner_key, pieces_of(owner)));
        found = get_text(store, owner_key, 1024);
    }
    if (!found.ok()) return found.error();
    return found.value() == owner;
}

} // namespace hone::objects
