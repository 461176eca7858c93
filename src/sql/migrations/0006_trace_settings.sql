-- How projects and spaces take and keep traces, where it differs from the server's defaults. The settings are JSON
-- (src/telemetry/trace_settings.h).

CREATE TABLE project_trace_settings (
    project_id TEXT PRIMARY KEY REFERENCES projects(id) ON DELETE CASCADE,
    settings TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);

CREATE TABLE space_trace_settings (
    space_id TEXT PRIMARY KEY REFERENCES spaces(id) ON DELETE CASCADE,
    settings TEXT NOT NULL,
    updated_at BIGINT NOT NULL
);
