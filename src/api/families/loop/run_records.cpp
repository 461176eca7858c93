// Runs as records: rename, keep, delete, export.
#include "api/core/in_path.h"
#include "api/core/route.h"
#include "api/core/shapes.h"
#include "api/families/loop/run_filter.h"
#include "evaluate/files/csv.h"
#include "run/run_services.h"

#include <fmt/format.h>

namespace hone::api {

// --- shapes --------------------------------------------------------------------------------------------------------

enum class RunExportFormat { jsonl, csv };
constexpr auto enum_names(RunExportFormat) {
    return std::array{EnumName{RunExportFormat::jsonl, "jsonl"}, EnumName{RunExportFormat::csv, "csv"}};
}

struct ExportRuns : RunQuery {
    std::optional<RunExportFormat> format;
    static constexpr auto fields =
        joined(run_query_fields(), Pack{
                                       Field{"format", &ExportRuns::format, "jsonl (if not given) or csv."},
                                   });
};

struct UpdateRun {
    std::optional<std::string> title;
    std::optional<bool> kept;
    static constexpr Pack fields{
        Field{"title", &UpdateRun::title, "New title."},
        Field{"kept", &UpdateRun::kept, "true: the run and its workspace do not expire; false: they do."},
    };
};

struct UpdateArtifact {
    bool kept = false;
    static constexpr Pack fields{
        Field{"kept", &UpdateArtifact::kept, "true: the artifact and its run do not expire; false: they do."},
    };
};

// --- handlers ------------------------------------------------------------------------------------------------------

Result<run::RunFilter> run_filter_of(const RunQuery& query) {
    run::RunFilter filter;
    filter.project = query.project;
    filter.preset = query.preset;
    filter.automation = query.automation;
    filter.provider = query.provider;
    filter.harness = query.harness;
    filter.person = query.person;
    filter.title = query.title;
    filter.origin = query.origin;
    filter.after = query.after;
    filter.before = query.before;
    filter.cost_from = query.cost_from;
    filter.cost_to = query.cost_to;
    if (query.state)
        for (const std::string_view name : split(*query.state, ',')) {
            const auto state = parse_enum<run::State>(trim(name));
            if (!state) return invalid("query parameter state must be of " + json::detail::enum_choices<run::State>());
            filter.states.push_back(*state);
        }
    return filter;
}

namespace {

constexpr int64_t export_page = 500;

// A spreadsheet takes text that begins like a formula for one; an apostrophe prevents it.
std::string harmless_cell(std::string text) {
    if (!text.empty() && std::string_view("=+-@\t\r").find(text.front()) != std::string_view::npos) text.insert(0, "'");
    return text;
}

std::string csv_row(const run::Run& run) {
    const auto text = [](const auto& value) { return value ? to_text(*value) : std::string(); };
    const auto number = [](const std::optional<int64_t>& value) { return value ? std::to_string(*value) : ""; };
    std::string line;
    for (const std::string& cell :
         {run.id.text(), run.title, std::string(name_of(run.state)), run.reason, std::string(name_of(run.origin)),
          run.project_id.text(), run.preset_name.value_or(""), run.automation_id.value_or(""),
          std::string(name_of(run.provider)), run.harness, run.model, run.started_by, std::to_string(run.turns),
          std::to_string(run.usage.input), std::to_string(run.usage.output), number(run.cost_micro_usd),
          to_text(run.created_at), text(run.started_at), text(run.ended_at)})
        line += (line.empty() ? "" : ",") + evaluate::quote_csv(harmless_cell(cell));
    return line + "\n";
}

constexpr std::string_view csv_head =
    "id,title,state,reason,origin,project_id,preset,automation_id,provider,harness,model,"
    "started_by,turns,input_tokens,output_tokens,cost_micro_usd,created_at,"
    "started_at,ended_at\n";

// A page of the list at a time, so that an export of any length needs no memory.
class RunExport final : public net::BodySource {
public:
    RunExport(run::Runs& runs, access::Caller caller, access::SpaceId space, run::RunFilter filter,
              RunExportFormat format)
        : m_runs(runs),
          m_caller(std::move(caller)),
          m_space(std::move(space)),
          m_filter(std::move(filter)),
          m_format(format) {}

