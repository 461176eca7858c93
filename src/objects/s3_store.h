// Objects in a bucket of an S3-compatible server. Contents up to 16 MiB are one request, larger ones a multipart upload
// that is aborted when it fails. Every body is signed with its hash, so the server stores what was sent or nothing.
// Downloads continue after a cut connection. Any thread.
#pragma once

#include "objects/object_store.h"
#include "objects/s3_client.h"

namespace hone::objects {

class S3Store final : public ObjectStore {
public:
    static Result<std::unique_ptr<S3Store>> open(S3Options options, const Clock& clock);

    Result<Stored> put(const std::string& key, const Pieces& pieces,
                       const std::optional<std::string>& sha256 = std::nullopt) override;
    Result<> get(const std::string& key, const Range& range, const Sink& sink) override;
    Result<std::optional<ObjectInfo>> head(const std::string& key) override;
    Result<ObjectPage> list(const std::string& prefix, const std::string& cursor, int limit = 1000) override;
    Result<> remove(const std::string& key) override;
    Result<std::optional<std::string>> presigned_get(const std::string& key, Duration valid_for,
                                                     const std::string& file_name) override;
    Result<int64_t> discard_unfinished(Duration older_than) override;
    Result<> reach(Duration limit) override;
    std::string description() const override;

    // Bytes of part `number` (from 1): 16 MiB, later more, so that 10,000 parts reach more than a terabyte.
    static size_t part_bytes(int number);

private:
    explicit S3Store(std::unique_ptr<S3Client> client) : m_client(std::move(client)) {}
    struct Download;
    Result<> get_once(const std::string& key, Download& download, const Sink& sink);
    Result<> abort_upload(const std::string& key, const std::string& upload_id);

    const std::unique_ptr<S3Client> m_client;
};

} // namespace hone::objects
