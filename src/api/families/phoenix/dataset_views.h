// Datasets and examples as Phoenix' clients see them, for the families of datasets and experiments. Blocks.
#pragma once

#include "api/core/in_path.h"
#include "api/families/phoenix/node_id.h"
#include "evaluate/evaluate.h"

namespace hone::api {

// The one that a path names: by node id, id or name.
Result<evaluate::Dataset> dataset_in_path(const Call& call, const std::optional<std::string>& space,
                                          access::Permission permission = access::Permission::dataset_read);
// The version that `version_id` names: a node id, an id or a number; the newest one when it is absent.
Result<evaluate::DatasetVersion> version_of(const Call& call, const evaluate::DatasetId& dataset,
                                            const std::optional<std::string>& version_id);
std::string node_id_of(const evaluate::Example& example);
// {"id":…,"node_id":…,"input":…,"output":…,"metadata":…,"updated_at":…,"source":…}, appended as JSON text.
void append_example(const evaluate::Example& example, std::string& text);
json::Value example_value(const evaluate::Example& example);

struct UploadedView {
    std::string dataset_id;
    std::string version_id;
    int64_t num_created_examples = 0;
    int64_t num_updated_examples = 0;
    int64_t num_deleted_examples = 0;
    int64_t num_redacted_texts = 0;
    static constexpr Pack fields{
        Field{"dataset_id", &UploadedView::dataset_id, ""},
        Field{"version_id", &UploadedView::version_id, "The newest version; an old one when nothing changed."},
        Field{"num_created_examples", &UploadedView::num_created_examples, ""},
        Field{"num_updated_examples", &UploadedView::num_updated_examples, ""},
        Field{"num_deleted_examples", &UploadedView::num_deleted_examples, ""},
        Field{"num_redacted_texts", &UploadedView::num_redacted_texts,
              "Texts from which an API key, a token or another credential was removed."},
    };
};
UploadedView uploaded_view(const evaluate::Uploaded& done);

} // namespace hone::api
