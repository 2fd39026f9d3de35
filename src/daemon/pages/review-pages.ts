/**
 * The pages of the document service: `/duplicates` to review groups, `/duplicates/plan`,
 * `/documents` and `/documents/{id}`. They require the same access as the API that they read.
 */
import { pageAssets } from "../../../gateway/web/assets.ts";
import { html, type View } from "../../../gateway/web/html.ts";
import type { PageState } from "../../../gateway/web/page-state.ts";
import type { ReviewApi } from "../../../gateway/web/review/api.ts";
import { documentPage, documentsPage } from "../../../gateway/web/review/documents.ts";
import { duplicatesPage } from "../../../gateway/web/review/duplicates.ts";
import {
  loadDocument,
  loadDocuments,
  loadDuplicates,
  loadPlan,
} from "../../../gateway/web/review/load.ts";
import { planPage } from "../../../gateway/web/review/plan.ts";
import { banner } from "../../../gateway/web/review/words.ts";
import { pageAnswer } from "../../../gateway/web/shell.ts";
import type { Dedup } from "../../dedup/service.ts";
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { PlainRequest, PlainRoute } from "../../kernel/service.ts";
import { createReviewApi } from "./review-api.ts";

export interface ReviewPagesOptions {
  readonly demo: boolean;
  readonly version: string;
  readonly clock: Clock;
  /** Whether this listener has the page of events. */
  readonly events: boolean;
}

interface Page {
  readonly template: string;
  readonly title: string;
  readonly module: string;
  /** Loads and renders. */
  readonly render: (api: ReviewApi, request: PlainRequest, state: PageState) => Promise<View>;
}

const PAGES: readonly Page[] = [
  {
    template: "/duplicates",
    title: "Duplicates",
    module: "duplicates.js",
    render: async (api, { query }, state) =>
      duplicatesPage(await loadDuplicates(api, query), state),
  },
  {
    template: "/duplicates/plan",
    title: "Delete plan",
    module: "plan.js",
    render: async (api, { query }, state) => planPage(await loadPlan(api, query), state),
  },
  {
    template: "/documents",
    title: "Documents",
    module: "documents.js",
    render: async (api, { query }, state) => documentsPage(await loadDocuments(api, query), state),
  },
  {
    template: "/documents/{id}",
    title: "Document",
    module: "plain.js",
    render: async (api, { params }, state) =>
      documentPage(await loadDocument(api, params["id"] ?? ""), state),
  },
];

/** `dedup` is undefined while the service refuses requests: the pages then say so. */
export function reviewRoutes(
  dedup: Pick<Dedup, "service"> | undefined,
  { demo, version, clock, events }: ReviewPagesOptions,
): readonly PlainRoute[] {
  return PAGES.map(({ template, title, module, render }) => ({
    verb: "GET",
    template,
    access: Access.OPERATOR,
    dialect: "dedup",
    async handle(request, call) {
      // Whole seconds: the same page in the same second has the same entity tag.
      const nowMs = Math.floor(clock.now() / 1000) * 1000;
      const state = { params: request.query, nowMs, zone: "UTC", panel: undefined };
      const body =
        dedup === undefined
          ? refusing(title)
          : await render(createReviewApi(dedup.service.rpc, call), request, state);
      const page = { title, demo, version, nav: navigation(template, events), body };
      return await pageAnswer(
        { ...page, module: dedup === undefined ? "plain.js" : module },
        pageAssets(),
        request.headers,
      );
    },
  }));
}

function navigation(template: string, events: boolean) {
  return [
    { href: "/", label: "Status" },
    ...(events ? [{ href: "/events", label: "Events" }] : []),
    { href: "/duplicates", label: "Duplicates", here: template.startsWith("/duplicates") },
    { href: "/documents", label: "Documents", here: template.startsWith("/documents") },
    { href: "/docs", label: "API" },
  ];
}

function refusing(title: string): View {
  return html`<div class="stack review"><h2>${title}</h2>${banner(
    "bad",
    html`<span><strong>The document service is out of service.</strong> Its store is damaged or missing; the log and <a href="/readyz?verbose=1">/readyz</a> say which, and <code>docs/recovery.md</code> what to do.</span>`,
  )}</div>`;
}
