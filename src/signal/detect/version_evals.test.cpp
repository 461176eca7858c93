// Evals that became worse with a version of the service or of a prompt, on the real engine.
#include "signal/detect/detectors.h"
#include "signal/detect/evidence.h"
#include "telemetry/query/evals.h"
#include "telemetry/store_fixture.h"

#include <fmt/format.h>

using namespace hone;
using namespace hone::signal;
using namespace hone::telemetry::testing;

namespace {

// Two releases: one until twelve hours ago, the other since then. The window of the scan has half of the first.
class Releases {
public:
    explicit Releases(std::string name) : m_name(std::move(name)) {
        fixture().store();
        m_now = to_ns(fixture().clock.now());
    }

    struct Version {
        std::string version;
        bool is_prompt = false;
        bool is_second = false;
        int passes = 0;
        int fails = 0;
        telemetry::EvalTarget target = telemetry::EvalTarget::trace;
    };
    void add(const Version& release) {
        std::vector<TestSpan> spans;
        const int count = release.passes + release.fails;
        const int64_t first = m_now - (release.is_second ? 12 : 36) * hour_ns;
        const int64_t step = (release.is_second ? 11 : 24) * hour_ns / count;
        for (int i = 0; i < count; ++i) {
            TestSpan span;
            span.trace = span.id = ++m_count;
            span.start_ns = first + i * step;
            if (release.is_prompt)
                span.attributes = text_attribute("openinference.span.kind", "LLM") + "," +
                                  text_attribute("llm.prompt_template.version", release.version);
            telemetry::Eval eval;
            eval.project = "project_" + m_name;
            eval.target = release.target;
            eval.target_id = hex_number(m_count, release.target == telemetry::EvalTarget::span ? 16 : 32);
            eval.name = "helpful";
            eval.annotator = eval.identifier = "evaluator_1";
            eval.kind = telemetry::EvalKind::llm;
            // Mixed, so that no part of the time is better than another.
            eval.label = i * release.passes / count != (i + 1) * release.passes / count ? "pass" : "fail";
            eval.target_ns = span.start_ns;
            m_evals.push_back(std::move(eval));
            spans.push_back(std::move(span));
        }
        std::string body = request(spans);
        const std::string service = text_attribute("service.name", "shop");
        if (!release.is_prompt)
            body.replace(body.find(service), service.size(),
                         service + "," + text_attribute("service.version", release.version));
        const auto sent = fixture().send_json(m_name, body);
        REQUIRE_MESSAGE(sent.status == 200, sent.body);
    }
    std::vector<Candidate> look() {
        fixture().wait();
        telemetry::Evals evals(fixture().telemetry->engine(), fixture().clock);
        const auto written = evals.upsert(std::move(m_evals));
        REQUIRE_MESSAGE(written.ok(), (written.ok() ? "" : written.error().message));
        Survey survey = Survey::without_totals(
            fixture().telemetry->engine(), {"project_" + m_name, m_now - 96 * hour_ns, m_now - 24 * hour_ns, m_now});
        std::vector<Candidate> found;
        const auto looked = detect_version_regressions(survey, found);
        REQUIRE_MESSAGE(looked.ok(), (looked.ok() ? "" : looked.error().message + " | " + looked.error().trail));
        for (Candidate& candidate : found) {
            const auto gathered = gather_evidence(survey, candidate);
            REQUIRE_MESSAGE(gathered.ok(), (gathered.ok() ? "" : gathered.error().message));
        }
        return found;
    }

private:
    const std::string m_name;
    int64_t m_now = 0;
    uint64_t m_count = 0;
    std::vector<telemetry::Eval> m_evals;
};

} // namespace

TEST_CASE("evals that are worse with a new version of the service are a regression of that version") {
    for (const auto target : {telemetry::EvalTarget::trace, telemetry::EvalTarget::span}) {
        Releases releases(fmt::format("version-evals-{}", name_of(target)));
        releases.add({.version = "1.0", .passes = 90, .fails = 10, .target = target});
        releases.add({.version = "1.1", .is_second = true, .passes = 50, .fails = 50, .target = target});
        const auto found = releases.look();
        REQUIRE(found.size() == 1);
        CHECK(found[0].detector == Detector::version_regression);
        CHECK(found[0].title == "The eval helpful became worse with version 1.1: 50 % instead of 90 %");
        CHECK(found[0].about == "eval|helpful");
        CHECK(found[0].filter == fmt::format("version = \"1.1\" and service = \"shop\" and {}[\"helpful\"].label != "
                                             "\"pass\"",
                                             target == telemetry::EvalTarget::span ? "eval" : "trace_eval"));
        CHECK(name_of(found[0].severity) == "high");
        CHECK(found[0].traces == 50); // the failing ones of 1.1, none of 1.0
    }
}

TEST_CASE("evals that are worse with a new version of a prompt are a regression of the prompt") {
    Releases releases("prompt-evals");
    releases.add({.version = "7", .is_prompt = true, .passes = 90, .fails = 10});
    releases.add({.version = "8", .is_prompt = true, .is_second = true, .passes = 50, .fails = 50});
    const auto found = releases.look();
    REQUIRE(found.size() == 1);
    CHECK(found[0].title == "The eval helpful became worse with prompt version 8: 50 % instead of 90 %");
}

TEST_CASE("a version whose evals are equally good, or better, is no regression") {
    Releases same("version-evals-same");
    same.add({.version = "1.0", .passes = 80, .fails = 20});
    same.add({.version = "1.1", .is_second = true, .passes = 76, .fails = 24});
    CHECK(same.look().empty());
    Releases better("version-evals-better");
    better.add({.version = "1.0", .passes = 50, .fails = 50});
    better.add({.version = "1.1", .is_second = true, .passes = 90, .fails = 10});
    CHECK(better.look().empty());
}
