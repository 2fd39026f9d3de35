/** The archives and the providers of language models: what is set of each, and what a test found. */
import type {
  AiProvider,
  AiProviderTest,
  ConfiguredArchive,
  ConnectionTest,
} from "../../../src/gen/dedup-json.ts";
import { formatCount, formatMilliseconds, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { empty, part } from "../pieces/section.ts";
import { stateText } from "../pieces/state.ts";
import { problemOf, valueOf, type Read } from "../review/load.ts";
import { problemBanner } from "../review/words.ts";

/** What a test found; undefined while it runs. */
export type Outcome<T> = Read<T> | undefined;
/** By the archive's name. */
export type ArchiveTests = ReadonlyMap<string, Outcome<ConnectionTest>>;
/** By the provider's name. */
export type ProviderTests = ReadonlyMap<string, Outcome<AiProviderTest>>;

export function archivesPart(
  archives: Read<readonly ConfiguredArchive[]>,
  tests: ArchiveTests,
): View {
  const list = valueOf(archives);
  return html`<div class="panel">${part(
    "Archives",
    list === undefined
      ? problemBanner("The archives", problemOf(archives) ?? "")
      : list.length === 0
        ? empty(
            html`<span>There is no archive: add one to <code>dedup.archives</code> in the configuration file, and restart.</span>`,
          )
        : archiveTable(list, tests),
    "Addresses and credentials are in the configuration file or the environment, and never shown.",
  )}</div>`;
}

const KINDS: Readonly<Record<string, string>> = {
  paperless: "Paperless-ngx",
  folder: "folder",
  jsonl: "JSON Lines",
};

function archiveTable(archives: readonly ConfiguredArchive[], tests: ArchiveTests): View {
  return html`<div class="table"><div class="scroll"><table aria-label="archives"><thead><tr><th scope="col">Archive</th><th scope="col">Kind</th><th scope="col">Address</th><th scope="col">Credential</th><th scope="col" class="figure">Documents</th><th scope="col"><span class="sr">Connection</span></th></tr></thead>
    <tbody>${archives.map((archive) => archiveRow(archive, tests))}</tbody></table></div></div>`;
}

function archiveRow(
  { name, kind, documents, hasAddress, credential, lacks }: ConfiguredArchive,
  tests: ArchiveTests,
): View {
  return html`<tr key=${name}><td data-label="Archive">${name}${lacks.length === 0 ? undefined : html`<small>It has ${lacks.join("; ")}.</small>`}</td>
    <td data-label="Kind" class="name">${KINDS[kind] ?? kind}</td>
    <td data-label="Address">${hasAddress ? "set" : html`<span class="muted">none needed</span>`}</td>
    <td data-label="Credential">${credential === "" ? html`<span class="muted">none needed</span>` : `${credential} set`}</td>
    <td class="figure" data-label="Documents">${formatCount(documents)}</td>
    <td data-label="Connection">${testCell("test", name, tests, archiveAnswer)}</td></tr>`;
}

function archiveAnswer({ version, apiVersion, documentCount, latencyMs }: ConnectionTest): View {
  const software = version === "" ? "" : ` to version ${version}`;
  const api = apiVersion === "" ? "" : ` with API version ${apiVersion}`;
  return stateText(
    "good",
    `Connected${software}${api}: ${formatSome(documentCount, "document")}, ${formatMilliseconds(latencyMs)}.`,
  );
}

export function providersPart(providers: Read<readonly AiProvider[]>, tests: ProviderTests): View {
  const list = valueOf(providers);
  return html`<div class="panel">${part(
    "Providers of language models",
    list === undefined
      ? problemBanner("The providers", problemOf(providers) ?? "")
      : providerTable(list, tests),
    "The test asks the chosen provider for its models: no document is sent, and it costs nothing.",
  )}</div>`;
}

function providerTable(providers: readonly AiProvider[], tests: ProviderTests): View {
  return html`<div class="table"><div class="scroll"><table aria-label="providers"><thead><tr><th scope="col">Provider</th><th scope="col">Address</th><th scope="col">Key</th><th scope="col"><span class="sr">Connection</span></th></tr></thead>
    <tbody>${providers.map(
      ({
        name,
        hasAddress,
        hasCredential,
        chosen,
      }) => html`<tr key=${name}><td data-label="Provider">${name}</td>
      <td data-label="Address">${hasAddress ? "set" : "not set"}</td><td data-label="Key">${hasCredential ? "set" : "not set"}</td>
      <td data-label="Connection">${chosen ? testCell("test-provider", name, tests, providerAnswer) : html`<span class="muted">not chosen</span>`}</td></tr>`,
    )}</tbody></table></div></div>`;
}

function providerAnswer({ model, modelListed, models, latencyMs }: AiProviderTest): View {
  const connected = `Connected: ${formatSome(models, "model")}, ${formatMilliseconds(latencyMs)}.`;
  return modelListed
    ? stateText("good", `${connected} ${model} is among them.`)
    : stateText("notice", `${connected} ${model} is not among them: choose another model.`);
}

function testCell<T>(
  act: string,
  name: string,
  tests: ReadonlyMap<string, Outcome<T>>,
  answer: (test: T) => View,
): View {
  const outcome = tests.get(name);
  const isRunning = tests.has(name) && outcome === undefined;
  return html`<div class="connection"><button type="button" class="scripted" data-act=${act} data-id=${name} aria-label=${`Test the connection of ${name}`} aria-disabled=${isRunning ? "true" : undefined}>Test</button><span role="status">${isRunning ? html`<span class="muted">asking …</span>` : resultOf(outcome, answer)}</span></div>`;
}

function resultOf<T>(outcome: Outcome<T>, answer: (test: T) => View): Child {
  if (outcome === undefined) return undefined;
  const test = valueOf(outcome);
  return test === undefined ? stateText("bad", problemOf(outcome) ?? "") : answer(test);
}
