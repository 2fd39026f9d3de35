/** `steward events`: the newest events of the monitored networks, and those that follow. */
import type { Event, EventList } from "../../gen/events-json.ts";
import { delay, systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { printable } from "../../kernel/base/text/printable.ts";
import type { CommandContext } from "../command.ts";
import { counted } from "../report/text.ts";
import type { RemoteArguments } from "./options.ts";
import { ifFound, runRemote, type RemoteSession } from "./run.ts";

export interface EventsArguments extends RemoteArguments {
  readonly follow: boolean;
  readonly limit: number;
  readonly sinceMs: number | undefined;
  /** Parameters of the API. */
  readonly filters: Readonly<Record<string, string>>;
}

const POLL_MS = 2_000;
/** What is read at once, and the most that is read between two polls. */
const PAGE = 200;
const MAX_PAGES = 10;

export function events(options: EventsArguments, context: CommandContext): Promise<number> {
  return runRemote(options, context, async (session) => {
    const { filters, sinceMs, limit, follow } = options;
    const start =
      sinceMs === undefined ? {} : { start: new Date(session.nowMs - sinceMs).toISOString() };
    const first = await listed(session, { ...filters, ...start, limit });
    show([...first.rows].toReversed(), session);
    if (!follow) {
      if (first.rows.length === 0 && !options.json)
        session.print(
          session.style.quiet(first.retained === 0 ? "no events yet" : "no event matches"),
        );
      return 0;
    }
    let lastSeq = await newestSeq(session);
    for (;;) {
      await delay(systemClock, POLL_MS, session.signal);
      lastSeq = await showNewer(options, session, lastSeq);
    }
  });
}

/** Of all events, whatever the filters are. */
async function newestSeq(session: RemoteSession): Promise<number> {
  const { rows } = await listed(session, { limit: 1 });
  return rows[0]?.seq ?? 0;
}

/** Prints what arrived since; resolves with the number of the newest. */
async function showNewer(
  { filters }: EventsArguments,
  session: RemoteSession,
  lastSeq: number,
): Promise<number> {
  const newest = await newestSeq(session);
  if (newest === lastSeq) return lastSeq;
  // A daemon that was started again counts from 1.
  const since = newest < lastSeq ? 0 : lastSeq;
  const found: Event[] = [];
  let cursor: string | undefined;
  let missed = false;
  for (let page = 0; ; page++) {
    const { rows, next_cursor: next } = await listed(session, {
      ...filters,
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const fresh = rows.filter(({ seq }) => seq > since && seq <= newest);
    found.push(...fresh);
    // Rows are sorted by their number, newest first.
    if (next === undefined || (rows.at(-1)?.seq ?? 0) <= since) break;
    missed = page + 1 === MAX_PAGES;
    if (missed) break;
    cursor = next;
  }
  if (missed)
    session.print(
      session.style.quiet(
        `more than ${counted(MAX_PAGES * PAGE, "event")} at once: older ones are not shown`,
      ),
    );
  show(found.toReversed(), session);
  return newest;
}

function show(rows: readonly Event[], { print, printJsonLine, style }: RemoteSession): void {
  for (const event of rows) {
    if (printJsonLine(event)) continue;
    const failed = event.error === undefined ? "" : `: ${event.error}`;
    const line = `${event.time.slice(0, 19).replace("T", " ")}Z  ${sentenceOf(event)}${failed}`;
    const text = printable(line);
    print(event.severity === "warn" || event.error !== undefined ? style.bad(text) : text);
  }
}

/** Who did what to what. */
function sentenceOf(event: Event): string {
  const { actor_name: actor = event.actor_id, target_name: target = event.target_id } = event;
  return [
    event.network,
    event.source,
    event.summary ?? event.action,
    target,
    event.target_property,
    actor === undefined ? undefined : `by ${actor}`,
  ]
    .filter((part) => part !== undefined && part !== "")
    .join("  ");
}

async function listed(
  { daemon, signal }: RemoteSession,
  query: Readonly<Record<string, string | number>>,
): Promise<EventList> {
  const list = await ifFound(daemon.json<EventList>({ path: "/api/events.json", query }, signal));
  if (list !== undefined) return list;
  throw new StewardError("not_found", "this daemon stores no events", {
    remedy: "events.enabled, services.monitor, admin.enabled and admin.landing_page must be true",
  });
}
