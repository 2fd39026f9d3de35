/**
 * A page of rows that come and go: asks for the newest while the page is in sight, keeps the older
 * ones that were loaded, and follows the filters in the address.
 */
import { render } from "preact";
import type { View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { readAddress, watchAddress } from "./address.ts";
import { learnTime, now } from "./clock.ts";
import { liveBar, STALE_MS, staleBanner } from "./live-bar.ts";
import { createPoller } from "./poller.ts";
import { takeOver } from "./take-over.ts";
import { startTheme } from "./theme.ts";
import { toast } from "./toasts.ts";

/** Default poll interval. */
const EVERY_MS = 5_000;
/** While the server does not answer, at most this many times the interval. */
const SLOWEST = 8;
const TIMEOUT_MS = 10_000;
const TICK_MS = 1_000;
/** Without new rows the page is drawn again after this, to advance its ages. */
const REDRAW_MS = 10_000;
/** Typing in a field asks for a list once it pauses. */
const TYPING_MS = 150;
/** How often older rows are asked for again because newer ones came first. */
const MAX_OVERTAKEN = 5;

interface ListFacts {
  readonly olderCursor: string | undefined;
  readonly stale?: boolean;
}

export interface LiveListOptions<A, F extends ListFacts> {
  /** Path of the API. */
  readonly path: string;
  /** Parameters of the address that the API takes, besides `cursor`. */
  readonly params: readonly string[];
  /** Further parameters, the same for every address. */
  readonly fixed?: Readonly<Record<string, string>>;
  readonly factsOf: (answer: A) => F;
  /** A newer answer to the same question. */
  readonly withNewer: (facts: F, answer: A) => F;
  /** The page after the last row. */
  readonly withOlder: (facts: F, answer: A) => F;
  readonly view: (facts: F, state: PageState) => View;
}

/** Draws the page, and goes on until it is left. */
export function startLiveList<A, F extends ListFacts>(options: LiveListOptions<A, F>): void {
  const { path, factsOf, withNewer, withOlder, view } = options;
  const [app, live, stale] = ["app", "live", "stale"].map(element) as [
    HTMLElement,
    HTMLElement,
    HTMLElement,
  ];
  const { refreshMs = 0 } = JSON.parse(app.dataset["facts"] ?? "{}") as {
    readonly refreshMs?: number;
  };
  const everyMs = refreshMs === 0 ? EVERY_MS : refreshMs;
  let facts: F | undefined;
  /** The question that the facts answer. */
  let answered = "";
  let drawnAtMs = 0;
  let isLoadingOlder = false;
  let typing: ReturnType<typeof setTimeout> | undefined;

  const poller = createPoller<{ readonly query: string; readonly answer: A }>(
    {
      fetch: async (signal) => {
        const query = currentQuery(options);
        return { query, answer: await ask<A>(path, query, signal) };
      },
      now,
      visible: () => document.visibilityState === "visible",
      answered: ({ query, answer }) => {
        // The filters changed meanwhile: ask again once this request has ended.
        if (query !== currentQuery(options)) return void setTimeout(() => void poller.refresh());
        facts =
          facts === undefined || query !== answered ? factsOf(answer) : withNewer(facts, answer);
        answered = query;
        draw();
      },
      changed: drawAge,
    },
    { everyMs: () => everyMs, longestMs: SLOWEST * everyMs, timeoutMs: TIMEOUT_MS },
  );

  async function loadOlder(): Promise<void> {
    if (isLoadingOlder) return;
    isLoadingOlder = true;
    const query = currentQuery(options);
    try {
      for (let overtaken = 0; overtaken <= MAX_OVERTAKEN; overtaken += 1) {
        const cursor = facts?.olderCursor;
        if (cursor === undefined) return;
        const older = await ask<A>(
          path,
          currentQuery(options, cursor),
          AbortSignal.timeout(TIMEOUT_MS),
        );
        if (facts === undefined || query !== currentQuery(options)) return;
        // Newer rows that came meanwhile moved the last one: what follows it is asked for anew.
        if (facts.olderCursor !== cursor) continue;
        facts = withOlder(facts, older);
        return draw();
      }
    } catch (thrown) {
      toast(thrown instanceof Error ? thrown.message : String(thrown));
    } finally {
      isLoadingOlder = false;
    }
  }

  function draw(): void {
    if (facts === undefined) return;
    if (!document.documentElement.classList.contains("ready"))
      return takeOver([app, live], drawAll);
    const { params } = readAddress();
    drawnAtMs = now();
    const shown = { ...facts, stale: isStale() };
    render(view(shown, { params, nowMs: now(), zone: undefined, panel: undefined }), app);
  }

  function drawAll(): void {
    draw();
    drawAge();
  }

  function isStale(): boolean {
    const ageMs = now() - (poller.state.answeredAtMs ?? now());
    return poller.state.problem !== undefined || ageMs >= STALE_MS;
  }

  function drawAge(): void {
    if (facts !== undefined && (facts.stale !== isStale() || now() - drawnAtMs >= REDRAW_MS)) {
      facts = { ...facts, stale: isStale() };
      draw();
    }
    const shownAtMs = poller.state.answeredAtMs ?? performance.timeOrigin;
    if (facts !== undefined) render(liveBar(poller.state, shownAtMs, now(), path), live);
    render(staleBanner(poller.state, shownAtMs, now()), stale);
  }

  live.addEventListener("click", ({ target }) => {
    const wish = target instanceof HTMLElement ? target.dataset["live"] : undefined;
    if (wish === "pause") poller.pause();
    if (wish === "resume") poller.resume();
    if (wish === "refresh") void poller.refresh();
  });
  document.addEventListener("click", (event) => {
    const { target } = event;
    if (!(target instanceof Element)) return;
    if (target.closest('[data-act="reload"]') !== null) void poller.refresh();
    if (target.closest("[data-older]") === null || event.ctrlKey || event.metaKey || event.shiftKey)
      return;
    event.preventDefault();
    void loadOlder();
  });
  document.addEventListener("visibilitychange", () => poller.looked());
  setInterval(() => {
    if (document.visibilityState === "visible") drawAge();
  }, TICK_MS);
  startTheme();
  watchAddress(() => {
    draw();
    clearTimeout(typing);
    typing = setTimeout(() => void poller.refresh(), TYPING_MS);
  });
  poller.resume();
}

/** The filters of the address as the API takes them. */
function currentQuery(
  { params: names, fixed = {} }: Pick<LiveListOptions<unknown, ListFacts>, "params" | "fixed">,
  cursor?: string,
): string {
  const { params } = readAddress();
  const query = new URLSearchParams(fixed);
  for (const name of [...names, "cursor"]) {
    const value = params.get(name) ?? "";
    if (value !== "") query.set(name, value);
  }
  if (cursor !== undefined) query.set("cursor", cursor);
  return query.toString();
}

async function ask<A>(path: string, query: string, signal: AbortSignal): Promise<A> {
  const answer = await fetch(`${path}?${query}`, { signal, cache: "no-store" }).catch(
    (thrown: unknown) => {
      throw new Error(
        signal.aborted ? "The server takes too long to answer." : "The server does not answer.",
        { cause: thrown },
      );
    },
  );
  learnTime(answer);
  if (answer.ok) return (await answer.json()) as A;
  throw new Error(
    answer.status === 400
      ? `The filter is not valid: ${(await answer.text()).trim()}`
      : answer.status === 401 || answer.status === 403
        ? "The server no longer accepts this page's credentials: reload it to sign in."
        : `The server answered ${answer.status}.`,
  );
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
}
