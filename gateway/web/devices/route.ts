/** The routes of the pages `/devices` and `/devices/{id}`. */
import type { PresenceReport } from "../../../src/gen/presence-json.ts";
import type { StatusJson } from "../../../src/gen/status-json.ts";
import type { PlainRoute } from "../../../src/kernel/service.ts";
import { readPageRoute, type ReadPageDeps, type ReadPageOptions } from "../read-page.ts";
import { devicesPage, type DevicesFacts } from "./devices-page.ts";

interface DevicesRouteDeps extends ReadPageDeps {
  /** Rejects with a sentence for the reader. */
  status(signal: AbortSignal): Promise<StatusJson>;
  /** Of one device, or of all of them if empty. The page stands without it. */
  presence(device: string, signal: AbortSignal): Promise<PresenceReport>;
}

/** For administrators. */
export function devicesRoutes(
  deps: DevicesRouteDeps,
  options: ReadPageOptions,
): readonly PlainRoute[] {
  return ["/devices", "/devices/{id}"].map((template) =>
    readPageRoute<DevicesFacts>(
      {
        template,
        here: "/devices",
        module: "devices.js",
        json: "/api/status.json",
        readMs: 3_000,
        async read({ params }, signal) {
          const [status, presence] = await Promise.all([
            deps.status(signal),
            deps.presence(params["id"] ?? "", signal).catch(() => undefined),
          ]);
          return { status, presence };
        },
        unread: (problem) => ({ status: undefined, problem }),
        draw(facts, state, { params: { id } }) {
          return {
            title: id ?? "Devices",
            body: devicesPage(facts, id, state),
            facts: id === undefined ? {} : { name: id },
            asOf: facts.status?.generated_at,
          };
        },
      },
      deps,
      options,
    ),
  );
}
