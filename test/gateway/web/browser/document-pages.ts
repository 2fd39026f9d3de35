/**
 * The pages of the document service over a stubbed API: the server sends the page, and a test
 * answers what the page's island asks for.
 */
import type { Page, Route } from "playwright-core";
import { reviewRoutes } from "../../../../src/daemon/pages/review-pages.ts";
import type { Setting } from "../../../../src/gen/dedup-json.ts";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { startGateway } from "../../start-gateway.ts";
import { activity } from "../review/fixtures.ts";

export type Reply = NonNullable<Parameters<Route["fulfill"]>[0]>;
/** By method and path below `/api/v1`, e.g. `GET /jobs/j1`. */
export type Answers = Readonly<Record<string, (request: ApiRequest) => Reply | Promise<Reply>>>;

export interface ApiRequest {
  /** Method and path below `/api/v1`. */
  readonly line: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** Starts the pages; they are stopped when the test ends. The server itself knows no documents. */
export async function startDocumentPages(): Promise<string> {
  const options = { demo: false, version: "0.1.0", clock: systemClock, ai: true, links: [] };
  const dedup = { service: { rpc: [] } } as unknown as Parameters<typeof reviewRoutes>[0];
  return (await startGateway({ plain: reviewRoutes(dedup, options), services: [] })).url;
}

/** Answers the island of `page`. Every request that it sends is in the list returned. */
export async function stubApi(page: Page, answers: Answers): Promise<readonly ApiRequest[]> {
  const requests: ApiRequest[] = [];
  await page.route("**/api/v1/**", async (route) => {
    const { pathname, searchParams } = new URL(route.request().url());
    const line = `${route.request().method()} ${pathname.slice("/api/v1".length)}`;
    const request = { line, query: searchParams, body: route.request().postDataJSON() as unknown };
    requests.push(request);
    await route.fulfill(await (answers[line] ?? IDLE[line] ?? notFound)(request));
  });
  return requests;
}

export function data(value: unknown): Reply {
  return { json: { data: value } };
}

/** As the API refuses what it does not have. */
export function notFound(): Reply {
  return { status: 404, json: { error: { code: "not_found", message: "there is no such thing" } } };
}

/** One event of a job's stream, which ends after it; the browser opens it again soon. */
export function jobEvent(event: "progress" | "complete", fields: object): Reply {
  return {
    contentType: "text/event-stream",
    body: `retry: 20\nevent: ${event}\ndata: ${JSON.stringify(fields)}\n\n`,
  };
}

const { sync, analysis } = activity();

export const aSetting: Setting = {
  name: "dedup.minWords",
  value: "20",
  defaultValue: "20",
  help: "Shorter texts are not compared.",
  expects: "a whole number from 1 to 1000",
  minimum: 1,
  maximum: 1000,
  choices: [],
  fixed: false,
};

/** An estate at rest: no documents, no suggestions, no job. */
const IDLE: Answers = {
  "GET /sync/status": () => data(sync),
  "GET /analysis/status": () => data(analysis),
  "GET /jobs": () => data([]),
  "GET /documents": () => list([]),
  "GET /duplicates": () => list([]),
  "GET /config/settings": () => data([aSetting]),
  "GET /archives": () => data([]),
  "POST /config/dedup/preview": () =>
    data({ recalculatedGroups: 0, analysisStale: false, warnings: [], changed: [], ignored: [] }),
  "GET /ai/config": () =>
    data({ provider: "openai", model: "small", tagMode: "merge", protectedTagNames: [] }),
  "GET /ai/stats": () => data({ pendingReview: 0, unprocessed: 0 }),
  "GET /ai/costs": () => data({ limits: null }),
  "GET /ai/results": () => list([]),
};

/** A page of rows with its head. */
export function list(rows: readonly unknown[]): Reply {
  return {
    json: {
      data: rows,
      meta: { total: rows.length, totalMemberCount: 0, limit: 50, offset: 0 },
    },
  };
}
