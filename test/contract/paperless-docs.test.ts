/**
 * Runs docs/paperless.md from its first command to its last, as it stands there, against a simulated
 * Paperless-ngx. Only names of hosts, files and the password are replaced. Ids differ with each run,
 * so that of the answers shown their form is compared.
 */
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillDemo } from "../../src/demo/paperless/demo.ts";
import { startPaperless, type Paperless } from "../../src/demo/paperless/paperless.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import { silent } from "../demo/control-plane/support.ts";
import {
  cleanEnvironment,
  jobEnd,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { snippetsOf, startShell, type Shell, type Snippet } from "./page-snippets.ts";
import { trashed } from "./paperless-estate.ts";

const missing = ["curl", "jq"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: cleanEnvironment }).status !== 0,
);
if (missing.length > 0)
  process.stderr.write(
    `skipped: the commands of docs/paperless.md (without ${missing.join(", ")})\n`,
  );

const page = readFileSync(join(import.meta.dirname, "../../docs/paperless.md"), "utf8");
const snippets = snippetsOf(page);
const taken = new Set<Snippet>();
const PASSWORD = "correct-horse";
const TOKEN = "8d1a920d50eb17a5e3453c3569add1ffce09d8f1";

describe.skipIf(missing.length > 0)("the commands of docs/paperless.md", () => {
  const work = temporaryFolder();
  let sim: Paperless;
  let daemon: Daemon;
  let shell: Shell;

  beforeAll(async () => {
    sim = await startPaperless({
      clock: systemClock,
      ids: systemIds,
      log: silent,
      fill: fillDemo(1),
      users: [
        {
          id: 1,
          username: "steward",
          password: Secret.of(PASSWORD, "a test"),
          token: Secret.of(TOKEN, "a test"),
          superuser: true,
          mayView: true,
          mayChange: true,
        },
      ],
    });
    shell = startShell({ cwd: work, env: { ...cleanEnvironment, HOME: work } });
  });
  afterAll(async () => {
    await shell.close();
    await daemon.stop();
    await sim.stop();
    removeTemporaryFolders();
  });

  function adapted(text: string): string {
    return text
      .replaceAll("https://paperless.example.org", sim.url)
      .replaceAll("password=…", `password=${PASSWORD}`)
      .replaceAll("/etc/steward/paperless-token", join(work, "paperless-token"))
      .replaceAll("http://127.0.0.1:8400", daemon?.url ?? "");
  }

  function take(section: string, language: string): string {
    const snippet = snippets.find((each) => each.section === section && !taken.has(each));
    expect([section, snippet?.language]).toEqual([section, language]);
    taken.add(snippet as Snippet);
    return adapted(snippet?.text ?? "");
  }

  /** Runs the next block. */
  const run = (section: string): Promise<string> => shell.run(take(section, "sh"));

  /** The JSON values of the next code block, and those of the output, to compare. */
  function shown(section: string, printed: string): [any[], any[]] {
    const values = (text: string): any[] =>
      text
        .split("\n")
        .filter((line) => line.startsWith("{"))
        .map((line) => JSON.parse(line) as unknown);
    return [values(take(section, "json")), values(printed)];
  }

  it("give a token", async () => {
    const section = "1. A user and a token";
    const [expected, printed] = shown(section, await run(section));
    expect(printed).toEqual(expected);
    writeFileSync(join(work, "paperless-token"), TOKEN, { mode: 0o600 });
  });

  it("sync", async () => {
    const config = `${take("2. The configuration", "yaml")}gateway: {listen: "127.0.0.1:0"}
state: {directory: ${join(work, "state")}}
services: {monitor: false, tokens: false}
`;
    daemon = await startDaemon({ config });
    // The test has started it on a port of its own.
    const commands = take("3. The first sync", "sh").replace(
      "steward -config steward.yaml &\n",
      "",
    );
    expect(commands).not.toContain("steward.yaml");
    const [, id = ""] = /"jobId":"([^"]+)"/.exec(await shell.run(commands)) ?? [];
    expect((await jobEnd(daemon, id)).status).toBe("completed");
    const { json } = await rest(daemon, "GET", "/api/v1/jobs?type=analysis");
    for (const job of json.data) await jobEnd(daemon, job.id as string);
  });

  it("resolve the first group", async () => {
    const section = "4. The first group";
    const keys = (value: any): unknown =>
      Array.isArray(value)
        ? value.slice(0, 1).map(keys)
        : typeof value === "object" && value !== null
          ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, keys(one)]))
          : typeof value;
    const first = shown(section, await run(section));
    expect(keys(first[1])).toEqual(keys(first[0]));
    const [{ members }] = first[1] as [{ members: { paperlessId: number; isPrimary: boolean }[] }];
    const doomed = members
      .filter(({ isPrimary }) => !isPrimary)
      .map(({ paperlessId }) => paperlessId);
    expect(await run(section)).toContain(take(section, "").trim());
    const merge = shown(section, await run(section));
    expect(Object.keys(merge[1][0])).toEqual(Object.keys(merge[0][0]));
    expect(merge[1][0].merged).toBe(false);
    const deletion = shown(section, await run(section));
    expect(keys(deletion[1])).toEqual(keys(deletion[0]));
    expect(deletion[1][0]).toMatchObject({
      deletedDocuments: doomed.length,
      deletedGroups: 1,
      errors: [],
    });
    const after = shown(section, await run(section));
    expect(keys(after[1])).toEqual(keys(after[0]));
    expect(after[1][1]).toEqual({ data: { count: doomed.length } });
    expect(trashed(sim)).toEqual(doomed.toSorted((left, right) => left - right));
  });

  it("are all taken", () => {
    expect(snippets.filter((snippet) => !taken.has(snippet)).map(({ text }) => text)).toEqual([]);
  });
});
