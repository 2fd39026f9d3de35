/** The route of the page `/events`. */
import type { EventList } from "../../../src/gen/events-json.ts";
import type { PlainRoute } from "../../../src/kernel/service.ts";
import { readPageRoute, type FollowingPageOptions, type ReadPageDeps } from "../read-page.ts";
import { factsOf, type EventsFacts } from "./event-rows.ts";
import { eventsPage } from "./events-page.ts";

interface EventsRouteDeps extends ReadPageDeps {
  /** Answers as the API does; rejects with a sentence for the reader. */
  read(search: string, signal: AbortSignal): Promise<EventList>;
}

/** For administrators. */
export function eventsRoute(deps: EventsRouteDeps, options: FollowingPageOptions): PlainRoute {
  return readPageRoute<EventsFacts>(
    {
      template: "/events",
      here: "/events",
      module: "events.js",
      json: "/api/events.json",
      readMs: 3_000,
      read: async ({ query }, signal) => factsOf(await deps.read(query.toString(), signal)),
      unread: (problem) => ({ list: undefined, rows: [], olderCursor: undefined, problem }),
      draw: (facts, state) => ({
        title: "Events",
        body: eventsPage(facts, state),
        facts: { refreshMs: options.refreshMs },
        asOf: new Date(state.nowMs).toISOString(),
      }),
    },
    deps,
    options,
  );
}
