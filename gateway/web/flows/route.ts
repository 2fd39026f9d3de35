/** The route of the page `/flows`. */
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import type { FlowReport } from "../../../src/gen/flows-json.ts";
import type { Clock } from "../../../src/kernel/base/clock.ts";
import type { PlainRequest, PlainRoute } from "../../../src/kernel/service.ts";
import { within } from "../../until-aborted.ts";
import type { Assets } from "../assets.ts";
import { html } from "../html.ts";
import { moment } from "../pieces/time.ts";
import { pageAnswer } from "../shell.ts";
import { factsOf, FLOW_PARAMS, FLOW_SIZES, type FlowFacts } from "./flow-facts.ts";
import { flowsPage } from "./flows-page.ts";

const READ_MS = 3_000;

export interface FlowsRouteDeps {
  /** Answers as the API does; rejects with a sentence for the reader. */
  read(search: string, signal: AbortSignal): Promise<FlowReport>;
  readonly assets: Assets;
  readonly clock: Clock;
}

export interface FlowsRouteOptions {
  readonly demo: boolean;
  readonly version: string;
  /** The pages of the listener. */
  readonly links: readonly { readonly href: string; readonly label: string }[];
  /** How often the page asks for new flows, in milliseconds. */
  readonly refreshMs: number;
}

/** For administrators, with the monitor's errors. */
export function flowsRoute(deps: FlowsRouteDeps, options: FlowsRouteOptions): PlainRoute {
  return {
    verb: "GET",
    template: "/flows",
    access: Access.ADMIN,
    dialect: "monitor",
    handle: (request, call) => answer(deps, options, request, call.signal),
  };
}

/** The page's own parameters beside those of the address that the API knows. */
function questionOf(query: URLSearchParams): string {
  const question = new URLSearchParams(FLOW_SIZES);
  for (const name of [...FLOW_PARAMS, "cursor"]) {
    const value = query.get(name) ?? "";
    if (value !== "") question.set(name, value);
  }
  return question.toString();
}

async function answer(
  deps: FlowsRouteDeps,
  { demo, version, links, refreshMs }: FlowsRouteOptions,
  { query, headers }: PlainRequest,
  signal: AbortSignal,
): ReturnType<PlainRoute["handle"]> {
  const facts = await within(READ_MS, signal, deps.clock, async (within) =>
    factsOf(await deps.read(questionOf(query), within)),
  ).catch((thrown: unknown): FlowFacts => ({
    report: undefined,
    rows: [],
    olderCursor: undefined,
    problem: thrown instanceof Error ? thrown.message : String(thrown),
  }));
  // Whole seconds: the same page in the same second has the same entity tag.
  const nowMs = Math.floor(deps.clock.now() / 1000) * 1000;
  const state = { params: query, nowMs, zone: "UTC", panel: undefined };
  return await pageAnswer(
    {
      title: "Flows",
      demo,
      version,
      nav: links.map((link) => ({ ...link, here: link.href === "/flows" })),
      module: "flows.js",
      facts: { refreshMs },
      body: flowsPage(facts, state),
      foot: html`<span>As of ${moment(new Date(nowMs).toISOString(), state)}</span><a href="/api/flows.json">JSON</a>`,
    },
    deps.assets,
    headers,
  );
}
