// Uploads and downloads of datasets in the shapes of Arize Phoenix (ADR 0010): JSON, CSV, JSON lines.
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/phoenix/dataset_views.h"
#include "api/families/phoenix/multipart.h"
#include "evaluate/datasets/example_import.h"
#include "evaluate/files/example_rows.h"
#include "net/http/compress.h"

#include <set>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

struct UploadQuery {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<bool> sync;
    static constexpr Pack fields{
        Field{"space", &UploadQuery::space, "Id or name of the space; the caller's first one if not given."},
        Field{"sync", &UploadQuery::sync, "Accepted for Phoenix clients; the examples are always stored first."},
    };
};

// A JSON upload; read from the raw body, because the same route takes forms.
struct UploadExamples {
    static constexpr bool ignores_unknown = true;
    std::optional<evaluate::UploadAction> action;
    std::string name;
    std::optional<std::string> description;
    std::optional<std::vector<json::Value>> inputs;
    std::optional<std::vector<json::Value>> outputs;
    std::optional<std::vector<json::Value>> metadata;
    std::optional<std::vector<json::Value>> splits;
    std::optional<std::vector<std::optional<std::string>>> span_ids;
    std::optional<std::vector<json::Value>> example_ids;
    static constexpr Pack fields{
        Field{"action", &UploadExamples::action, ""},           Field{"name", &UploadExamples::name, ""},
        Field{"description", &UploadExamples::description, ""}, Field{"inputs", &UploadExamples::inputs, ""},
        Field{"outputs", &UploadExamples::outputs, ""},         Field{"metadata", &UploadExamples::metadata, ""},
        Field{"splits", &UploadExamples::splits, ""},           Field{"span_ids", &UploadExamples::span_ids, ""},
        Field{"example_ids", &UploadExamples::example_ids, ""},
    };
};

struct OfVersion {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> version_id;
    static constexpr Pack fields{
        Field{"space", &OfVersion::space, "Id or name of the space; the caller's first one if not given."},
        Field{"version_id", &OfVersion::version_id, "Id or number of a version; the newest one if not given."},
    };
};

