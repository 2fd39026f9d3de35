/** The island of `/devices` and `/devices/{id}`: draws the page again for each new status. */
import { h, render } from "preact";
import type { PresenceReport } from "../../../src/gen/presence-json.ts";
import type { StatusJson } from "../../../src/gen/status-json.ts";
import { devicesPage } from "../devices/devices-page.ts";
import type { Strips } from "../devices/strip.ts";
import { html, type View } from "../html.ts";
import { deviceLink } from "../monitor/scope.ts";
import { readAddress, watchAddress } from "./address.ts";
import { now } from "./clock.ts";
import { liveBar, STALE_MS, staleBanner } from "./live-bar.ts";
import { createPoller } from "./poller.ts";
import { createPresenceSource } from "./presence-source.ts";
import { createStatusSource } from "./status-source.ts";
import { takeOver } from "./take-over.ts";
import { startTheme } from "./theme.ts";

/** Default poll interval. */
const EVERY_MS = 5_000;
const MAX_REFRESH_MS = 60_000;
const TIMEOUT_MS = 15_000;
const TICK_MS = 1_000;
/** Without a new status the page is drawn again after this, to advance its ages. */
const REDRAW_MS = 10_000;
/** The fragment of links to the table. */
const TABLE = "devices-table";

const app = element("app");
const live = element("live");
const stale = element("stale");
const { name } = JSON.parse(app.dataset["facts"] ?? "{}") as { readonly name?: string };
let status: StatusJson | undefined;
let presence: PresenceReport | undefined;
/** Strips of the server's page, shown until presence can be read. */
let serverStrips: Strips | undefined;
let isPresenceKnown = false;
let drawnAtMs = 0;
let isDrawnStale = false;

const poller = createPoller<StatusJson>(
  {
    fetch: createStatusSource(),
    now,
    visible: () => document.visibilityState === "visible",
    answered: (answer) => {
      status = answer;
      presenceSource.look();
      draw();
    },
    changed: drawAge,
  },
  {
    everyMs: () => status?.refresh_ms ?? EVERY_MS,
    longestMs: MAX_REFRESH_MS,
    timeoutMs: TIMEOUT_MS,
  },
);

const presenceSource = createPresenceSource(name, (report) => {
  presence = report ?? presence;
  isPresenceKnown = true;
  draw();
});

function draw(): void {
  // The first drawing takes the place of what the server wrote, which has the strips.
  if (status === undefined || !isPresenceKnown) return;
  if (!document.documentElement.classList.contains("ready")) {
    serverStrips = stripsIn(app);
    return takeOver([app, live], drawAll);
  }
  const { params } = readAddress();
  [drawnAtMs, isDrawnStale] = [now(), isStale()];
  const nowMs = Date.parse(status.generated_at) + ageMs();
  render(
    devicesPage({ status, presence, strips: serverStrips, stale: isDrawnStale }, name, {
      params,
      nowMs,
      zone: undefined,
      panel: TABLE,
    }),
    app,
  );
}

function drawAll(): void {
  draw();
  drawAge();
}

// The server and this machine may not agree on the time: the age counts from when the answer came.
function ageMs(): number {
  return Math.max(0, now() - (poller.state.answeredAtMs ?? now()));
}

/** The strips in a page; on the list, each is in the row of its device. */
function stripsIn(region: HTMLElement): Strips {
  const linkOf = (strip: Element): string | null | undefined =>
    strip.closest("tr")?.querySelector("a.row-link")?.getAttribute("href");
  const drawn = new Map(
    [...region.querySelectorAll(".strip")].map((strip) => [linkOf(strip), strip] as const),
  );
  return (device) => {
    const strip = drawn.get(name === undefined ? deviceLink(device) : undefined);
    return strip === undefined ? html`<span class="muted">not known</span>` : copyOf(strip);
  };
}

function copyOf(element: Element): View {
  const attributes = [...element.attributes].map((each) => [each.name, each.value] as const);
  return h(element.localName, Object.fromEntries(attributes), [...element.children].map(copyOf));
}

function isStale(): boolean {
  return poller.state.problem !== undefined || ageMs() >= STALE_MS;
}

function drawAge(): void {
  const shownAtMs = poller.state.answeredAtMs ?? performance.timeOrigin;
  render(staleBanner(poller.state, shownAtMs, now()), stale);
  if (status === undefined) return;
  if (isStale() !== isDrawnStale || now() - drawnAtMs >= REDRAW_MS) draw();
  render(liveBar(poller.state, shownAtMs, now()), live);
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}

live.addEventListener("click", ({ target }) => {
  const wish = target instanceof HTMLElement ? target.dataset["live"] : undefined;
  if (wish === "pause") poller.pause();
  if (wish === "resume") poller.resume();
  if (wish === "refresh") void poller.refresh();
});
document.addEventListener("visibilitychange", () => poller.looked());
setInterval(() => {
  if (document.visibilityState === "visible") drawAge();
}, TICK_MS);
startTheme();
watchAddress(draw);
poller.resume();
