/**
 * The island of a page over the monitor's status: renders the page again for each new status, and
 * for each change of the address.
 */
import { render } from "preact";
import type { StatusJson } from "../../../src/gen/status-json.ts";
import type { View } from "../html.ts";
import type { LandingFacts } from "../landing/process-summary.ts";
import type { PageState } from "../page-state.ts";
import { watchAddress, readAddress } from "./address.ts";
import { now } from "./clock.ts";
import { startDialogs } from "./dialogs.ts";
import { liveBar, STALE_MS, staleBanner } from "./live-bar.ts";
import { createPoller } from "./poller.ts";
import { createStatusSource } from "./status-source.ts";
import { showTab, startTabs } from "./tabs.ts";
import { takeOver } from "./take-over.ts";
import { startTheme } from "./theme.ts";

/** Default poll interval. */
const EVERY_MS = 5_000;
const MAX_REFRESH_MS = 60_000;
const TIMEOUT_MS = 15_000;
const TICK_MS = 1_000;
/** Without a new status the page is rendered again after this, to advance its ages. */
const REDRAW_MS = 10_000;

/** What came with the page. */
type GivenFacts = Pick<LandingFacts, "summary" | "summaryAtMs" | "api" | "day">;

export interface StatusPageOptions {
  readonly view: (facts: LandingFacts, state: PageState) => View;
  /** Ids of its panels, in order; empty without any. */
  readonly panels: readonly string[];
  /** Called each second while the page is visible: whatever is fetched beside the status. */
  readonly look?: (redraw: () => void, given: GivenFacts) => void;
  /** What was fetched so; replaces what came with the page. */
  readonly fetched?: () => Partial<LandingFacts>;
  /** What dialogs of the page do, by their id. */
  readonly dialogs?: Readonly<Record<string, (refresh: () => Promise<void>) => void>>;
}

export function startStatusPage({
  view,
  panels,
  look,
  fetched,
  dialogs = {},
}: StatusPageOptions): void {
  const app = element("app");
  const live = element("live");
  const stale = element("stale");
  const given = JSON.parse(app.dataset["facts"] ?? "{}") as GivenFacts;
  let status: StatusJson | undefined;
  /** When the page was rendered last, by this machine's clock. */
  let drawnAtMs = 0;
  let drawnStale = false;
  let shownPanel: string | undefined;

  const poller = createPoller<StatusJson>(
    {
      fetch: createStatusSource(),
      now,
      visible: () => document.visibilityState === "visible",
      answered: (answer) => {
        status = answer;
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

  function draw(): void {
    if (status === undefined) return;
    if (!document.documentElement.classList.contains("ready"))
      return takeOver([app, live], drawAll);
    const { params, fragment } = readAddress();
    const panel = panels.includes(fragment) ? fragment : panels[0];
    // Ages advance while no newer status arrives.
    const ageMs = Math.max(0, now() - (poller.state.answeredAtMs ?? now()));
    [drawnAtMs, drawnStale] = [now(), isStale(ageMs)];
    render(
      view(
        { ...given, ...fetched?.(), status, stale: drawnStale },
        { params, nowMs: Date.parse(status.generated_at) + ageMs, zone: undefined, panel },
      ),
      app,
    );
    if (panel !== undefined && panel !== shownPanel) showTab(panel);
    shownPanel = panel;
  }

  /** Whether the data may be outdated: the server did not respond, or was not polled for a while. */
  function isStale(ageMs: number): boolean {
    return poller.state.problem !== undefined || ageMs >= STALE_MS;
  }

  function drawAll(): void {
    draw();
    drawAge();
  }

  // The server and this machine may not agree on the time: the age counts from when the answer came.
  function drawAge(): void {
    const ageMs = now() - (poller.state.answeredAtMs ?? now());
    if (status !== undefined && (isStale(ageMs) !== drawnStale || now() - drawnAtMs >= REDRAW_MS))
      draw();
    const shownAtMs = poller.state.answeredAtMs ?? performance.timeOrigin;
    if (status !== undefined) render(liveBar(poller.state, shownAtMs, now()), live);
    render(staleBanner(poller.state, shownAtMs, now()), stale);
  }

  live.addEventListener("click", (event) => {
    const wish = event.target instanceof HTMLElement ? event.target.dataset["live"] : undefined;
    if (wish === "pause") poller.pause();
    if (wish === "resume") poller.resume();
    if (wish === "refresh") void poller.refresh();
  });
  document.addEventListener("visibilitychange", () => poller.looked());
  setInterval(() => {
    if (document.visibilityState !== "visible") return;
    look?.(draw, given);
    drawAge();
  }, TICK_MS);
  startTheme();
  startTabs();
  const refresh = (): Promise<void> => poller.refresh();
  startDialogs(
    Object.fromEntries(Object.entries(dialogs).map(([id, act]) => [id, () => act(refresh)])),
  );
  watchAddress(draw);
  poller.resume();
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}
