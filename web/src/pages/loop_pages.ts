// Usage, automations, monitors, notices and Signal in one file for the browser.

export { Usage } from "./usage";
