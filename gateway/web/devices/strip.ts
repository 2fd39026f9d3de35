/** The last 24 hours of a device as a strip: online, offline, gone, or not observed. */
import type {
  DevicePresence,
  NetworkPresence,
  PresenceReport,
} from "../../../src/gen/presence-json.ts";
import { formatPercent, formatSome } from "../format.ts";
import { html, type View } from "../html.ts";
import type { NetworkDevice } from "../monitor/scope.ts";

const WINDOW_MS = 86_400_000;
/** Within this time after the last observation its state still counts. */
const FRESH_MS = 180_000;
/** The strip's own units; it is stretched to the room it has. */
const WIDTH = 240;
const HEIGHT = 24;
/** Each state has a height of its own beside its colour. */
const TOPS = { online: 2, offline: 16, gone: 20, unknown: 22 } as const;

type StripState = keyof typeof TOPS;

interface Segment {
  readonly fromMs: number;
  readonly toMs: number;
  readonly state: StripState;
}

/** The strip of a device. */
export type Strips = (device: Pick<NetworkDevice, "name" | "network">) => View;

/** The strips of all devices, each of its own network; without one the first counts. */
export function stripsOf(report: PresenceReport | undefined, nowMs: number): Strips {
  const networks = (report?.networks ?? []).map((network) => ({
    network,
    // Of a name that several devices of one network have, the first counts.
    byName: new Map(network.devices.toReversed().map((device) => [device.name, device])),
  }));
  return ({ name, network: wanted }) => {
    for (const { network, byName } of networks) {
      const device = byName.get(name);
      if (device !== undefined && (wanted === undefined || wanted === network.name))
        return strip(device, network, nowMs);
    }
    return noStrip;
  };
}

/** For a device that has no presence yet. */
const noStrip: View = html`<span class="muted">not observed yet</span>`;

function strip(device: DevicePresence, network: NetworkPresence, nowMs: number): View {
  const segments = segmentsOf(device, network, nowMs);
  const x = (timeMs: number): number => ((timeMs - nowMs + WINDOW_MS) / WINDOW_MS) * WIDTH;
  return html`<svg class="strip" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`last 24 hours: ${summaryOf(segments)}`}>
    ${segments.map(({ fromMs, toMs, state }) => html`<rect class=${state} x=${rounded(x(fromMs))} width=${rounded(Math.max(x(toMs) - x(fromMs), 0.5))} y=${TOPS[state]} height=${HEIGHT - TOPS[state]} />`)}
  </svg>`;
}

/** What the strip shows, for those who hear it. */
function summaryOf(segments: readonly Segment[]): string {
  const total = (of: (state: StripState) => boolean): number =>
    segments.reduce((sum, { fromMs, toMs, state }) => sum + (of(state) ? toMs - fromMs : 0), 0);
  const knownMs = total((state) => state !== "unknown");
  const known = segments.filter(({ state }) => state !== "unknown");
  if (known.length === 0) return "not observed";
  const changes = known.filter(({ state }, at) => at > 0 && known[at - 1]?.state !== state).length;
  const share =
    knownMs === 0
      ? Number(known.at(-1)?.state === "online")
      : total((state) => state === "online") / knownMs;
  return `online ${formatPercent(share)} of the observed time, ${formatSome(changes, "change")}, observed ${formatPercent(knownMs / WINDOW_MS)} of the time`;
}

/** From the beginning of the window to now, without a gap; neighbours differ. */
export function segmentsOf(
  { changes }: Pick<DevicePresence, "changes">,
  { observed }: Pick<NetworkPresence, "observed">,
  nowMs: number,
): readonly Segment[] {
  const startMs = nowMs - WINDOW_MS;
  const segments: Segment[] = [];
  const add = (fromMs: number, toMs: number, state: StripState): void => {
    const last = segments.at(-1);
    if (toMs <= fromMs) return;
    if (last?.state === state) segments[segments.length - 1] = { ...last, toMs };
    else segments.push({ fromMs, toMs, state });
  };
  let doneMs = startMs;
  let held: StripState = "unknown";
  for (const span of observed) {
    const fromMs = Math.max(Date.parse(span.from), doneMs);
    const toMs = Math.min(Date.parse(span.to), nowMs);
    add(doneMs, fromMs, "unknown");
    let atMs = fromMs;
    let state: StripState = "unknown";
    for (const change of changes) {
      const changedMs = Date.parse(change.at);
      if (changedMs > toMs) break;
      if (changedMs > atMs) {
        add(atMs, changedMs, state);
        atMs = changedMs;
      }
      state = change.state;
    }
    add(atMs, toMs, state);
    held = state;
    doneMs = Math.max(doneMs, toMs);
  }
  // Until the next list of devices is due, what was seen last holds.
  const now = nowMs - doneMs <= FRESH_MS ? held : "unknown";
  add(doneMs, nowMs, now);
  // What was seen for the first time in this very moment is known, too.
  if (segments.at(-1)?.state !== now) segments.push({ fromMs: doneMs, toMs: nowMs, state: now });
  return segments;
}

function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}