    Result<std::string> next() override {
        if (m_finished) return std::string();
        std::string out;
        if (m_format == RunExportFormat::csv && !m_page.cursor) out = csv_head;
        const auto page = TRY(m_runs.list(m_caller, m_space, m_filter, m_page));
        for (const run::Run& run : page.data)
            out += m_format == RunExportFormat::csv ? csv_row(run) : json::write(run) + "\n";
        m_page.cursor = page.next_cursor;
        m_finished = !page.next_cursor;
        return out;
    }

private:
    run::Runs& m_runs;
    const access::Caller m_caller;
    const access::SpaceId m_space;
    const run::RunFilter m_filter;
    const RunExportFormat m_format;
    access::PageRequest m_page{export_page, {}};
    bool m_finished = false;
};

} // namespace

Result<net::Response> export_runs(const Call& call, const ExportRuns& query) {
    run::Runs& runs = call.services.run.runs;
    const auto space = TRY(space_of(call, query.space));
    const run::RunFilter filter = TRY(run_filter_of(query));
    TRY(runs.list(call.caller, space, filter, {1, {}})); // refuses before the first byte
    const auto format = query.format.value_or(RunExportFormat::jsonl);
    const bool is_csv = format == RunExportFormat::csv;
    net::Response response;
    response.stream = std::make_unique<RunExport>(runs, call.caller, space, filter, format);
    response.content_type = is_csv ? "text/csv; charset=utf-8" : "application/x-ndjson";
    response.set_header("Content-Disposition",
                        fmt::format("attachment; filename=\"runs.{}\"", is_csv ? "csv" : "jsonl"));
    return response;
}

Result<One<run::Run>> update_run(const Call& call, const UpdateRun& body) {
    const auto id = TRY(id_in_path<run::RunTag>(call, "run"));
    return One<run::Run>{TRY(call.services.run.runs.update(call.caller, id, {body.title, body.kept}))};
}

Result<NoContent> delete_run(const Call& call) {
    const auto id = TRY(id_in_path<run::RunTag>(call, "run"));
    TRY(call.services.run.runs.remove(call.caller, id));
    call.services.installation.wake_duties();
    return NoContent{};
}

Result<One<review::Artifact>> update_artifact(const Call& call, const UpdateArtifact& body) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    return One<review::Artifact>{TRY(call.services.run.artifacts.keep(call.caller, id, body.kept))};
}

Result<NoContent> delete_artifact(const Call& call) {
    const auto id = TRY(id_in_path<review::ArtifactTag>(call, "artifact"));
    TRY(call.services.run.artifacts.remove(call.caller, id));
    return NoContent{};
}

// --- routes --------------------------------------------------------------------------------------------------------

namespace {

using enum access::Permission;

const Route run_records_table[] = {
    route<export_runs>("GET", "/v1/runs/export", need(run_read), "Runs of a space as JSON Lines or CSV, newest first.")
        .raw("application/x-ndjson, text/csv"),
    route<update_run>("PATCH", "/v1/runs/{run}", need(run_start), "Rename a run, or keep it from expiry."),
    route<delete_run>("DELETE", "/v1/runs/{run}", need(trace_delete),
                      "Delete an ended run with its transcript, artifacts, workspace and trace."),
    route<update_artifact>("PATCH", "/v1/artifacts/{artifact}", need(artifact_review),
                           "Keep an artifact from expiry, or no longer."),
    route<delete_artifact>("DELETE", "/v1/artifacts/{artifact}", need(trace_delete),
                           "Delete an artifact with its content."),
};

} // namespace

std::span<const Route> run_records_routes() {
    return run_records_table;
}

} // namespace hone::api
