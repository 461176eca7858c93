// Usage, automations, monitors, notices and Signal in one file for the browser.

export { AutomationPage } from "./automation";
export { Automations } from "./automations";
export { IssuePage } from "./issue";
export { SignalPage } from "./signal";
export { Usage } from "./usage";
