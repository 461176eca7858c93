// Documents that retrievers return (declared in message_json.h).
#include "telemetry/messages/json_parts.h"
#include "telemetry/messages/message_json.h"

namespace hone::telemetry {

namespace {

namespace dom = simdjson::dom;

// The text of a document: a text, Gemini's and Genkit's parts, or the object that LangChain and LlamaIndex keep it in.
std::string text_of_document(const dom::object& object) {
    for (const char* name : {"page_content", "pageContent", "content", "text", "document"}) {
        const auto value = member(object, name);
        if (!value) continue;
        std::string words = words_of_content(*value);
        if (!words.empty()) return words;
    }
    return {};
}

std::optional<double> score_of_document(const dom::object& object) {
    double score = 0;
    for (const char* name : {"score", "relevance_score", "similarity", "relevanceScore"})
        if (object.at_key(name).get(score) == simdjson::SUCCESS) return score;
    return std::nullopt;
}

void read_documents_of(const dom::element& value, int depth, std::vector<Document>& documents) {
    if (depth > 6 || documents.size() >= most_messages) return;
    if (dom::array list; value.get(list) == simdjson::SUCCESS) {
        for (const dom::element& entry : list) read_documents_of(entry, depth + 1, documents);
        return;
    }
    dom::object object;
    if (value.get(object) != simdjson::SUCCESS) return;
    for (const char* name : {"documents", "output", "outputs", "results", "nodes", "docs", "kwargs", "node"})
        if (const auto inner = member(object, name); inner && (inner->is_array() || inner->is_object())) {
            const size_t before = documents.size();
            read_documents_of(*inner, depth + 1, documents);
            if (documents.size() == before + 1 && !documents.back().score)
                documents.back().score = score_of_document(object); // beside the node
            if (documents.size() > before) return;
        }
    Document document;
    document.content = text_of_document(object);
    document.id = first_text(object, {"id", "document_id", "id_", "node_id"});
    document.score = score_of_document(object);
    if (const auto metadata = object_member(object, "metadata")) document.metadata = simdjson::minify(*metadata);
    // Without its text the score shows that it is one.
    if (!document.content.empty() || (!document.id.empty() && document.score)) documents.push_back(std::move(document));
}

} // namespace

std::vector<Document> read_documents(std::string_view json) {
    std::vector<Document> documents;
    ParsedText parsed;
    if (parsed.parse(json)) read_documents_of(parsed.root, 0, documents);
    return documents;
}

} // namespace hone::telemetry
