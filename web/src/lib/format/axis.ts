// The labels of the axes of charts.

import { local_time } from "./time";

/** 14:30, 14:30:15 where the marks are closer, and the day where one begins. Seconds since 1970. */
export function axis_time(mark: number, step: number): string {
  const [date = "", time = ""] = local_time(new Date(mark * 1000).toISOString()).split(" ");
  return step >= 86_400 || time.startsWith("00:00") ? date.slice(5) : time.slice(0, step < 60 ? 8 : 5);
}

/** $0.06 for $0.0600. */
export const axis_value = (text: string) => text.replace(/^(\$\d+\.\d*?[1-9])0+$/, "$1");
