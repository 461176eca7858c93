// Query strings and bodies of the routes about presets, runs and artifacts, declared once.
#pragma once

#include "api/requests.h"
#include "review/artifacts.h"
#include "run/presets.h"
#include "run/runs.h"

namespace hone::api {

struct ListInSpace {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListInSpace::space, "Id or name of the space; the caller's first one if not given."},
        Field{"limit", &ListInSpace::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListInSpace::cursor, "next_cursor of the answer before."},
    };
};

struct CreatePreset {
    std::string name;
    std::optional<std::string> description;
    run::Settings settings;
    static constexpr std::tuple fields{
        Field{"name", &CreatePreset::name, "Unique in the space."},
        Field{"description", &CreatePreset::description, "What it is for."},
        Field{"settings", &CreatePreset::settings, "What a worker is made of."},
    };
};

struct UpdatePreset {
    std::optional<std::string> name;
    std::optional<std::string> description;
    std::optional<run::Settings> settings;
    static constexpr std::tuple fields{
        Field{"name", &UpdatePreset::name, "Unique in the space."},
        Field{"description", &UpdatePreset::description, "What it is for."},
        Field{"settings", &UpdatePreset::settings, "All of them; makes a version when they differ."},
    };
};

struct ListRuns {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> preset;
    std::optional<std::string> automation;
    std::optional<run::Origin> origin;
    std::optional<std::string> state;
    std::optional<Time> after;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListRuns::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListRuns::project, "Id or name: only its runs."},
        Field{"preset", &ListRuns::preset, "Id of a preset: only runs that used it."},
        Field{"automation", &ListRuns::automation, "Id of an automation: only its runs."},
        Field{"origin", &ListRuns::origin, "session or automation."},
        Field{"state", &ListRuns::state, "States, with commas: running,waiting."},
        Field{"after", &ListRuns::after, "Asked for at or after this time."},
        Field{"limit", &ListRuns::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListRuns::cursor, "next_cursor of the answer before."},
    };
};

struct ListRunEvents {
    static constexpr bool is_query = true;
    std::optional<int64_t> after;
    std::optional<int64_t> limit;
    static constexpr std::tuple fields{
        Field{"after", &ListRunEvents::after, "Only events with a greater sequence number."},
        Field{"limit", &ListRunEvents::limit, "Events in one answer, 1 to 1000; 100 if not given."},
    };
};

struct ListRunEgress {
    static constexpr bool is_query = true;
    std::optional<int64_t> after;
    std::optional<int64_t> limit;
    static constexpr std::tuple fields{
        Field{"after", &ListRunEgress::after, "Only requests with a greater number."},
        Field{"limit", &ListRunEgress::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
    };
};

struct SayToRun {
    std::string text;
    static constexpr std::tuple fields{
        Field{"text", &SayToRun::text, "The follow-up; at most 100,000 characters."},
    };
};

struct Rerun {
    std::optional<std::string> prompt;
    static constexpr std::tuple fields{
        Field{"prompt", &Rerun::prompt, "Instead of the first prompt."},
    };
};

struct ForkRun {
    std::string prompt;
    static constexpr std::tuple fields{
        Field{"prompt", &ForkRun::prompt, "What the fork is told first."},
    };
};

struct ListArtifacts {
    static constexpr bool is_query = true;
    std::optional<std::string> space;
    std::optional<std::string> project;
    std::optional<std::string> run;
    std::optional<review::ArtifactKind> kind;
    std::optional<review::ReviewState> review;
    std::optional<int64_t> limit;
    std::optional<std::string> cursor;
    static constexpr std::tuple fields{
        Field{"space", &ListArtifacts::space, "Id or name of the space; the caller's first one if not given."},
        Field{"project", &ListArtifacts::project, "Id or name: only of its runs."},
        Field{"run", &ListArtifacts::run, "Id: only what this run left."},
        Field{"kind", &ListArtifacts::kind, "investigation, labels or file."},
        Field{"review", &ListArtifacts::review, "pending, approved, rejected or changes_requested."},
        Field{"limit", &ListArtifacts::limit, "Rows in one answer, 1 to 1000; 100 if not given."},
        Field{"cursor", &ListArtifacts::cursor, "next_cursor of the answer before."},
    };
};

struct ReviewArtifact {
    review::ReviewState decision = review::ReviewState::approved;
    std::optional<std::string> comment;
    std::optional<std::string> digest;
    std::optional<int64_t> revision;
    static constexpr std::tuple fields{
        Field{"decision", &ReviewArtifact::decision,
              "approved (labels are published), rejected, or changes_requested (the session receives the comment)."},
        Field{"comment", &ReviewArtifact::comment, "The reason; needed for changes_requested."},
        Field{"digest", &ReviewArtifact::digest,
              "The artifact's digest when it was reviewed. Needed to approve anything but a branch."},
        Field{"revision", &ReviewArtifact::revision,
              "Of a branch: the revision that was reviewed. Needed to approve one."},
    };
};

// A harness as the server has it.
struct HarnessView {
    std::string name;
    std::string title;
    std::vector<std::string> protocols;
    bool live_follow_up = true;
    bool resumes = true;
    bool ready = false;
    std::optional<std::string> version;
    std::optional<std::string> advice;
    static constexpr std::tuple fields{
        Field{"name", &HarnessView::name, "As presets name it."},
        Field{"title", &HarnessView::title, "For people."},
        Field{"protocols", &HarnessView::protocols, "Model protocols it speaks; none: it needs no model."},
        Field{"live_follow_up", &HarnessView::live_follow_up, "Takes a message while it works."},
        Field{"resumes", &HarnessView::resumes, "Remembers its conversation in a new sandbox."},
        Field{"ready", &HarnessView::ready, "Can be used on this server."},
        Field{"version", &HarnessView::version, "Installed version."},
        Field{"advice", &HarnessView::advice, "What to do when it is not ready."},
    };
};

} // namespace hone::api
