/** The routes of the pages over the monitor's status: `/`, and `/monitor` in tabs. */
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../../../src/kernel/base/clock.ts";
import type { PlainRequest, PlainRoute } from "../../../src/kernel/service.ts";
import { within } from "../../until-aborted.ts";
import type { Assets } from "../assets.ts";
import { html, type View } from "../html.ts";
import { monitorPage } from "../monitor/monitor-page.ts";
import type { PageState } from "../page-state.ts";
import { moment } from "../pieces/time.ts";
import { pageAnswer } from "../shell.ts";
import type { DayFacts } from "./day.ts";
import type { ProcessSummary, LandingFacts } from "./process-summary.ts";
import { landing } from "./landing.ts";
import type { StatusJson } from "../../../src/gen/status-json.ts";

/** Timeout for each service; the page is then rendered without it. */
const STATUS_MS = 3_000;

export interface LandingDeps {
  /**
   * The monitor's status (`parseStatus`, `readStatus`); absent when the monitor is off. Rejections
   * are shown on the page.
   */
  status?(signal: AbortSignal): Promise<StatusJson>;
  /** Summary of the process and the other services. */
  summary(signal: AbortSignal): Promise<ProcessSummary> | ProcessSummary;
  /** The last day; a page whose day cannot be read is rendered without. */
  day?(signal: AbortSignal): Promise<DayFacts>;
  /** See `pageAssets`. */
  readonly assets: Assets;
  readonly clock: Clock;
}

export interface LandingOptions {
  readonly demo: boolean;
  readonly version: string;
  /** The pages of the listener. */
  readonly links: readonly { readonly href: string; readonly label: string }[];
  /** The listener serves the APIs and their reference beside the pages; default true. */
  readonly api?: boolean;
}

/** What differs between the pages. */
interface StatusPage {
  readonly template: string;
  readonly title: string;
  readonly module: string;
  readonly view: (facts: LandingFacts, state: PageState) => View;
  readonly hasDay: boolean;
}

const OVERVIEW: StatusPage = {
  template: "/",
  title: "Status",
  module: "landing.js",
  view: landing,
  hasDay: true,
};
const MONITOR: StatusPage = {
  template: "/monitor",
  title: "Monitor",
  module: "monitor.js",
  view: monitorPage,
  hasDay: false,
};

/** `/`, for administrators, with the monitor's errors. */
export function landingRoute(deps: LandingDeps, options: LandingOptions): PlainRoute {
  return routeOf(OVERVIEW, deps, options);
}

/** `/monitor`, and `/` of a listener that has the monitor's pages alone. */
export function monitorRoutes(
  deps: LandingDeps,
  options: LandingOptions & { readonly alone: boolean },
): readonly PlainRoute[] {
  const { alone } = options;
  return [
    routeOf(MONITOR, deps, options),
    ...(alone ? [routeOf({ ...MONITOR, template: "/" }, deps, options)] : []),
  ];
}

function routeOf(page: StatusPage, deps: LandingDeps, options: LandingOptions): PlainRoute {
  return {
    verb: "GET",
    template: page.template,
    access: Access.ADMIN,
    dialect: "monitor",
    handle: (request, call) => answer(page, { deps, options }, request, call.signal),
  };
}

async function answer(
  { template, title, module, view, hasDay }: StatusPage,
  {
    deps,
    options: { demo, version, links, api = true },
  }: { readonly deps: LandingDeps; readonly options: LandingOptions },
  request: PlainRequest,
  signal: AbortSignal,
): ReturnType<PlainRoute["handle"]> {
  const [status, summary, day] = await Promise.all([
    statusOf(deps, signal),
    deps.summary(signal),
    hasDay ? dayOf(deps, signal) : undefined,
  ]);
  // Whole seconds: the same page in the same second has the same entity tag. Rounded up, so that no
  // status made before the summary counts as newer.
  const summaryAtMs = Math.ceil(deps.clock.now() / 1000) * 1000;
  const facts: LandingFacts = { ...status, summary, summaryAtMs, api, day };
  const state = {
    params: request.query,
    nowMs: nowOf(status.status, summaryAtMs),
    zone: "UTC",
    panel: undefined,
  };
  return await pageAnswer(
    {
      title,
      demo,
      version,
      nav: links.map((link) => ({ ...link, here: link.href === template })),
      // Without a monitor there is nothing to poll.
      ...(deps.status === undefined
        ? { module: "plain.js" }
        : { module, facts: { summary, summaryAtMs, api, day } }),
      body: view(facts, state),
      foot: html`<span>As of ${moment(status.status?.generated_at ?? new Date(summaryAtMs).toISOString(), { ...state, nowMs: summaryAtMs })}</span>${deps.status === undefined ? undefined : html`<a href="/api/status.json">JSON</a>`}`,
    },
    deps.assets,
    request.headers,
  );
}

async function statusOf(
  deps: LandingDeps,
  signal: AbortSignal,
): Promise<Pick<LandingFacts, "status" | "problem">> {
  const ask = deps.status?.bind(deps);
  if (ask === undefined) return { status: undefined };
  try {
    return { status: await within(STATUS_MS, signal, deps.clock, ask) };
  } catch (thrown) {
    return {
      status: undefined,
      problem: thrown instanceof Error ? thrown.message : String(thrown),
    };
  }
}

async function dayOf(deps: LandingDeps, signal: AbortSignal): Promise<DayFacts | undefined> {
  const ask = deps.day?.bind(deps);
  if (ask === undefined) return undefined;
  return await within(STATUS_MS, signal, deps.clock, ask).catch(() => undefined);
}

function nowOf(status: StatusJson | undefined, fallback: number): number {
  const at = Date.parse(status?.generated_at ?? "");
  return Number.isNaN(at) ? fallback : at;
}
