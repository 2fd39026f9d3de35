/** The route of the page `/flows`. */
import type { FlowReport } from "../../../src/gen/flows-json.ts";
import type { PlainRoute } from "../../../src/kernel/service.ts";
import { readPageRoute, type FollowingPageOptions, type ReadPageDeps } from "../read-page.ts";
import { factsOf, FLOW_PARAMS, FLOW_SIZES, type FlowFacts } from "./flow-facts.ts";
import { flowsPage } from "./flows-page.ts";

interface FlowsRouteDeps extends ReadPageDeps {
  /** Answers as the API does; rejects with a sentence for the reader. */
  read(search: string, signal: AbortSignal): Promise<FlowReport>;
}

/** For administrators. */
export function flowsRoute(deps: FlowsRouteDeps, options: FollowingPageOptions): PlainRoute {
  return readPageRoute<FlowFacts>(
    {
      template: "/flows",
      here: "/flows",
      module: "flows.js",
      json: "/api/flows.json",
      readMs: 3_000,
      read: async ({ query }, signal) => factsOf(await deps.read(questionOf(query), signal)),
      unread: (problem) => ({ report: undefined, rows: [], olderCursor: undefined, problem }),
      draw: (facts, state) => ({
        title: "Flows",
        body: flowsPage(facts, state),
        facts: { refreshMs: options.refreshMs },
        asOf: new Date(state.nowMs).toISOString(),
      }),
    },
    deps,
    options,
  );
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
