/** A gateway that serves the landing page and the status it is made from. */
import { pageAssets } from "../../../gateway/web/assets.ts";
import type { DayFacts } from "../../../gateway/web/landing/day.ts";
import type { ProcessSummary } from "../../../gateway/web/landing/process-summary.ts";
import {
  landingRoute,
  monitorRoutes,
  type LandingDeps,
} from "../../../gateway/web/landing/route.ts";
import type { StatusJson } from "../../../src/gen/status-json.ts";
import { Access } from "../../../src/gen/steward/options/v1/options_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import type { PlainRoute } from "../../../src/kernel/service.ts";
import { startGateway } from "../start-gateway.ts";
import { summary as allServices } from "./fixtures/status.ts";

/** What is served; `status` is asked for at each request, undefined is a monitor that is off. */
export interface LandingFixture {
  status?: () => StatusJson;
  readonly summary?: ProcessSummary;
  readonly demo?: boolean;
  day?: () => DayFacts;
}

const assets = pageAssets();

/** The routes, with `/api/status.json`. */
function routesOf({
  status,
  summary = allServices,
  demo = false,
  day,
}: LandingFixture): readonly PlainRoute[] {
  const plain = (template: string, answer: () => unknown): PlainRoute => ({
    verb: "GET",
    template,
    access: Access.ADMIN,
    dialect: "monitor",
    handle: () =>
      Promise.resolve({
        status: 200,
        headers: { "content-type": "application/json" },
        body: JSON.stringify(answer()),
      }),
  });
  const deps: LandingDeps = {
    summary: () => summary,
    ...(day === undefined ? {} : { day: () => Promise.resolve(day()) }),
    assets,
    clock: systemClock,
    ...(status === undefined ? {} : { status: () => Promise.resolve(status()) }),
  };
  const options = {
    demo,
    version: "0.1.0",
    links: [
      { href: "/", label: "Status" },
      { href: "/monitor", label: "Monitor" },
    ],
  };
  return [
    landingRoute(deps, options),
    ...monitorRoutes(deps, { ...options, alone: false }),
    ...(status === undefined ? [] : [plain("/api/status.json", status)]),
  ];
}

/** Starts it; stopped when the test ends. */
export async function startLanding(fixture: LandingFixture): Promise<string> {
  return (await startGateway({ plain: routesOf(fixture), services: [] })).url;
}
