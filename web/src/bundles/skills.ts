// The pages about skills: one file for the browser.

export { SkillPage } from "../pages/skills/skill";
export { Skills } from "../pages/skills/skills";
