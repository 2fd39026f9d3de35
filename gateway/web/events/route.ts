/** The route of the page `/events`. */
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import type { EventList } from "../../../src/gen/events-json.ts";
import type { Clock } from "../../../src/kernel/base/clock.ts";
import type { PlainRequest, PlainRoute } from "../../../src/kernel/service.ts";
import { within } from "../../until-aborted.ts";
import type { Assets } from "../assets.ts";
import { html } from "../html.ts";
import { pageAnswer } from "../shell.ts";
import { moment } from "../pieces/time.ts";
import { factsOf, type EventsFacts } from "./event-rows.ts";
import { eventsPage } from "./events-page.ts";

const READ_MS = 3_000;

export interface EventsRouteDeps {
  /** Answers as the API does; rejects with a sentence for the reader. */
  read(search: string, signal: AbortSignal): Promise<EventList>;
  readonly assets: Assets;
  readonly clock: Clock;
}

export interface EventsRouteOptions {
  readonly demo: boolean;
  readonly version: string;
  /** The other pages of the listener. */
  readonly links: readonly { readonly href: string; readonly label: string }[];
  /** How often the page asks for new events, in milliseconds. */
  readonly refreshMs: number;
}

/** For administrators, with the monitor's errors. */
export function eventsRoute(deps: EventsRouteDeps, options: EventsRouteOptions): PlainRoute {
  return {
    verb: "GET",
    template: "/events",
    access: Access.ADMIN,
    dialect: "monitor",
    handle: (request, call) => answer(deps, options, request, call.signal),
  };
}

async function answer(
  deps: EventsRouteDeps,
  { demo, version, links, refreshMs }: EventsRouteOptions,
  { query, headers }: PlainRequest,
  signal: AbortSignal,
): ReturnType<PlainRoute["handle"]> {
  const facts = await within(READ_MS, signal, deps.clock, async (within) =>
    factsOf(await deps.read(query.toString(), within)),
  ).catch((thrown: unknown): EventsFacts => ({
    list: undefined,
    rows: [],
    olderCursor: undefined,
    problem: thrown instanceof Error ? thrown.message : String(thrown),
  }));
  // Whole seconds: the same page in the same second has the same entity tag.
  const nowMs = Math.floor(deps.clock.now() / 1000) * 1000;
  const state = { params: query, nowMs, zone: "UTC", panel: undefined };
  return await pageAnswer(
    {
      title: "Events",
      demo,
      version,
      nav: links.map((link) => ({ ...link, here: link.href === "/events" })),
      module: "events.js",
      facts: { refreshMs },
      body: eventsPage(facts, state),
      foot: html`<span>As of ${moment(new Date(nowMs).toISOString(), state)}</span><a href="/api/events.json">JSON</a>`,
    },
    deps.assets,
    headers,
  );
}
