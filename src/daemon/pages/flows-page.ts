/** The page at `/flows`, over the monitor's own API. */
import { pageAssets } from "../../../gateway/web/assets.ts";
import { flowsRoute } from "../../../gateway/web/flows/route.ts";
import type { FollowingPageOptions } from "../../../gateway/web/read-page.ts";
import type { FlowReport } from "../../gen/flows-json.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { ownMessage } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import type { ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { readFlows } from "../../monitor/flowstore/read-flows.ts";

export interface FlowsPageSources {
  readonly monitor: { readonly component: Pick<ThreadHost, "call"> };
  readonly clock: Clock;
}

export function flowsPageRoute(
  { monitor, clock }: FlowsPageSources,
  options: FollowingPageOptions,
): PlainRoute {
  return flowsRoute(
    {
      clock,
      assets: pageAssets(),
      read: async (search, signal) => {
        try {
          const call = { signal, requestId: systemIds.uuid() };
          const json = await readFlows(monitor.component, search, call);
          return JSON.parse(Buffer.from(json).toString()) as FlowReport;
        } catch (thrown) {
          throw new Error(ownMessage(thrown), { cause: thrown });
        }
      },
    },
    options,
  );
}
