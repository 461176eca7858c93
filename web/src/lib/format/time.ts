// Server times are RFC 3339 strings with nanoseconds. They stay strings until shown:
// nanoseconds do not fit a double, so only the milliseconds are ever turned into a number.

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Milliseconds since 1970 of a server time; NaN when it is not a time. */
export function to_milliseconds(time: string): number {
  return Date.parse(time.replace(/(\.\d{3})\d+/, "$1"));
}

// Past times are rounded down; future times are rounded, so that a week is still "in 7 d" a moment later.
function step(milliseconds: number, round: (value: number) => number): string {
  if (milliseconds < minute) return `${round(milliseconds / second)} s`;
  if (milliseconds < hour) return `${round(milliseconds / minute)} min`;
  if (milliseconds < day) return `${round(milliseconds / hour)} h`;
  return `${round(milliseconds / day)} d`;
}

const month_names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** "12 s ago", "in 3 d", and a date once the distance is more than 30 days. */
export function relative_time(time: string, now: number): string {
  const then = to_milliseconds(time);
  if (Number.isNaN(then)) return time;
  const distance = now - then;
  if (Math.abs(distance) < 5 * second) return "just now";
  if (Math.abs(distance) >= 30 * day) {
    const date = new Date(then);
    const text = `${date.getDate()} ${month_names[date.getMonth()]}`;
    return date.getFullYear() === new Date(now).getFullYear() ? text : `${text} ${date.getFullYear()}`;
  }
  return distance > 0 ? `${step(distance, Math.floor)} ago` : `in ${step(-distance, Math.round)}`;
}

const two = (value: number) => String(value).padStart(2, "0");

/** "2026-11-15 09:17:58" in the reader's own time zone. */
export function local_time(time: string): string {
  const milliseconds = to_milliseconds(time);
  if (Number.isNaN(milliseconds)) return time;
  const date = new Date(milliseconds);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** "UTC+02:00": the zone that local_time uses at that moment. */
export function zone_name(time: string): string {
  const offset = -new Date(to_milliseconds(time)).getTimezoneOffset();
  if (offset === 0 || Number.isNaN(offset)) return "UTC";
  const size = Math.abs(offset);
  return `UTC${offset > 0 ? "+" : "-"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** The interval at which a relative time must be updated. */
export function refresh_interval(time: string, now: number): number {
  const distance = Math.abs(now - to_milliseconds(time));
  if (distance < minute) return second;
  if (distance < hour) return 15 * second;
  return 5 * minute;
}
