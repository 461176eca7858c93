// Usage, automations, monitors, notices and Signal in one file for the browser.

export { AutomationPage } from "./automation";
export { Automations } from "./automations";
export { Destinations } from "./destinations";
export { EvaluatorsPage } from "./evaluators";
export { IssuePage } from "./issue";
export { MonitorPage } from "./monitor";
export { Monitors } from "./monitors";
export { NoticesPage } from "./notices";
export { SignalPage } from "./signal";
export { Usage } from "./usage";
