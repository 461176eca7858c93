// The pages about skills in one file for the browser: fetched together when the first one is opened.

export { SkillPage } from "./skill";
export { Skills } from "./skills";
