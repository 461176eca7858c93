// The pages about runs and presets: one file for the browser.

export { Harnesses } from "../pages/presets/harnesses";
export { PresetPage, Presets } from "../pages/presets/presets";
export { Inbox } from "../pages/reviews/inbox";
export { History } from "../pages/runs/history";
export { RunPage } from "../pages/runs/run";
export { Studio } from "../pages/runs/studio";
export { Swarm } from "../pages/runs/swarm";
