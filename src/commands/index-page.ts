/** The page at `/` of a gateway whose status page is elsewhere or nowhere: what this address is and where its answers are, for a person who opened it in a browser. */
import { Access } from "../gen/steward/options/v1/options_pb.ts";
import { contentPolicy } from "../kernel/listen/content-policy.ts";
import type { PlainRoute } from "../kernel/service.ts";

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
body { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
.banner { border: 2px solid; border-radius: 8px; padding: 0.5rem 1rem; }
dt { font-weight: 600; margin-top: 1rem; } dd { margin: 0; }
code { overflow-wrap: anywhere; }
`;

type Rows = readonly (readonly [path: string, what: string])[];

const documentRows: Rows = [
  ["/api/v1/duplicates", "groups of near-duplicate documents"],
  ["/api/v1/documents", "the documents of the archives"],
  ["/api/v1/jobs", "what runs and what ran"],
  ["/api/v1/sync/status", "the last sync"],
  ["/api/v1/analysis/status", "the last analysis"],
  ["/api/v1/ready", "whether the document service can work"],
];

const tokenRows: Rows = [
  ["/v1/sys/health", "whether tokens can be minted"],
  ["/v1/sys/seal-status", "whether the store of tokens is open"],
];

const houseRows: Rows = [
  ["/docs", "every method with an example"],
  ["/readyz", "whether this process takes traffic"],
];

/** What the page says about this process. */
export interface IndexPageOptions {
  readonly demo: boolean;
  /** The document service runs. */
  readonly documents: boolean;
  /** The tokens service runs. */
  readonly tokens: boolean;
}

/** The route. */
export function indexRoute(options: IndexPageOptions): PlainRoute {
  const body = page(options);
  const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store", "content-security-policy": contentPolicy({ styles: [STYLE] }) };
  return { verb: "GET", template: "/", access: Access.OPERATOR, dialect: "monitor", handle: () => Promise.resolve({ status: 200, headers, body }) };
}

function page({ demo, documents, tokens }: IndexPageOptions): string {
  const banner = demo ? '<p class="banner">This is a demo: invented documents and a simulated code host; nothing of yours is read or changed.</p>' : "";
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Steward</title><style>${STYLE}</style></head>
<body><h1>Steward</h1>
${banner}
<p>The same answers come over Connect, gRPC-Web and gRPC on this port; gRPC clients find the services by reflection.</p>
${list(houseRows)}
${documents ? `<h2>Documents</h2>\n${list(documentRows)}` : ""}
${tokens ? `<h2>Tokens</h2>\n<p>Short-lived GitHub tokens come from the Vault API below <code>/v1</code>: give this address to <code>bao</code>, <code>vault</code> or any other client as <code>VAULT_ADDR</code>, then <code>bao write github/token org_name=…</code>.</p>\n${list(tokenRows)}` : ""}
</body></html>
`;
}

function list(rows: Rows): string {
  return `<dl>\n${rows.map(([path, what]) => `<dt><a href="${path}"><code>${path}</code></a></dt><dd>${what}</dd>`).join("\n")}\n</dl>`;
}
