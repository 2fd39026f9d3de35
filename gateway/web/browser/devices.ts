/** The island of `/devices` and `/devices/{id}`: draws the page again for each new status. */
import { render } from "preact";
import type { PresenceReport } from "../../../src/gen/presence-json.ts";
import type { StatusJson } from "../../../src/gen/status-json.ts";
import { devicesPage } from "../devices/devices-page.ts";
import { readAddress, watchAddress } from "./address.ts";
import { now } from "./clock.ts";
import { liveBar, STALE_MS, staleBanner } from "./live-bar.ts";
import { createPoller } from "./poller.ts";
import { createPresenceSource } from "./presence-source.ts";
import { createStatusSource } from "./status-source.ts";
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
    app.replaceChildren();
    live.replaceChildren();
    document.documentElement.classList.add("ready");
  }
  const { params } = readAddress();
  [drawnAtMs, isDrawnStale] = [now(), isStale()];
  const nowMs = Date.parse(status.generated_at) + ageMs();
  render(
    devicesPage({ status, presence, stale: isDrawnStale }, name, {
      params,
      nowMs,
      zone: undefined,
      panel: TABLE,
    }),
    app,
  );
}

// The server and this machine may not agree on the time: the age counts from when the answer came.
function ageMs(): number {
  return Math.max(0, now() - (poller.state.answeredAtMs ?? now()));
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
