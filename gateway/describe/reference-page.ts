/**
 * The API reference at `/docs`: every operation with an example for the address at which the page
 * was opened.
 */
import { html, type Child, type View } from "../web/html.ts";
import { flatten } from "./flatten.ts";
import type { JsonSchema } from "./json-schema.ts";
import { curlOf, exampleOf, STEWARD } from "./examples.ts";
import type { OpenApi, Operation, Parameter } from "./openapi.ts";

export interface ReferenceFacts {
  readonly document: OpenApi;
  /** The response message of each operation, nested in full, by operation id. */
  readonly answers: ReadonlyMap<string, JsonSchema>;
}

interface Entry {
  readonly verb: string;
  readonly path: string;
  readonly operation: Operation;
}

interface Group {
  readonly name: string;
  readonly description?: string | undefined;
  readonly operations: readonly Entry[];
}

/** `origin` is the address in the examples, e.g. `http://127.0.0.1:8400`. */
export function reference({ document, answers }: ReferenceFacts, origin: string): View {
  const groups = groupsOf(document);
  const count = groups.reduce((sum, { operations }) => sum + operations.length, 0);
  return html`<div class="stack reference">
    <header><h2>API reference</h2>
      <p class="note">${document.info["description"]} For programs: <a href="/openapi.json">/openapi.json</a>. Braces stand for ids; where a token is set, add <code>-H "Authorization: Bearer …"</code>.</p></header>
    <div class="tools"><label class="filter scripted"><span class="sr">Search the reference</span><input type="search" data-search placeholder="Search paths, names and texts" autocomplete="off" spellcheck="false" /></label>
      <span class="count" role="status" data-search-count>${count} operations</span></div>
    <nav aria-label="Operations"><details><summary>All operations</summary><ul>${groups.flatMap(
      ({ operations }) =>
        operations.map(
          ({ verb, path, operation }) =>
            html`<li data-for=${operation.operationId}><a href=${`#${operation.operationId}`}><span class="verb">${verb}</span> ${path}</a></li>`,
        ),
    )}</ul></details></nav>
    ${groups.map((group) => html`<div class="stack">${() => groupView(group, answers, origin)}</div>`)}
    <p class="empty" data-search-none hidden>No operation matches. Every word must occur in its path, name, text, parameters or answer.</p>
  </div>`;
}

function groupsOf(document: OpenApi): readonly Group[] {
  const entries = Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({
      verb: verb.toUpperCase(),
      path,
      operation,
    })),
  );
  const groups = document.tags.map((tag) => ({
    ...tag,
    operations: entries.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  return groups.filter(({ operations }) => operations.length > 0);
}

function groupView(
  { name, description, operations }: Group,
  answers: ReferenceFacts["answers"],
  origin: string,
): View {
  return html`<section class="group" id=${groupId(name)} aria-label=${name}><h2>${name}</h2><p class="note">${description}</p>${operations.map((entry) => operationView(entry, answers, origin))}</section>`;
}

/**
 * The anchor of a service's group: `tokens.EngineService` → `group-tokens_EngineService`, which the
 * landing page links to.
 */
function groupId(name: string): string {
  return `group-${name.replaceAll(/[^A-Za-z0-9]+/g, "_")}`;
}

function operationView(
  { verb, path, operation }: Entry,
  answers: ReferenceFacts["answers"],
  origin: string,
): View {
  const answer = answers.get(operation.operationId);
  return html`<section class="operation" id=${operation.operationId} aria-label=${`${verb} ${path}`}><h3><span class="verb">${verb}</span> ${path}</h3>
    <p>${operation.description ?? sentence(operation.summary)}${operation.security.length === 0 ? " Needs no token." : undefined}</p>
    ${operation.parameters.length === 0 ? undefined : parameters(operation.parameters)}
    ${body(operation)}
    <pre tabindex="0"><code>${withOrigin(curlOf(exampleOf(verb, path, operation)), origin)}</code></pre>
    ${answer === undefined ? undefined : html`<details><summary>${`Answer ${Object.keys(operation.responses)[0] ?? ""}`}</summary>${paths(answer)}</details>`}
  </section>`;
}

function sentence(summary: string | undefined): string | undefined {
  return summary === undefined || /[.?!]$/.test(summary) ? summary : `${summary}.`;
}

/**
 * The browser knows the address better than a server behind a proxy: it sets `data-origin` to its
 * own.
 */
function withOrigin(command: string, origin: string): Child {
  const [before = "", after = ""] = command.split(STEWARD);
  return [before, html`<span data-origin>${origin}</span>`, after];
}

function parameters(rows: readonly Parameter[]): View {
  return facts(
    ["Parameter", "In", "Type", "Meaning"],
    rows.map((each) => [
      html`<code>${each.name}</code>`,
      `${each.in}${each.required ? ", required" : ""}`,
      typeText(each.schema),
      each.description,
    ]),
  );
}

function body({ requestBody }: Operation): View | undefined {
  const properties = Object.entries(
    requestBody?.content["application/json"]?.schema.properties ?? {},
  );
  if (properties.length === 0) return undefined;
  return facts(
    ["Body", "Type", "Meaning"],
    properties.map(([name, schema]) => [
      html`<code>${name}</code>`,
      typeText(schema),
      schema.description,
    ]),
  );
}

function paths(schema: JsonSchema): View {
  return facts(
    ["Path", "Type"],
    Object.entries(flatten(schema)).map(([path, type]) => [
      html`<code>${path}</code>`,
      type.split("|").join(" or "),
    ]),
  );
}

function facts(heads: readonly string[], rows: readonly (readonly Child[])[]): View {
  return html`<div class="scroll"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr>${row.map((cell, index) => html`<td data-label=${heads[index]}>${cell}</td>`)}</tr>`)}</tbody></table></div>`;
}

const LIMITS: readonly (readonly [word: string, sign: string])[] = [
  ["minimum", "≥"],
  ["exclusiveMinimum", ">"],
  ["maximum", "≤"],
  ["exclusiveMaximum", "<"],
  ["minLength", "length ≥"],
  ["maxLength", "length ≤"],
  ["minItems", "items ≥"],
  ["maxItems", "items ≤"],
  ["pattern", "matches"],
];

function typeText(schema: JsonSchema): string {
  const values = schema.enum ?? schema.items?.enum;
  const limits = LIMITS.flatMap(([word, sign]) =>
    schema[word] === undefined ? [] : [`${sign} ${JSON.stringify(schema[word])}`],
  );
  return [
    [schema.type ?? "any"].flat().join(" or "),
    ...(values === undefined ? [] : [`one of ${values.join(", ")}`]),
    ...limits,
  ].join(", ");
}
