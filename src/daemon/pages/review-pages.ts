/**
 * The pages of the document service: `/duplicates` to review groups, `/duplicates/plan`,
 * `/documents` and `/documents/{id}`, `/suggestions` and `/suggestions/costs`, `/settings/dedup`. They
 * require the same access as the API that they read.
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
import type { SettingsApi } from "../../../gateway/web/settings/api.ts";
import { loadSettings } from "../../../gateway/web/settings/load.ts";
import { settingsPage } from "../../../gateway/web/settings/page.ts";
import type { SuggestionsApi } from "../../../gateway/web/suggestions/api.ts";
import { costsPage } from "../../../gateway/web/suggestions/costs.ts";
import { loadCosts, loadSuggestions } from "../../../gateway/web/suggestions/load.ts";
import { suggestionsOff, suggestionsPage } from "../../../gateway/web/suggestions/page.ts";
import type { Dedup } from "../../dedup/service.ts";
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import type { BoundService, Call, PlainRequest, PlainRoute } from "../../kernel/service.ts";
import { createReviewApi } from "./review-api.ts";
import { createSettingsApi } from "./settings-api.ts";
import { createSuggestionsApi } from "./suggestion-api.ts";

export interface ReviewPagesOptions {
  readonly demo: boolean;
  readonly version: string;
  readonly clock: Clock;
  /** Whether a language model makes suggestions. */
  readonly ai: boolean;
  /** The pages of the listener. */
  readonly links: readonly { readonly href: string; readonly label: string }[];
}

/** What pages read. */
interface Apis {
  readonly review: ReviewApi;
  readonly suggestions: SuggestionsApi;
  readonly settings: SettingsApi;
  /** Whether a language model makes suggestions. */
  readonly ai: boolean;
}

interface Page {
  readonly template: string;
  readonly title: string;
  readonly module: string;
  /** Loads and renders. */
  readonly render: (apis: Apis, request: PlainRequest, state: PageState) => Promise<View>;
  /** Shows suggestions of a language model, which may be off. */
  readonly needsAi?: true;
}

const PAGES: readonly Page[] = [
  {
    template: "/duplicates",
    title: "Duplicates",
    module: "duplicates.js",
    render: async ({ review }, { query }, state) =>
      duplicatesPage(await loadDuplicates(review, query), state),
  },
  {
    template: "/duplicates/plan",
    title: "Delete plan",
    module: "plan.js",
    render: async ({ review }, { query }, state) => planPage(await loadPlan(review, query), state),
  },
  {
    template: "/documents",
    title: "Documents",
    module: "documents.js",
    render: async ({ review }, { query }, state) =>
      documentsPage(await loadDocuments(review, query), state),
  },
  {
    template: "/documents/{id}",
    title: "Document",
    module: "plain.js",
    render: async ({ review }, { params }, state) =>
      documentPage(await loadDocument(review, params["id"] ?? ""), state),
  },
  {
    template: "/suggestions",
    title: "Suggestions",
    module: "suggestions.js",
    needsAi: true,
    render: async ({ suggestions }, { query }, state) =>
      suggestionsPage(await loadSuggestions(suggestions, query), state),
  },
  {
    template: "/suggestions/costs",
    title: "Costs of suggestions",
    module: "costs.js",
    needsAi: true,
    render: async ({ suggestions }, { query }, state) =>
      costsPage(await loadCosts(suggestions, query), state),
  },
  {
    template: "/settings/dedup",
    title: "Settings of the document service",
    module: "settings.js",
    render: async ({ settings, ai }) => settingsPage(await loadSettings(settings, { ai }), { ai }),
  },
];

/** `dedup` is undefined while the service refuses requests: the pages then say so. */
export function reviewRoutes(
  dedup: Pick<Dedup, "service"> | undefined,
  { demo, version, clock, ai, links }: ReviewPagesOptions,
): readonly PlainRoute[] {
  return PAGES.map(({ template, title, module, render, needsAi = false }) => ({
    verb: "GET",
    template,
    access: Access.OPERATOR,
    dialect: "dedup",
    async handle(request, call) {
      // Whole seconds: the same page in the same second has the same entity tag.
      const nowMs = Math.floor(clock.now() / 1000) * 1000;
      const state = { params: request.query, nowMs, zone: "UTC", panel: undefined };
      const isOff = needsAi && !ai;
      const body =
        dedup === undefined
          ? refusing(title)
          : isOff
            ? suggestionsOff()
            : await render({ ...apisOf(dedup.service.rpc, call), ai }, request, state);
      const page = {
        title,
        demo,
        version,
        nav: links.map((link) => ({
          ...link,
          here: link.href !== "/" && template.startsWith(link.href),
        })),
        body,
      };
      return await pageAnswer(
        { ...page, module: dedup === undefined || isOff ? "plain.js" : module },
        pageAssets(),
        request.headers,
      );
    },
  }));
}

function apisOf(rpc: readonly BoundService[], call: Call): Omit<Apis, "ai"> {
  return {
    review: createReviewApi(rpc, call),
    suggestions: createSuggestionsApi(rpc, call),
    settings: createSettingsApi(rpc, call),
  };
}

function refusing(title: string): View {
  return html`<div class="stack review"><h2>${title}</h2>${banner(
    "bad",
    html`<span><strong>The document service is out of service.</strong> Its store is damaged or missing; the log and <a href="/readyz?verbose=1">/readyz</a> say which, and <code>docs/recovery.md</code> what to do.</span>`,
  )}</div>`;
}
