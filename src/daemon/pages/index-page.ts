/**
 * The page at `/` of a gateway that does not serve the status page: lists what this address serves.
 */
import { pageAssets } from "../../../gateway/web/assets.ts";
import { html, type View } from "../../../gateway/web/html.ts";
import { keyValues } from "../../../gateway/web/pieces/key-values.ts";
import type { PageLink } from "../../../gateway/web/frame.ts";
import { part } from "../../../gateway/web/pieces/section.ts";
import { pageAnswer } from "../../../gateway/web/shell.ts";
import { Access } from "../../gen/steward/options/v1/options_pb.ts";
import type { PlainRoute } from "../../kernel/service.ts";

type Rows = readonly (readonly [path: string, what: string])[];

const documentRows: Rows = [
  ["/duplicates", "groups of near-duplicate documents, to review"],
  ["/documents", "the documents of the archives, to search and read"],
  ["/api/v1/duplicates", "the groups for programs"],
  ["/api/v1/documents", "the documents for programs"],
  ["/api/v1/jobs", "what runs and what ran"],
  ["/api/v1/sync/status", "the last sync"],
  ["/api/v1/analysis/status", "the last analysis"],
  ["/api/v1/ready", "whether the document service can work"],
];

const suggestionRows: Rows = [["/suggestions", "suggestions of the language model, to review"]];

const tokenRows: Rows = [
  ["/v1/sys/health", "whether tokens can be minted"],
  ["/v1/sys/seal-status", "whether the store of tokens is open"],
];

const processRows: Rows = [
  ["/docs", "every method with an example"],
  ["/readyz", "whether this process takes traffic"],
];

export interface IndexPageOptions {
  readonly demo: boolean;
  readonly version: string;
  /** Whether the document service runs. */
  readonly documents: boolean;
  /** Whether a language model makes suggestions. */
  readonly ai: boolean;
  /** Whether the tokens service runs. */
  readonly tokens: boolean;
  /** The pages of the listener. */
  readonly links: readonly PageLink[];
}

export function indexRoute(options: IndexPageOptions): PlainRoute {
  const { demo, version } = options;
  const nav = options.links.map((link) => ({ ...link, here: link.href === "/" }));
  return {
    verb: "GET",
    template: "/",
    access: Access.OPERATOR,
    dialect: "monitor",
    handle: ({ headers }) =>
      pageAnswer(
        { title: "Overview", demo, version, nav, module: "plain.js", body: overview(options) },
        pageAssets(),
        headers,
      ),
  };
}

function overview({ documents, ai, tokens }: IndexPageOptions): View {
  return html`<div class="stack"><h2>Overview</h2>
    ${part("This address", links(processRows), "The same API is served over Connect, gRPC-Web and gRPC on this port; gRPC clients can discover the services by reflection.")}
    ${documents ? part("Documents", links(ai ? [...documentRows, ...suggestionRows] : documentRows)) : undefined}
    ${tokens ? part("Tokens", links(tokenRows), html`<span>Short-lived GitHub tokens come from the Vault API below <code>/v1</code>: give this address to <code>bao</code>, <code>vault</code> or any other client as <code>VAULT_ADDR</code>, then <code>bao write github/token org_name=…</code>.</span>`) : undefined}
  </div>`;
}

function links(rows: Rows): View {
  return keyValues(
    rows.map(([path, what]) => [html`<a href=${path}><code>${path}</code></a>`, what] as const),
  );
}
