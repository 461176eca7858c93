// The pages about runs in one file for the browser: fetched together when the first one is opened.

export { Harnesses } from "./harnesses";
export { Inbox } from "./inbox";
export { PresetPage, Presets } from "./presets";
export { RunPage } from "./run";
export { Studio } from "./studio";
export { Swarm } from "./swarm";
