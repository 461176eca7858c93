// A relative time ("3 min ago") that is updated, with the exact time on hover.

import { useEffect, useState } from "preact/hooks";
import { local_time, refresh_interval, relative_time, zone_name } from "../lib/format/time";

export function Time({ time, missing = "never" }: { time: string | null; missing?: string }) {
  const [now, set_now] = useState(Date.now());
  useEffect(() => {
    if (time === null) return;
    const timer = setTimeout(() => set_now(Date.now()), refresh_interval(time, now));
    return () => clearTimeout(timer);
  }, [time, now]);
  if (time === null) return <span class="faint">{missing}</span>;
  return (
    <time dateTime={time} title={`${local_time(time)} ${zone_name(time)}\n${time}`}>
      {relative_time(time, now)}
    </time>
  );
}