struct ImportExamples {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> name;
    std::optional<evaluate::UploadAction> action;
    std::optional<evaluate::FileFormat> format;
    static constexpr Pack fields{
        Field{"space", &ImportExamples::space, "Id or name of the space; the caller's first one if not given."},
        Field{"name", &ImportExamples::name, "Name of the dataset; it is made when there is none."},
        Field{"action", &ImportExamples::action,
              "append (if not given) adds and changes, update also deletes, create fails when the dataset exists."},
        Field{"format", &ImportExamples::format, "Format of the body: jsonl (if not given) or csv."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

namespace {

constexpr size_t largest_dataset_file = 100 << 20;
constexpr size_t largest_unpacked = 256 << 20;

std::string plain_example_id(const std::string& text) {
    return plain_id("DatasetExample", text);
}

Result<std::vector<std::string>> splits_of(const json::Value& value, size_t i) {
    std::vector<std::string> names;
    const auto wrong = [&] {
        return invalid("splits[" + std::to_string(i) + "] must be a string, a list of strings or null");
    };
    if (value.is_string()) names.emplace_back(value.get_string());
    if (value.is_array())
        for (const json::Value& item : value.get_array()) {
            if (!item.is_string()) return wrong();
            names.emplace_back(item.get_string());
        }
    if (!value.is_string() && !value.is_array() && !value.is_null()) return wrong();
    return names;
}

Result<evaluate::Upload> upload_of_json(std::string_view body) {
    json::Value tree = TRY(json::parse(body));
    const auto sent = TRY(read_lenient<UploadExamples>(std::move(tree)));
    if (!sent.inputs) return invalid("inputs is missing");
    const size_t count = sent.inputs->size();
    evaluate::Upload upload;
    upload.action = sent.action.value_or(evaluate::UploadAction::create);
    upload.name = sent.name;
    upload.description = sent.description;
    upload.replaces_splits = sent.splits.has_value();
    const auto check = [&](std::string_view name, const auto& list) -> Result<> {
        if (list && !list->empty() && list->size() != count)
            return invalid(std::string(name) + " has " + std::to_string(list->size()) + " entries, inputs has " +
                           std::to_string(count));
        return {};
    };
    TRY(check("outputs", sent.outputs));
    TRY(check("metadata", sent.metadata));
    TRY(check("splits", sent.splits));
    TRY(check("span_ids", sent.span_ids));
    TRY(check("example_ids", sent.example_ids));
    for (size_t i = 0; i < count; ++i) {
        evaluate::NewExample example;
        example.input = (*sent.inputs)[i];
        if (sent.outputs && !sent.outputs->empty() && !(*sent.outputs)[i].is_null())
            example.output = (*sent.outputs)[i];
        if (sent.metadata && !sent.metadata->empty() && !(*sent.metadata)[i].is_null())
            example.metadata = (*sent.metadata)[i];
        if (sent.splits && !sent.splits->empty()) example.splits = TRY(splits_of((*sent.splits)[i], i));
        if (sent.span_ids && !sent.span_ids->empty() && (*sent.span_ids)[i])
            example.source = evaluate::ExampleSource{"", "", *(*sent.span_ids)[i]};
        if (sent.example_ids && !sent.example_ids->empty()) {
            const json::Value& id = (*sent.example_ids)[i];
            if (id.is_string())
                example.example_id = plain_example_id(std::string(id.get_string()));
            else if (!id.is_null())
                return invalid("example_ids[" + std::to_string(i) + "] must be a string or null");
        }
        upload.examples.push_back(std::move(example));
    }
    return upload;
}

Result<std::string> unpacked(const FormPart& part) {
    const std::string_view encoding = trim(part.header("Content-Encoding"));
    if (encoding.empty() || equals_ignoring_case(encoding, "identity")) return std::string(part.content);
    if (equals_ignoring_case(encoding, "gzip") || equals_ignoring_case(encoding, "deflate"))
        return net::gunzip(part.content, largest_unpacked);
    return invalid("the file must be plain, gzip or deflate, not " + std::string(truncate_utf8(encoding, 40)));
}

Result<evaluate::FileFormat> format_of(const FormPart& part) {
    const std::string type =
        lowercase_ascii(trim(part.header("Content-Type").substr(0, part.header("Content-Type").find(';'))));
    if (type == "text/csv" || (type.empty() && part.file_name.ends_with(".csv"))) return evaluate::FileFormat::csv;
    if (type == "application/jsonl" || type == "application/x-ndjson" || type == "application/json-lines" ||
        part.file_name.ends_with(".jsonl"))
        return evaluate::FileFormat::jsonl;
    if (type.find("arrow") != std::string::npos)
        return invalid("Arrow files are not read: send CSV (text/csv) or JSON lines (application/jsonl)");
    return invalid("the Content-Type of the file must be text/csv or application/jsonl");
}

Result<evaluate::Upload> upload_of_form(std::string_view content_type, std::string_view body) {
    const auto parts = TRY(parse_form(content_type, body));
    evaluate::Upload upload;
    evaluate::ColumnNames names;
    const FormPart* file = nullptr;
    bool has_action = false, has_name = false;
    for (const FormPart& part : parts) {
        const std::string text(part.name == "file" ? std::string_view() : part.content);
        if (!is_valid_utf8(text)) return invalid(part.name + " must be valid UTF-8");
        if (part.name == "file") {
            file = &part;
        } else if (part.name == "action") {
            const auto action = parse_enum<evaluate::UploadAction>(text);
            if (!action) return invalid("Invalid dataset action: " + std::string(truncate_utf8(text, 40)));
            upload.action = *action;
            has_action = true;
        } else if (part.name == "name") {
            upload.name = text;
            has_name = true;
        } else if (part.name == "description") {
            upload.description = text;
        } else if (text.empty()) {
            continue;
        } else if (part.name == "input_keys[]") {
            names.input.push_back(text);
        } else if (part.name == "output_keys[]") {
            names.output.push_back(text);
        } else if (part.name == "metadata_keys[]") {
            names.metadata.push_back(text);
        } else if (part.name == "split_keys[]" || part.name == "split_key") {
            names.splits.push_back(text);
        } else if (part.name == "flatten_keys[]") {
            names.flatten.push_back(text);
        } else if (part.name == "span_id_key") {
            names.span_id = text;
        } else if (part.name == "example_id_key") {
            names.example_id = text;
        }
    }
    if (!has_name) return invalid("name is missing");
    if (!has_action) upload.action = evaluate::UploadAction::create;
    if (file == nullptr) return invalid("file is missing");
    const auto format = TRY(format_of(*file));
    const std::string content = TRY(unpacked(*file));
    evaluate::ExampleReader reader(format, std::move(names), [&](evaluate::NewExample example) -> Result<> {
        if (example.example_id) example.example_id = plain_example_id(*example.example_id);
        upload.examples.push_back(std::move(example));
        return {};
    });
    TRY(reader.add(content));
    TRY(reader.finish());
    upload.replaces_splits = reader.has_splits();
    return upload;
}

// The spans that examples name: their project and trace are stored as well. A span that is not found is kept by its id.
Result<> add_sources(const Call& call, const access::SpaceId& space, evaluate::Upload& upload) {
    std::set<std::string> ids;
    for (const auto& example : upload.examples)
        if (example.source) ids.insert(example.source->span);
    if (ids.empty() || ids.size() > 10'000 || !call.services.spans.store().ok()) return {};
    std::vector<telemetry::PlaceName> names;
    for (const std::string& id : ids) names.push_back({id, lowercase_ascii(id)});
    const auto places = call.services.spans.places(call.caller, space, telemetry::EvalTarget::span, names,
                                                   access::Permission::project_read);
    if (!places.ok()) return {};
    for (auto& example : upload.examples) {
        if (!example.source) continue;
        const auto place = places.value().find(example.source->span);
        if (place == places.value().end()) continue;
        example.source =
            evaluate::ExampleSource{place->second.project.id.text(), place->second.trace_id, place->second.id};
    }
    return {};
}

} // namespace

Result<One<UploadedView>> upload_dataset(const Call& call, const UploadQuery& query, const RawBody& body) {
    const auto space = TRY(space_of(call, query.space));
    TRY(call.services.evaluate.datasets.check_writer(call.caller, space));
    const std::string_view type = call.head.header("Content-Type");
    const std::string kind = lowercase_ascii(trim(type.substr(0, type.find(';'))));
    evaluate::Upload upload;
    if (kind == "multipart/form-data")
        upload = TRY(upload_of_form(type, body.bytes));
    else if (kind == "application/json")
        upload = TRY(upload_of_json(body.bytes));
    else
        return invalid("the body must be JSON (application/json) or a form with a file (multipart/form-data)");
    TRY(add_sources(call, space, upload));
    return One<UploadedView>{
        uploaded_view(TRY(call.services.evaluate.datasets.upload(call.caller, space, std::move(upload))))};
}

Result<One<UploadedView>> import_examples(const Call& call, const ImportExamples& query, const StreamedBody& body) {
    const auto space = TRY(space_of(call, query.space));
    TRY(call.services.evaluate.datasets.check_writer(call.caller, space));
    if (!query.name) return invalid("query parameter name is missing");
    if (body.reader == nullptr) return invalid("there is no body");
    const std::string_view encoding = trim(call.head.header("Content-Encoding"));
    const bool is_packed = equals_ignoring_case(encoding, "gzip");
    if (!is_packed && !encoding.empty() && !equals_ignoring_case(encoding, "identity"))
        return invalid("the body must be plain or gzip");
    const auto import = TRY(call.services.evaluate.datasets.begin_import(
        call.caller, space, *query.name, query.action.value_or(evaluate::UploadAction::append)));
    evaluate::ExampleReader reader(query.format.value_or(evaluate::FileFormat::jsonl), {},
                                   [&](evaluate::NewExample example) -> Result<> {
                                       if (example.example_id)
                                           example.example_id = plain_example_id(*example.example_id);
                                       return import->add(std::move(example));
                                   });
    if (is_packed) {
        const std::string packed = TRY(net::read_all(*body.reader, largest_dataset_file));
        const std::string content = TRY(net::gunzip(packed, largest_unpacked));
        TRY(reader.add(content));
    } else {
        for (;;) {
            const std::string piece = TRY(body.reader->read());
            if (piece.empty()) break;
            TRY(reader.add(piece));
        }
    }
    TRY(reader.finish());
    return One<UploadedView>{uploaded_view(TRY(import->finish()))};
}

namespace {

enum class Download { csv, jsonl, openai_ft, openai_evals };

// The messages of a chat inside an input or output; empty when there are none.
json::Array chat_messages(const json::Value& value) {
    if (!value.is_object()) return {};
    for (const char* key : {"messages", "message"})
        if (const json::Value* found = value.get_object().if_contains(key)) {
            if (found->is_array()) return found->get_array();
            if (found->is_object()) return json::Array{*found};
        }
    return {};
}

std::string line_of(const evaluate::Example& example, Download kind) {
    const json::Value input = json::parse(example.input).value();
    const json::Value output = json::parse(example.output).value();
    json::Object line;
    if (kind == Download::jsonl) {
        line = {{"id", example.external_id.value_or(node_id_of(example))},
                {"node_id", node_id_of(example)},
                {"input", input},
                {"output", output},
                {"metadata", json::parse(example.metadata).value()},
                {"splits", json::to_value(example.splits)}};
    } else if (kind == Download::openai_ft) {
        json::Array messages = chat_messages(input);
        for (json::Value& message : chat_messages(output)) messages.push_back(std::move(message));
        line["messages"] = std::move(messages);
        if (input.is_object() && input.get_object().contains("tools")) line["tools"] = input.at("tools");
    } else {
        line["messages"] = chat_messages(input);
        const json::Array ideal = chat_messages(output);
        line["ideal"] = ideal.empty() || !ideal.back().is_object() || !ideal.back().get_object().contains("content")
                            ? output
                            : ideal.back().at("content");
    }
    return json::print(line) + "\n";
}

// The columns of all examples: a first pass over them.
Result<std::vector<std::string>> csv_columns(const Call& call, const evaluate::DatasetId& dataset, int64_t version) {
    std::vector<std::string> columns;
    std::set<std::string> seen;
    for (int64_t after = -1;;) {
        const auto page = TRY(call.services.evaluate.datasets.examples(call.caller, dataset, version, {}, after, 1000));
        for (const auto& example : page) {
            std::vector<std::pair<std::string, std::string>> cells;
            evaluate::flatten_into(json::parse(example.input).value(), "input", cells);
            evaluate::flatten_into(json::parse(example.output).value(), "output", cells);
            evaluate::flatten_into(json::parse(example.metadata).value(), "metadata", cells);
            for (auto& [name, text] : cells)
                if (seen.insert(name).second) columns.push_back(name);
            after = example.position;
        }
        if (columns.size() > 10'000) return too_large("the examples have more than 10000 columns; use JSON lines");
        if (page.size() < 1000) break;
    }
    // Inputs first, then outputs, then metadata, each in the order in which they appear.
    std::stable_sort(columns.begin(), columns.end(), [](const std::string& a, const std::string& b) {
        const auto rank = [](const std::string& name) { return name[0] == 'i' ? 0 : name[0] == 'o' ? 1 : 2; };
        return rank(a) < rank(b);
    });
    return columns;
}

class DownloadStream final : public net::BodySource {
public:
    DownloadStream(evaluate::Datasets& datasets, access::Caller caller, evaluate::DatasetId dataset, int64_t version,
                   Download kind, std::vector<std::string> columns)
        : m_datasets(datasets),
          m_caller(std::move(caller)),
          m_dataset(std::move(dataset)),
          m_version(version),
          m_kind(kind),
          m_columns(std::move(columns)) {}

    Result<std::string> next() override {
        if (m_is_over) return std::string();
        std::string text;
        if (m_kind == Download::csv && m_after < 0) {
            text = "id,node_id";
            for (const auto& column : m_columns) text += "," + evaluate::quote_csv(column);
            text += ",splits\r\n";
        }
        auto page = TRY(m_datasets.examples(m_caller, m_dataset, m_version, {}, m_after, 500));
        TRY(m_datasets.add_split_names(m_caller, m_dataset, page));
        for (const auto& example : page) {
            text += m_kind == Download::csv ? row_of(example) : line_of(example, m_kind);
            m_after = example.position;
        }
        m_is_over = page.size() < 500;
        if (text.empty() && !m_is_over) return next();
        return text;
    }

private:
    std::string row_of(const evaluate::Example& example) const {
        std::vector<std::pair<std::string, std::string>> cells;
        evaluate::flatten_into(json::parse(example.input).value(), "input", cells);
        evaluate::flatten_into(json::parse(example.output).value(), "output", cells);
        evaluate::flatten_into(json::parse(example.metadata).value(), "metadata", cells);
        const std::map<std::string, std::string> by_name(cells.begin(), cells.end());
        std::string row =
            evaluate::quote_csv(example.external_id.value_or(node_id_of(example))) + "," + node_id_of(example);
        for (const auto& column : m_columns) {
            const auto cell = by_name.find(column);
            row += "," + (cell == by_name.end() ? "" : evaluate::quote_csv(cell->second));
        }
        return row + "," + evaluate::quote_csv(json::print(json::to_value(example.splits))) + "\r\n";
    }

    evaluate::Datasets& m_datasets;
    const access::Caller m_caller;
    const evaluate::DatasetId m_dataset;
    const int64_t m_version;
    const Download m_kind;
    const std::vector<std::string> m_columns;
    int64_t m_after = -1;
    bool m_is_over = false;
};

std::string file_name_of(const std::string& name) {
    std::string plain;
    for (const char letter : name)
        plain += std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '-' || letter == '_' ? letter : '_';
    return plain;
}

Result<net::Response> download(const Call& call, const OfVersion& query, Download kind) {
    const auto dataset = TRY(dataset_in_path(call, query.space));
    const auto version = TRY(version_of(call, dataset.id, query.version_id));
    std::vector<std::string> columns;
    if (kind == Download::csv) columns = TRY(csv_columns(call, dataset.id, version.number));
    net::Response response;
    response.content_type = kind == Download::csv ? "text/csv; charset=utf-8" : "application/x-ndjson";
    response.set_header("Content-Disposition", "attachment; filename=\"" + file_name_of(dataset.name) +
                                                   (kind == Download::csv ? ".csv\"" : ".jsonl\""));
    response.stream = std::make_unique<DownloadStream>(call.services.evaluate.datasets, call.caller, dataset.id,
                                                       version.number, kind, std::move(columns));
    return response;
}

} // namespace

Result<net::Response> download_csv(const Call& call, const OfVersion& query) {
    return download(call, query, Download::csv);
}
Result<net::Response> download_jsonl(const Call& call, const OfVersion& query) {
    return download(call, query, Download::jsonl);
}
Result<net::Response> download_openai_ft(const Call& call, const OfVersion& query) {
    return download(call, query, Download::openai_ft);
}
Result<net::Response> download_openai_evals(const Call& call, const OfVersion& query) {
    return download(call, query, Download::openai_evals);
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route phoenix_dataset_files_table[] = {
    route<upload_dataset>("POST", "/v1/datasets/upload", need(dataset_write),
                          "Create, append to or update a dataset from JSON, CSV or JSON lines.")
        .takes("application/json, multipart/form-data")
        .with_body_limit(largest_dataset_file)
        .like_phoenix(),
    route<import_examples>("POST", "/v1/datasets/import", need(dataset_write),
                           "Import a file of examples, CSV or JSON lines, plain or gzip.")
        .takes("application/octet-stream")
        .with_body_limit(size_t{16} << 30)
        .on(net::Lane::query)
        .like_phoenix(),
    route<download_csv>("GET", "/v1/datasets/{dataset}/csv", need(dataset_read), "The examples of a version as CSV.")
        .raw("text/csv")
        .like_phoenix(),
    route<download_jsonl>("GET", "/v1/datasets/{dataset}/jsonl", need(dataset_read),
                          "The examples of a version as JSON lines.")
        .raw("application/x-ndjson")
        .like_phoenix(),
    route<download_openai_ft>("GET", "/v1/datasets/{dataset}/jsonl/openai_ft", need(dataset_read),
                              "The chats of a version as JSON lines for fine-tuning at OpenAI.")
        .raw("application/x-ndjson")
        .like_phoenix(),
    route<download_openai_evals>("GET", "/v1/datasets/{dataset}/jsonl/openai_evals", need(dataset_read),
                                 "The chats of a version as JSON lines for OpenAI Evals.")
        .raw("application/x-ndjson")
        .like_phoenix(),
};

} // namespace

std::span<const Route> phoenix_dataset_files_routes() {
    return phoenix_dataset_files_table;
}

} // namespace hone::api
