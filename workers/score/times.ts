/** Times of day in one form: `08:45`, `16:29:30`, on the clock of 24 hours. */
import { CLAIMED, collect, withoutFound, type Found } from "./token-sets.ts";

const BEFORE = `(?:(?<![\\p{L}\\d:+]|\\d[.,])|(?<=[\\d${CLAIMED}]t))`;
const AFTER = "(?=z?(?![\\p{L}\\d]|:\\d))";
/** 8:45 pm, 08:45, 16:29:30; one digit of hour only where something else says that it is a time. */
const COLON = new RegExp(
  `${BEFORE}(\\d{1,2}):(\\d{2})(?::(\\d{2}))?(?:\\s?([ap])\\.?m\\b|(\\s?(?:uhr|h)\\b)|${AFTER})`,
  "gu",
);
/** 14.30 uhr, 9 uhr, 14h30. */
const MARKED = new RegExp(
  `${BEFORE}(\\d{1,2})(?:[.](\\d{2}))?\\s?uhr\\b|${BEFORE}(\\d{1,2})\\s?h\\s?(\\d{2})${AFTER}`,
  "gu",
);
/** 0845 hrs, 0845h. */
const FOUR_DIGITS = new RegExp(`${BEFORE}(\\d{2})(\\d{2})\\s?(?:hours|hrs|hr|h)\\b`, "gu");

/** The times of a lower-case text whose dates are claimed; their stretches do not overlap. */
export function findTimes(text: string): readonly Found[] {
  const colon = collect(text, COLON, ([, hour = "", minute = "", second, half, marked]) =>
    hour.length === 2 || (second ?? half ?? marked) !== undefined
      ? timeOfDay(hour, minute, second, half)
      : undefined,
  );
  const afterColon = withoutFound(text, colon);
  const marked = collect(afterColon, MARKED, ([, hour, minute, frenchHour, frenchMinute]) =>
    timeOfDay(hour ?? frenchHour ?? "", minute ?? frenchMinute ?? "00"),
  );
  const fourDigits = collect(
    withoutFound(afterColon, marked),
    FOUR_DIGITS,
    ([, hour = "", minute = ""]) => timeOfDay(hour, minute),
  );
  return [...colon, ...marked, ...fourDigits];
}

function timeOfDay(
  hourText: string,
  minute: string,
  second?: string,
  half?: string,
): string | undefined {
  const hour = Number(hourText);
  if (hour > 23 || Number(minute) > 59 || Number(second ?? 0) > 59) return undefined;
  const onClock = half === undefined || hour > 12 ? hour : (hour % 12) + (half === "p" ? 12 : 0);
  return [String(onClock).padStart(2, "0"), minute, ...(second === undefined ? [] : [second])].join(
    ":",
  );
}
