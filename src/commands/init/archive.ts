/** Questions about the document archive, tried with the client that a sync uses. */
import { basename } from "node:path";
import { openArchive } from "../../dedup/archives/open.ts";
import { createPaperlessClient } from "../../dedup/paperless/client.ts";
import { PAPERLESS_TIMEOUT_MS } from "../../dedup/config.ts";
import { systemClock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { createLog } from "../../kernel/base/log.ts";
import type { Secret } from "../../kernel/base/secret.ts";
import { createClientFactory } from "../../kernel/client/client.ts";
import { baseUrl } from "../../kernel/config/checks/rules.ts";
import { createPool } from "../../kernel/pool/pool.ts";
import { stewardVersion } from "../../daemon/version.ts";
import { ask, until } from "./answers.ts";
import {
  scalar,
  secretFileFree,
  secretLine,
  type InitDeps,
  type Part,
  type SecretFile,
} from "./part.ts";
import { typedPath } from "./typed-path.ts";

const SECRET_FILES = { paperless: "paperless-token" };
const MAX_FOLDERS = 100;
const NAME_LENGTH = 60;
const SYNC: readonly string[] = [
  "  sync:",
  "    # The analysis follows each sync. 0: only POST /api/v1/sync, or steward sync.",
  "    interval: 1h",
  "",
];

/** Undefined when no archive is to be searched. */
export async function askArchive(deps: InitDeps): Promise<Part | undefined> {
  const kind = await ask(deps.answers, {
    id: "archive",
    text: "Find near-duplicates in an archive?",
    choices: ["none", "paperless", "folders"],
    usual: "none",
    rule: secretFileFree(deps, SECRET_FILES),
  });
  if (kind === "none") return undefined;
  return await until(deps.answers, () =>
    kind === "paperless" ? askPaperless(deps) : askFolders(deps),
  );
}

async function askPaperless({ answers, say, signal }: InitDeps): Promise<Part> {
  const url = await ask(answers, {
    id: "paperless.url",
    text: "Address of Paperless-ngx, e.g. https://paperless.example.org",
    rule: baseUrl,
  });
  const token = await answers.readSecret({
    id: "paperless.token",
    text: "API token (My Profile in Paperless-ngx)",
  });
  say("Reading Paperless-ngx; nothing is changed.");
  const { version, documents } = await tryPaperless(url, token, signal);
  say(`  Paperless-ngx ${version}: ${documents} documents.`);
  const file: SecretFile = { name: SECRET_FILES.paperless, secret: token };
  return {
    secrets: [file],
    lines: [
      "# Near-duplicates are found in this archive. Nothing is changed in it unless you decide so.",
      "dedup:",
      "  archives:",
      "    - name: paperless",
      "      kind: paperless",
      `      url: ${scalar(url)}`,
      `      ${secretLine("token", file)}`,
      ...SYNC,
    ],
  };
}

/** Also reads a document: a token without that permission may still count them. */
async function tryPaperless(
  url: string,
  token: Secret,
  signal: AbortSignal,
): Promise<{ readonly version: string; readonly documents: number }> {
  const client = createPaperlessClient(
    {
      clock: systemClock,
      clients: createClientFactory({
        clock: systemClock,
        ids: systemIds,
        version: stewardVersion(),
      }),
    },
    { name: "paperless", url, credential: { token }, timeoutMs: PAPERLESS_TIMEOUT_MS },
  );
  try {
    const described = await client.describe(signal);
    await client.page("documents", { page: 1, page_size: 1, fields: "id" }, signal);
    return described;
  } finally {
    await client.close();
  }
}

async function askFolders({ answers, environment, signal, say }: InitDeps): Promise<Part> {
  const text = await answers.read({
    id: "folders",
    text: "Folders with documents, separated by commas",
  });
  const written = text.split(",").flatMap((part) => part.trim() || []);
  const paths = [...new Set(written.map((path) => typedPath(path, "folders", environment)))];
  if (paths.length === 0 || paths.length > MAX_FOLDERS)
    throw new StewardError("invalid", `folders must name 1 to ${MAX_FOLDERS} folders`, {
      field: "folders",
    });
  await tryFolders(paths, signal);
  say(`  ${paths.length === 1 ? "The folder can" : "All folders can"} be read.`);
  const names = namesOf(paths);
  return {
    secrets: [],
    lines: [
      "# Near-duplicates are found in these folders. Steward only reads them; a plan that you apply removes files.",
      "dedup:",
      "  archives:",
      ...paths.flatMap((path, index) => [
        `    - name: ${JSON.stringify(names[index])}`,
        "      kind: folder",
        `      path: ${scalar(path)}`,
        '      # exclude: ["drafts/**"]',
      ]),
      ...SYNC,
    ],
  };
}

async function tryFolders(paths: readonly string[], signal: AbortSignal): Promise<void> {
  const log = createLog({
    level: "error",
    format: "text",
    write: () => undefined,
    now: () => systemClock.now(),
  });
  const clients = createClientFactory({
    clock: systemClock,
    ids: systemIds,
    version: stewardVersion(),
  });
  // A check runs no task, so that no thread starts.
  const pool = createPool({ clock: systemClock, log, threads: 1 });
  try {
    for (const path of paths) {
      const row = { name: "folder", kind: "folder" as const, path, include: [], exclude: [] };
      await openArchive({ pool, clock: systemClock, clients }, row).check(signal);
    }
  } finally {
    await pool.close();
  }
}

/** Names of archives from the names of folders; equal ones are numbered. */
function namesOf(paths: readonly string[]): string[] {
  const names: string[] = [];
  for (const path of paths) {
    const base =
      basename(path)
        .normalize("NFKD")
        .replaceAll(/[^A-Za-z0-9._-]+/g, "-")
        .replace(/^[^A-Za-z0-9]+/, "")
        .slice(0, NAME_LENGTH) || "folder";
    let name = base;
    for (let number = 2; names.includes(name); number++) name = `${base}-${number}`;
    names.push(name);
  }
  return names;
}
