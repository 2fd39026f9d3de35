/** What the last day was like: counts by the hour, who came and left, and the newest events. */
import type { Event as EventRow, EventList } from "../../../src/gen/events-json.ts";
import type {
  NetworkPresence,
  PresenceReport,
  ServiceCount,
} from "../../../src/gen/presence-json.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Names and events shown. */
const MAX_NAMES = 5;
const MAX_EVENTS = 5;

/** A count of the last 24 hours. */
export interface Trend {
  /** One for each hour that is known, oldest first; the last one is now. */
  readonly points: readonly number[];
  /** The last count of yesterday; undefined when it is not known. */
  readonly yesterday: number | undefined;
}

/** Devices that changed; `names` are the first of them. */
export interface Moved {
  readonly count: number;
  readonly names: readonly string[];
}

export interface DayFacts {
  readonly devices?: Trend | undefined;
  readonly online?: Trend | undefined;
  readonly documents?: Trend | undefined;
  readonly groups?: Trend | undefined;
  readonly leases?: Trend | undefined;
  readonly came: Moved;
  readonly left: Moved;
  /** The newest of the last 24 hours; undefined while no events are stored. */
  readonly events?: readonly EventRow[] | undefined;
}

export function dayOf(
  report: Pick<PresenceReport, "networks" | "services" | "start">,
  events: EventList | undefined,
  nowMs: number,
): DayFacts {
  const { networks, services } = report;
  const counted = (of: "documents" | "groups" | "leases"): Trend | undefined => {
    const pointsOf = (rows: readonly ServiceCount[] = []): Point[] =>
      rows.map((row) => [row.at, row[of]]);
    return trend(pointsOf(services?.hours), pointsOf(services?.days), nowMs);
  };
  return {
    devices: summed(networks, "devices", nowMs),
    online: summed(networks, "online", nowMs),
    documents: counted("documents"),
    groups: counted("groups"),
    leases: counted("leases"),
    came: moved(networks.flatMap(cameIn)),
    left: moved(networks.flatMap((network) => leftIn(network, Date.parse(report.start)))),
    events: events?.rows
      .filter(({ time }) => nowMs - Date.parse(time) < DAY_MS)
      .slice(0, MAX_EVENTS),
  };
}

type Point = readonly [at: string, count: number | undefined];

function trend(hours: readonly Point[], days: readonly Point[], nowMs: number): Trend | undefined {
  const points = hours.flatMap(([, count]) => count ?? []);
  if (points.length === 0) return undefined;
  const today = nowMs - (nowMs % DAY_MS);
  const before = days.find(([at]) => Date.parse(at) === today - DAY_MS);
  return { points, yesterday: before?.[1] };
}

/** Of all networks together, in the hours that every one of them knows. */
function summed(
  networks: readonly NetworkPresence[],
  of: "devices" | "online",
  nowMs: number,
): Trend | undefined {
  const add = (rows: (network: NetworkPresence) => NetworkPresence["hours"]): Point[] => {
    const sums = new Map<string, { networks: number; count: number }>();
    for (const network of networks)
      for (const row of rows(network)) {
        const sum = sums.get(row.at) ?? { networks: 0, count: 0 };
        sums.set(row.at, { networks: sum.networks + 1, count: sum.count + row[of] });
      }
    return [...sums]
      .filter(([, sum]) => sum.networks === networks.length)
      .map(([at, { count }]) => [at, count]);
  };
  return trend(
    add(({ hours }) => hours),
    add(({ days }) => days),
    nowMs,
  );
}

/** Who was listed for the first time within the window, but not in its first list. */
function cameIn({ devices, observed }: NetworkPresence): readonly string[] {
  const [firstSpan] = observed;
  if (firstSpan === undefined) return [];
  return devices
    .filter(({ state, changes: [first] }) => {
      const since = Date.parse(first?.at ?? "");
      return state !== "gone" && since > Date.parse(firstSpan.from);
    })
    .map(({ name }) => name);
}

function leftIn({ devices }: NetworkPresence, startMs: number): readonly string[] {
  return devices
    .filter(
      ({ state, changes }) => state === "gone" && Date.parse(changes.at(-1)?.at ?? "") >= startMs,
    )
    .map(({ name }) => name);
}

function moved(names: readonly string[]): Moved {
  return { count: names.length, names: names.slice(0, MAX_NAMES) };
}
