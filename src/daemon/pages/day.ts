/** The last day for the page `/`: presence and events of the monitor, counts of the services. */
import { dayOf, type DayFacts } from "../../../gateway/web/landing/day.ts";
import type { EventList } from "../../gen/events-json.ts";
import type { PresenceReport, ServiceCount } from "../../gen/presence-json.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import type { ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { readEvents } from "../../monitor/events/read-events.ts";
import { readPresence } from "../../monitor/presence/read-presence.ts";
import type { ServiceCountFacts } from "../../monitor/presence/types.ts";
import type { CountHistory } from "../history/count-history.ts";

const DAY_MS = 86_400_000;
/** Events asked for. */
const SEARCH = "limit=5";

export interface DaySources {
  readonly monitor?: { readonly component: Pick<ThreadHost, "call"> } | undefined;
  readonly history?: Pick<CountHistory, "view"> | undefined;
  readonly hasEvents?: boolean;
  readonly clock: Clock;
}

/** Rejects while the monitor is on and not running. */
export async function readDay(
  { monitor, history, hasEvents = false, clock }: DaySources,
  signal: AbortSignal,
): Promise<DayFacts> {
  if (monitor === undefined) return dayOf(reportWithout(history, clock), undefined, clock.now());
  const call = { signal, requestId: systemIds.uuid() };
  const [report, events] = await Promise.all([
    readPresence(monitor.component, "", call),
    hasEvents
      ? readEvents(monitor.component, SEARCH, { signal, requestId: systemIds.uuid() })
      : undefined,
  ]);
  return dayOf(
    parse(report) as PresenceReport,
    events && (parse(events) as EventList),
    clock.now(),
  );
}

function parse(json: Uint8Array<ArrayBuffer>): unknown {
  return JSON.parse(Buffer.from(json).toString());
}

/** Without a monitor nobody asks for the services' counts, so they are put together here. */
function reportWithout(
  history: DaySources["history"],
  clock: Pick<Clock, "now">,
): Pick<PresenceReport, "networks" | "services" | "start"> {
  const { hours = [], days = [] } = history?.view() ?? {};
  const row = ({ atMs, documents, groups, leases }: ServiceCountFacts): ServiceCount => ({
    at: new Date(atMs).toISOString(),
    ...(documents === undefined ? {} : { documents }),
    ...(groups === undefined ? {} : { groups }),
    ...(leases === undefined ? {} : { leases }),
  });
  return {
    networks: [],
    services: { hours: hours.map(row), days: days.map(row) },
    start: new Date(clock.now() - DAY_MS).toISOString(),
  };
}
