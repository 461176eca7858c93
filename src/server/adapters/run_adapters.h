// Small adapters between run/ and its neighbours: the sink of a run's spans, and the presets that use a skill.
// Thread-safe.
#pragma once

#include "base/log.h"
#include "run/run_spans.h"
#include "run/settings/presets.h"
#include "skill/skills.h"

namespace hone::server {

// A run's own spans go through the ingest of all spans, into the project `hone-runs`.
class IngestSpanSink final : public run::SpanSink {
public:
    explicit IngestSpanSink(telemetry::Ingest& ingest) : m_ingest(ingest) {}
    void take(otlp::Batch& batch, const access::SpaceId& space) override {
        const auto taken = m_ingest.take(batch, space.text(), run::runs_project);
        if (!taken.ok()) log(Level::warning, "spans of a run were not stored", {{"why", taken.error().message}});
    }

private:
    telemetry::Ingest& m_ingest;
};

// A skill that a preset uses cannot be deleted.
class PresetSkillUse final : public skill::SkillUse {
public:
    explicit PresetSkillUse(const run::Presets& presets) : m_presets(presets) {}
    Result<std::vector<skill::Use>> uses_of(const std::string& skill_id) const override {
        std::vector<skill::Use> uses;
        for (const run::Presets::Named& preset : TRY(m_presets.using_skill(skill_id)))
            uses.push_back({"preset", preset.id.text(), preset.name});
        return uses;
    }

private:
    const run::Presets& m_presets;
};

} // namespace hone::server
