/** The devices that exchange most, in a ring, joined by their traffic. The list of pairs has the figures. */
import type { FlowReport } from "../../../src/gen/flows-json.ts";
import { html, type View } from "../html.ts";
import { part } from "../pieces/section.ts";
import { bytesOf, nameOf } from "./rankings.ts";

const WIDTH = 640;
const HEIGHT = 420;
const RING_X = 190;
const RING_Y = 160;
const MAX_DEVICES = 16;
const MAX_NAME = 22;

interface Place {
  readonly x: number;
  readonly y: number;
  /** Where its name begins or ends. */
  readonly anchor: "start" | "middle" | "end";
  readonly nameX: number;
  readonly nameY: number;
}

/** Undefined for fewer than two pairs. */
export function topology({ result }: FlowReport): View | undefined {
  const edges = new Map<string, number>();
  for (const { src, dst, counts } of result.pairs) {
    if (src === dst) continue;
    const key = src < dst ? `${src}\0${dst}` : `${dst}\0${src}`;
    edges.set(key, (edges.get(key) ?? 0) + bytesOf(counts));
  }
  const joined = [...edges].map(([key, bytes]) => ({ ends: key.split("\0"), bytes }));
  const names = [...new Set(joined.flatMap(({ ends }) => ends))].slice(0, MAX_DEVICES);
  if (joined.length < 2) return undefined;
  const places = new Map(names.map((name, at) => [name, placeOf(at, names.length)]));
  const largest = Math.max(1, ...joined.map(({ bytes }) => bytes));
  return html`<div class="wide-only">${part(
    "Topology",
    html`<svg class="topology" viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label=${`${names.length} devices joined by their traffic; the list of pairs has the figures`}>
      ${joined.map(({ ends: [from = "", to = ""], bytes }) => edge(places.get(from), places.get(to), bytes / largest))}
      ${names.map((name) => device(name, places.get(name)))}
    </svg>`,
    "The pairs with most traffic; a thicker line is more of it.",
  )}</div>`;
}

function placeOf(at: number, count: number): Place {
  const angle = (2 * Math.PI * at) / count - Math.PI / 2;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  const [x, y] = [WIDTH / 2 + RING_X * cos, HEIGHT / 2 + RING_Y * sin];
  return {
    x: rounded(x),
    y: rounded(y),
    anchor: cos > 0.2 ? "start" : cos < -0.2 ? "end" : "middle",
    nameX: rounded(x + 12 * cos),
    nameY: rounded(y + 20 * sin + 4),
  };
}

function edge(from: Place | undefined, to: Place | undefined, share: number): View | undefined {
  if (from === undefined || to === undefined) return undefined;
  // Bent towards the middle, so that edges of neighbours do not lie on the ring.
  return html`<path class="edge" d=${`M${from.x} ${from.y}Q${WIDTH / 2} ${HEIGHT / 2} ${to.x} ${to.y}`} stroke-width=${rounded(1 + 6 * share)} />`;
}

function device(name: string, place: Place | undefined): View | undefined {
  if (place === undefined) return undefined;
  const shown = nameOf(name);
  const short = shown.length > MAX_NAME ? `${shown.slice(0, MAX_NAME - 1)}…` : shown;
  return html`<g><circle cx=${place.x} cy=${place.y} r="5" /><text x=${place.nameX} y=${place.nameY} text-anchor=${place.anchor}>${short}</text></g>`;
}

function rounded(value: number): number {
  return Math.round(value * 10) / 10;
}
