// Usual cron expressions as text; null for others. The server parses cron.

const macros: Record<string, string> = {
  "@yearly": "once a year, on 1 January at 00:00",
  "@annually": "once a year, on 1 January at 00:00",
  "@monthly": "on the first of each month at 00:00",
  "@weekly": "every Sunday at 00:00",
  "@daily": "every day at 00:00",
  "@midnight": "every day at 00:00",
  "@hourly": "every hour, on the hour",
};

const day_names = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const short_days = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const whole = (text: string, most: number): number | null => {
  if (!/^\d{1,2}$/.test(text)) return null;
  const value = Number(text);
  return value <= most ? value : null;
};

const step_of = (text: string): number | null => {
  const found = /^\*\/(\d{1,2})$/.exec(text);
  return found ? Number(found[1]) : null;
};

function day_number(text: string): number | null {
  const named = short_days.indexOf(text.toLowerCase());
  if (named >= 0) return named;
  const value = whole(text, 7);
  return value === null ? null : value % 7;
}

/** "on weekdays", "every Monday and Thursday"; null for others. */
function weekday_text(text: string): string | null {
  if (/^(1-5|mon-fri)$/i.test(text)) return "on weekdays";
  if (/^(0,6|6,0|6-7|sat,sun|sun,sat|sat-sun)$/i.test(text)) return "on weekends";
  const days = text.split(",").map(day_number);
  const names = days.map((day) => (day === null ? null : (day_names[day] ?? null)));
  if (names.length > 3 || names.some((name) => name === null)) return null;
  const last = names.pop();
  return `every ${names.length > 0 ? `${names.join(", ")} and ` : ""}${last}`;
}

function ordinal(day: number): string {
  const last = day % 10;
  if (day > 10 && day < 14) return `${day}th`;
  return `${day}${last === 1 ? "st" : last === 2 ? "nd" : last === 3 ? "rd" : "th"}`;
}

function days_text(day: string, month: string, weekday: string): string | null {
  if (month !== "*") return null;
  if (day === "*" && weekday === "*") return "every day";
  if (day === "*") return weekday_text(weekday);
  const date = whole(day, 31);
  return weekday === "*" && date ? `on the ${ordinal(date)} of each month` : null;
}

/** Null: no text for it. */
export function cron_text(expression: string): string | null {
  const text = expression.trim();
  if (text.startsWith("@")) return macros[text.toLowerCase()] ?? null;
  const fields = text.split(/\s+/);
  if (fields.length === 6 && fields[0] === "*" && fields.slice(1).every((field) => field === "*"))
    return "every second";
  if (fields.length === 6 && fields[0] === "0") fields.shift();
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = fields;
  if (fields.length !== 5) return null;
  const days = days_text(day, month, weekday);
  if (days === null) return null;
  const suffix = days === "every day" ? "" : `, ${days}`;
  const minute_step = step_of(minute);
  if (minute === "*" && hour === "*") return `every minute${suffix}`;
  if (minute_step !== null && hour === "*")
    return minute_step === 1 ? `every minute${suffix}` : `every ${minute_step} minutes${suffix}`;
  const at = whole(minute, 59);
  if (at === null) return null;
  const past = at === 0 ? "on the hour" : `at ${at} past`;
  if (hour === "*") return `every hour, ${past}${suffix}`;
  const hour_step = step_of(hour);
  if (hour_step !== null) return `every ${hour_step} hours, ${past}${suffix}`;
  const hours = hour.split(",").map((one) => whole(one, 23));
  if (hours.some((one) => one === null) || hours.length > 4) return null;
  const two = (value: number | null) => String(value ?? 0).padStart(2, "0");
  const moments = hours.map((one) => `${two(one)}:${two(at)}`);
  const last = moments.pop();
  return `${days} at ${moments.length > 0 ? `${moments.join(", ")} and ` : ""}${last}`;
}
