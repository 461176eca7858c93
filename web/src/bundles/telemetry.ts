// The pages about traces and projects: one file for the browser.

export { Dashboards } from "../pages/explore/dashboards";
export { Explore } from "../pages/explore/explore";
export { ProjectPage } from "../pages/projects/project";
export { ChatSessions } from "../pages/traces/chat_sessions";
export { Logs } from "../pages/traces/logs";
export { Sql } from "../pages/traces/sql";
export { TracePage } from "../pages/traces/trace";
export { Traces } from "../pages/traces/traces";
