/** The reference for people at `/docs`: one page, no script, nothing from anywhere else. */
import { contentPolicy } from "../../src/kernel/listen/content-policy.ts";
import { flatten } from "./flatten.ts";
import { html, type Html } from "./html.ts";
import type { JsonSchema } from "./json-schema.ts";
import { curlOf, exampleOf } from "./examples.ts";
import type { OpenApi, Operation, Parameter } from "./openapi.ts";

/** A page with the policy that lets its own style, and nothing else, through. */
export interface Page {
  readonly body: string;
  readonly contentSecurityPolicy: string;
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; --line: #8884; --soft: #8881; --accent: light-dark(#0b57d0, #8ab4f8); }
body { max-width: 60rem; margin: 0 auto; padding: 16px; overflow-wrap: anywhere; }
a { color: var(--accent); }
nav ul { columns: 16rem; padding-left: 16px; }
section.operation { border-top: 1px solid var(--line); padding: 16px 0; }
h3 { font: 600 16px/1.5 ui-monospace, monospace; margin: 0 0 4px; }
.verb { display: inline-block; min-width: 4em; color: var(--accent); }
pre { background: var(--soft); padding: 8px 12px; overflow-x: auto; border-radius: 4px; white-space: pre-wrap; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 4px 8px; border-bottom: 1px solid var(--line); }
summary { cursor: pointer; }
`;

/** The page of a document. `answers` gives the message that an operation answers with, nested in full. */
export function referencePage(document: OpenApi, answers: ReadonlyMap<string, JsonSchema>): Page {
  const groups = document.tags.map((tag) => ({ ...tag, operations: operationsOf(document).filter(({ operation }) => operation.tags.includes(tag.name)) }));
  const other = operationsOf(document).filter(({ operation }) => operation.tags.length === 0);
  const all = [...groups, { name: "Other answers", description: "Event streams, pages and text.", operations: other }].filter(({ operations }) => operations.length > 0);
  const body = html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>Steward API</title><style>${styleText}</style></head>
<body><header><h1>Steward API</h1>
<p>${document.info["description"]} As a document for programs: <a href="/openapi.json">/openapi.json</a>. In the examples <code>$STEWARD</code> is the address of this page, e.g. <code>http://127.0.0.1:8400</code>, and braces stand for ids; with a token set, add <code>-H "Authorization: Bearer …"</code>.</p></header>
<nav aria-label="Methods"><ul>${all.flatMap(({ operations }) => operations.map(({ verb, path, operation }) => html`<li><a href="#${operation.operationId}">${verb} ${path}</a></li>`))}</ul></nav>
<main>${all.map(({ name, description, operations }) => html`<h2>${name}</h2><p>${description}</p>${operations.map((each) => operationHtml(each, answers))}`)}</main>
</body></html>
`;
  return { body: body.toString(), contentSecurityPolicy: contentPolicy({ styles: [STYLE] }) };
}

// Escaping would change it, and its hash with it: it holds nothing to escape.
const styleText: Html = html([STYLE] as unknown as TemplateStringsArray);

interface Entry {
  readonly verb: string;
  readonly path: string;
  readonly operation: Operation;
}

function operationsOf(document: OpenApi): readonly Entry[] {
  return Object.entries(document.paths).flatMap(([path, verbs]) => Object.entries(verbs).map(([verb, operation]) => ({ verb: verb.toUpperCase(), path, operation })));
}

function operationHtml({ verb, path, operation }: Entry, answers: ReadonlyMap<string, JsonSchema>): Html {
  const answer = answers.get(operation.operationId);
  return html`<section class="operation" id="${operation.operationId}"><h3><span class="verb">${verb}</span> ${path}</h3>
<p>${operation.description ?? operation.summary} ${operation.security.length === 0 ? "Open to everybody." : ""}</p>
${operation.parameters.length === 0 ? undefined : parametersHtml(operation.parameters)}
${bodyHtml(operation)}
${operation.tags.length === 0 ? undefined : html`<pre><code>${curlOf(exampleOf(verb, path, operation))}</code></pre>`}
${answer === undefined ? undefined : html`<details><summary>Answer ${Object.keys(operation.responses)[0]}</summary>${pathsHtml(answer)}</details>`}
</section>`;
}

function parametersHtml(parameters: readonly Parameter[]): Html {
  return html`<div class="wide"><table><thead><tr><th scope="col">Parameter</th><th scope="col">In</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${parameters.map((each) =>
    html`<tr><td><code>${each.name}</code></td><td>${each.in}${each.required ? ", required" : ""}</td><td>${typeText(each.schema)}</td><td>${each.description}</td></tr>`)}</tbody></table></div>`;
}

function bodyHtml({ requestBody }: Operation): Html | undefined {
  const properties = Object.entries(requestBody?.content["application/json"]?.schema.properties ?? {});
  if (properties.length === 0) return undefined;
  return html`<div class="wide"><table><thead><tr><th scope="col">Body</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${properties.map(([name, schema]) =>
    html`<tr><td><code>${name}</code></td><td>${typeText(schema)}</td><td>${schema.description}</td></tr>`)}</tbody></table></div>`;
}

function pathsHtml(schema: JsonSchema): Html {
  return html`<div class="wide"><table><thead><tr><th scope="col">Path</th><th scope="col">Type</th></tr></thead><tbody>${Object.entries(flatten(schema)).map(([path, type]) =>
    html`<tr><td><code>${path}</code></td><td>${type.split("|").join(" or ")}</td></tr>`)}</tbody></table></div>`;
}

const LIMITS: readonly (readonly [word: string, sign: string])[] = [
  ["minimum", "≥"], ["exclusiveMinimum", ">"], ["maximum", "≤"], ["exclusiveMaximum", "<"],
  ["minLength", "length ≥"], ["maxLength", "length ≤"], ["minItems", "items ≥"], ["maxItems", "items ≤"], ["pattern", "matches"],
];

function typeText(schema: JsonSchema): string {
  const values = schema.enum ?? schema.items?.enum;
  const limits = LIMITS.flatMap(([word, sign]) => (schema[word] === undefined ? [] : [`${sign} ${JSON.stringify(schema[word])}`]));
  return [[schema.type ?? "any"].flat().join(" or "), ...(values === undefined ? [] : [`one of ${values.join(", ")}`]), ...limits].join(", ");
}
