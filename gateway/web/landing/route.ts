/** The route of the landing page. */
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../../../src/kernel/base/clock.ts";
import type { PlainRequest, PlainRoute } from "../../../src/kernel/service.ts";
import { within } from "../../until-aborted.ts";
import type { Assets } from "../assets.ts";
import { html } from "../html.ts";
import { moment } from "../pieces/time.ts";
import { pageAnswer } from "../shell.ts";
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
  /** See `pageAssets`. */
  readonly assets: Assets;
  readonly clock: Clock;
}

export interface LandingOptions {
  readonly demo: boolean;
  readonly version: string;
  /** The listener serves the APIs and their reference beside the page; default true. */
  readonly api?: boolean;
  /** A language model makes suggestions; default false. */
  readonly ai?: boolean;
}

/** `/`, for administrators, with the monitor's errors. */
export function landingRoutes(deps: LandingDeps, options: LandingOptions): readonly PlainRoute[] {
  return [
    {
      verb: "GET",
      template: "/",
      access: Access.ADMIN,
      dialect: "monitor",
      handle: (request, call) => answer(deps, options, request, call.signal),
    },
  ];
}

async function answer(
  deps: LandingDeps,
  { demo, version, api = true, ai = false }: LandingOptions,
  request: PlainRequest,
  signal: AbortSignal,
): ReturnType<PlainRoute["handle"]> {
  const [status, summary] = await Promise.all([statusOf(deps, signal), deps.summary(signal)]);
  // Whole seconds: the same page in the same second has the same entity tag.
  const summaryAtMs = Math.floor(deps.clock.now() / 1000) * 1000;
  const facts: LandingFacts = { ...status, summary, summaryAtMs, api };
  const state = {
    params: request.query,
    nowMs: nowOf(status.status, summaryAtMs),
    zone: "UTC",
    panel: undefined,
  };
  return await pageAnswer(
    {
      title: "Status",
      demo,
      version,
      nav: [
        { href: "/", label: "Status", here: true },
        ...(deps.status === undefined ? [] : [{ href: "/devices", label: "Devices" }]),
        ...(status.status?.flow_store.enabled === true ? [{ href: "/flows", label: "Flows" }] : []),
        ...(status.status?.event_store.enabled === true
          ? [{ href: "/events", label: "Events" }]
          : []),
        ...(api && summary.archive !== undefined
          ? [
              { href: "/duplicates", label: "Duplicates" },
              { href: "/documents", label: "Documents" },
              ...(ai ? [{ href: "/suggestions", label: "Suggestions" }] : []),
            ]
          : []),
        ...(api ? [{ href: "/docs", label: "API" }] : []),
      ],
      // Without a monitor there is nothing to poll.
      ...(deps.status === undefined
        ? { module: "plain.js" }
        : { module: "landing.js", facts: { summary, summaryAtMs, api } }),
      body: landing(facts, state),
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

function nowOf(status: StatusJson | undefined, fallback: number): number {
  const at = Date.parse(status?.generated_at ?? "");
  return Number.isNaN(at) ? fallback : at;
}
