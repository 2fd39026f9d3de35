/** The island of the page `/`. */
import type { EventList } from "../../../src/gen/events-json.ts";
import { dayOf, type DayFacts } from "../landing/day.ts";
import { landing } from "../landing/landing.ts";
import { createPresenceSource } from "./presence-source.ts";
import { startStatusPage } from "./status-page.ts";

const TIMEOUT_MS = 15_000;

let day: DayFacts | undefined;
let drawn = (): void => undefined;
/** Whether events are stored: else their address is unknown. */
let hasEvents = false;

/** Undefined when they could not be read. */
async function newestEvents(): Promise<EventList | undefined> {
  if (!hasEvents) return undefined;
  const answer = await fetch("/api/events.json?limit=5", {
    cache: "no-store",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).catch(() => undefined);
  return answer?.ok === true ? ((await answer.json()) as EventList) : undefined;
}

const presence = createPresenceSource(undefined, (report) => {
  if (report === undefined) return;
  void newestEvents().then((events) => {
    day = dayOf(report, events, Date.parse(report.generated_at));
    drawn();
  });
});

startStatusPage({
  view: landing,
  panels: [],
  look(redraw, given) {
    drawn = redraw;
    hasEvents = given.day?.events !== undefined;
    presence.look();
  },
  fetched: () => (day === undefined ? {} : { day }),
});
