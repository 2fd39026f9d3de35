/** The island of `/events`. */
import type { EventList } from "../../../src/gen/events-json.ts";
import { factsOf, withNewer, withOlder, type EventsFacts } from "../events/event-rows.ts";
import { EVENT_PARAMS, eventsPage } from "../events/events-page.ts";
import { startLiveList } from "./live-list.ts";

startLiveList<EventList, EventsFacts>({
  path: "/api/events.json",
  params: EVENT_PARAMS,
  factsOf,
  withNewer,
  withOlder,
  view: eventsPage,
});
