#include "objects/open_store.h"

#include "objects/file_store.h"
#include "objects/s3_store.h"

namespace hone::objects {

Result<std::unique_ptr<ObjectStore>> open_store(const StoreSettings& settings, const Environment& environment,
                                                const Clock& clock) {
    const Location location = TRY(parse_location(settings.object_store));
    if (!location.is_s3)
        return std::unique_ptr<ObjectStore>(
            std::make_unique<FileStore>(location.directory.empty() ? settings.data_dir : location.directory));
    S3Options options;
    options.location = location;
    options.ca_file = settings.ca_file;
    options.credentials = [file = settings.credentials_file, environment] {
        return find_credentials(file, environment);
    };
    return std::unique_ptr<ObjectStore>(TRY(S3Store::open(std::move(options), clock)));
}

} // namespace hone::objects
