/** The routes of the pages `/devices` and `/devices/{id}`. */
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import type { PresenceReport } from "../../../src/gen/presence-json.ts";
import type { StatusJson } from "../../../src/gen/status-json.ts";
import type { Clock } from "../../../src/kernel/base/clock.ts";
import type { PlainRequest, PlainRoute } from "../../../src/kernel/service.ts";
import { within } from "../../until-aborted.ts";
import type { Assets } from "../assets.ts";
import { html } from "../html.ts";
import { moment } from "../pieces/time.ts";
import { pageAnswer } from "../shell.ts";
import { devicesPage, type DevicesFacts } from "./devices-page.ts";

const READ_MS = 3_000;

interface DevicesRouteDeps {
  /** Rejects with a sentence for the reader. */
  status(signal: AbortSignal): Promise<StatusJson>;
  /** Of one device, or of all of them if empty. The page stands without it. */
  presence(device: string, signal: AbortSignal): Promise<PresenceReport>;
  readonly assets: Assets;
  readonly clock: Clock;
}

export interface DevicesRouteOptions {
  readonly demo: boolean;
  readonly version: string;
  /** The other pages of the listener. */
  readonly links: readonly { readonly href: string; readonly label: string }[];
}

/** For administrators, with the monitor's errors. */
export function devicesRoutes(
  deps: DevicesRouteDeps,
  options: DevicesRouteOptions,
): readonly PlainRoute[] {
  return ["/devices", "/devices/{id}"].map((template) => ({
    verb: "GET",
    template,
    access: Access.ADMIN,
    dialect: "monitor",
    handle: (request, call) => answer(deps, options, request, call.signal),
  }));
}

async function answer(
  deps: DevicesRouteDeps,
  { demo, version, links }: DevicesRouteOptions,
  { query, params, headers }: PlainRequest,
  signal: AbortSignal,
): ReturnType<PlainRoute["handle"]> {
  const facts = await within(READ_MS, signal, deps.clock, async (inTime): Promise<DevicesFacts> => {
    const [status, presence] = await Promise.all([
      deps.status(inTime),
      deps.presence(params["id"] ?? "", inTime).catch(() => undefined),
    ]);
    return { status, presence };
  }).catch((thrown: unknown): DevicesFacts => ({
    status: undefined,
    problem: thrown instanceof Error ? thrown.message : String(thrown),
  }));
  // Whole seconds: the same page in the same second has the same entity tag.
  const nowMs = Math.floor(deps.clock.now() / 1000) * 1000;
  const state = { params: query, nowMs, zone: "UTC", panel: undefined };
  const name = params["id"];
  return await pageAnswer(
    {
      title: name ?? "Devices",
      demo,
      version,
      nav: links.map((link) => ({ ...link, here: link.href === "/devices" })),
      module: "devices.js",
      facts: name === undefined ? {} : { name },
      body: devicesPage(facts, name, state),
      foot: html`<span>As of ${moment(facts.status?.generated_at, state)}</span><a href="/api/status.json">JSON</a>`,
    },
    deps.assets,
    headers,
  );
}
