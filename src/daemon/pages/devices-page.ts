/** The pages at `/devices` and `/devices/{id}`, over the monitor's own status. */
import { pageAssets } from "../../../gateway/web/assets.ts";
import { devicesRoutes } from "../../../gateway/web/devices/route.ts";
import type { ReadPageOptions } from "../../../gateway/web/read-page.ts";
import type { PresenceReport } from "../../gen/presence-json.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { ownMessage } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import type { PlainRoute } from "../../kernel/service.ts";
import type { ThreadHost } from "../../kernel/threads/hosted-service.ts";
import { readPresence } from "../../monitor/presence/read-presence.ts";
import { statusOf } from "./landing-page.ts";

interface DevicesPageSources {
  readonly monitor: { readonly component: Pick<ThreadHost, "call"> };
  readonly clock: Clock;
}

export function devicesPageRoutes(
  { monitor, clock }: DevicesPageSources,
  options: ReadPageOptions,
): readonly PlainRoute[] {
  return devicesRoutes(
    {
      clock,
      assets: pageAssets(),
      presence: async (device, signal) => {
        const call = { signal, requestId: systemIds.uuid() };
        const json = await readPresence(monitor.component, device, call);
        return JSON.parse(Buffer.from(json).toString()) as PresenceReport;
      },
      status: (signal) =>
        statusOf(monitor, signal).catch((thrown: unknown) => {
          throw new Error(ownMessage(thrown), { cause: thrown });
        }),
    },
    options,
  );
}
