// Addresses of automations, monitors, issues and notices, for links from anywhere.

import { segment } from "../api";
import { space } from "../session";

const in_space = () => `/s/${segment(space.value?.name ?? "")}`;
const in_project = (project: string) => `${in_space()}/projects/${segment(project)}`;

export const automations_page = () => `${in_space()}/automations`;
export const automation_page = (id: string) => `${in_space()}/automations/${segment(id)}`;
export const monitors_page = (project: string) => `${in_project(project)}/monitors`;
export const monitor_page = (project: string, id: string) => `${in_project(project)}/monitors/${segment(id)}`;
export const evaluators_page = (project: string) => `${in_project(project)}/evaluators`;
export const signal_page = (project: string) => `${in_project(project)}/signal`;
export const issue_page = (project: string, id: string) => `${in_project(project)}/signal/${segment(id)}`;
export const destinations_page = () => `${in_space()}/settings/destinations`;
export const notices_page = () => `${in_space()}/notices`;
