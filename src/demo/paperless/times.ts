/** Times as the archive writes them, from microseconds since 1970. */

const HOUR_MS = 3_600_000;

/** ISO 8601; microseconds are left out when they are zero. */
export function formatTime(us: number, zone: "utc" | "berlin"): string {
  const ms = Math.floor(us / 1_000);
  const offsetHours = zone === "utc" ? 0 : isSummer(ms) ? 2 : 1;
  const local = new Date(ms + offsetHours * HOUR_MS).toISOString().slice(0, 19);
  const micros = us % 1_000_000;
  const fraction = micros === 0 ? "" : `.${String(micros).padStart(6, "0")}`;
  return `${local}${fraction}${zone === "utc" ? "Z" : `+0${offsetHours}:00`}`;
}

/** Between the last Sundays of March and October, each at 01:00 UTC. */
function isSummer(ms: number): boolean {
  const year = new Date(ms).getUTCFullYear();
  return ms >= lastSunday(year, 2) && ms < lastSunday(year, 9);
}

function lastSunday(year: number, month: number): number {
  const last = new Date(Date.UTC(year, month + 1, 0, 1));
  return last.getTime() - last.getUTCDay() * 24 * HOUR_MS;
}

/** A date or a date with time, in microseconds; undefined when it is neither. */
export function parseTime(text: string): number | undefined {
  const match =
    /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)(?:\.(\d{1,6}))?(Z|[+-]\d\d:\d\d)?)?$/.exec(
      text,
    );
  if (match === null) return undefined;
  const [, date, time = "00:00", fraction = "", zone = "Z"] = match;
  const ms = Date.parse(`${date}T${time}${zone}`);
  return Number.isNaN(ms) ? undefined : ms * 1_000 + Number(fraction.padEnd(6, "0"));
}
