/** The page at `/events`, over the monitor's own API. */
import { pageAssets } from "../../../gateway/web/assets.ts";
import { eventsRoute } from "../../../gateway/web/events/route.ts";
import type { FollowingPageOptions } from "../../../gateway/web/read-page.ts";
import type { EventList } from "../../gen/events-json.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { ownMessage } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import type { ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { readEvents } from "../../monitor/events/read-events.ts";

export interface EventsPageSources {
  readonly monitor: { readonly component: Pick<ThreadHost, "call"> };
  readonly clock: Clock;
}

export function eventsPageRoute(
  { monitor, clock }: EventsPageSources,
  options: FollowingPageOptions,
): PlainRoute {
  return eventsRoute(
    {
      clock,
      assets: pageAssets(),
      read: async (search, signal) => {
        try {
          const call = { signal, requestId: systemIds.uuid() };
          const json = await readEvents(monitor.component, search, call);
          return JSON.parse(Buffer.from(json).toString()) as EventList;
        } catch (thrown) {
          throw new Error(ownMessage(thrown), { cause: thrown });
        }
      },
    },
    options,
  );
}
