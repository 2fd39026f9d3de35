/**
 * Commands of pages that have no test of their own, on a demo: what a runbook has one look at
 * answers, and requests of the pages are requests that the API knows.
 */
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { startTailscale } from "../../src/demo/tailscale/tailscale.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { silent } from "../demo/control-plane/support.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { freePort } from "../support/free-port.ts";
import {
  cleanEnvironment,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { replaceEach, snippetsOf, startShell, type Shell } from "./page-snippets.ts";

const root = join(import.meta.dirname, "../..");
const missing = ["bash", "curl"].filter(
  (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: cleanEnvironment }).status !== 0,
);

function linesOf(page: string): string[] {
  return snippetsOf(readFileSync(join(root, page), "utf8"))
    .filter(({ language }) => language === "sh")
    .flatMap(({ text }) => text.replaceAll("\\\n", " ").trim().split("\n"));
}

describe.skipIf(missing.length > 0)("the commands", () => {
  let demo: Daemon;
  let metrics: number;
  let archive: string;
  let open: () => Promise<Shell>;

  beforeAll(async () => {
    const work = temporaryFolder();
    metrics = await freePort();
    const env = {
      STEWARD_STATE__DIRECTORY: join(work, "state"),
      STEWARD_GATEWAY__LISTEN: `127.0.0.1:${await freePort()}`,
      STEWARD_SCRAPE__LISTEN: `127.0.0.1:${metrics}`,
      STEWARD_DEMO_ROOT_TOKEN: "demo",
    };
    demo = await startDaemon({ args: ["-demo"], env });
    mkdirSync(join(work, "bin"));
    symlinkSync(LAUNCHER, join(work, "bin/steward"));
    writeFileSync(
      join(work, "steward.yaml"),
      JSON.stringify({
        gateway: { listen: env.STEWARD_GATEWAY__LISTEN },
        state: { directory: env.STEWARD_STATE__DIRECTORY },
        dedup: { archives: [{ name: "work", kind: "folder", path: work }] },
      }),
      { mode: 0o600 },
    );
    open = async () => {
      const shell = startShell({
        cwd: work,
        env: {
          ...cleanEnvironment,
          HOME: work,
          VAULT_TOKEN: "demo",
          PATH: `${join(work, "bin")}:${cleanEnvironment["PATH"] ?? ""}`,
        },
      });
      onTestFinished(() => shell.close());
      // Machines that run the tests need not have systemd.
      await shell.run("systemctl() { test $# -gt 0; }\njournalctl() { test $# -gt 0; }");
      return shell;
    };
    await vi.waitFor(
      async () => {
        expect(demo.stderr.join("\n")).toContain(`:${metrics}/metrics`);
        expect((await fetch(`${demo.url}/readyz`)).status).toBe(200);
      },
      { timeout: 60_000, interval: 100 },
    );
    archive = await vi.waitFor(
      async () => {
        const { json } = await rest(demo, "GET", "/api/v1/documents?limit=1");
        expect(json.data).toHaveLength(1);
        return json.data[0].archive as string;
      },
      { timeout: 60_000, interval: 200 },
    );
  });

  afterAll(async () => {
    await demo.stop();
    removeTemporaryFolders();
  });

  const here = (line: string): string =>
    replaceEach(line, {
      "127.0.0.1:8400": new URL(demo.url).host,
      "127.0.0.1:2112": `127.0.0.1:${metrics}`,
      "/etc/steward/steward.yaml": "steward.yaml",
      "/var/lib/steward": ".",
      '"archive": "papers"': `"archive": "${archive}"`,
    });

  it.each(globSync("docs/runbooks/*.md", { cwd: root }).toSorted())("of %s work", async (page) => {
    const shell = await open();
    for (const line of linesOf(page)) {
      // Its collectors are tested with networks; the demo's is only reachable from the demo.
      if (line.startsWith("steward -preflight")) expect(line).toContain("-config");
      // The demo is running: its state cannot be checked from outside, which is said.
      else if (line === "steward check")
        expect(await shell.run("steward check --demo || test $? -le 3")).not.toContain("unknown");
      // What is looked for is there when the alert fires; test/deploy/prometheus.test.ts knows it.
      else
        await shell.run(
          here(line.replace(/ \| grep .*/, " > /dev/null").replace("curl -s", "curl -fsS")),
        );
    }
  });

  it.each(["README.md", "docs/api.md", "docs/ai.md"])(
    "of %s that ask the API ask for what it has",
    async (page) => {
      const shell = await open();
      const lines = linesOf(page).filter((line) => line.includes("curl -s"));
      expect(lines.length).toBeGreaterThan(1);
      for (const line of lines.filter((each) => !each.includes(":2112"))) {
        const [command = "", said = ""] = line.split(/ {2,}# /);
        const status = await shell.run(
          here(command)
            .replaceAll("$VAULT_ADDR", demo.url)
            .replace(/curl -sN?/, "curl -s -o answer -w '%{http_code}'")
            .replace("JOB_ID", '$(curl -s JOBS | grep -o \'"id":"[^"]*\' | head -n 1 | cut -c 7-)')
            .replace("JOBS", `${demo.url}/api/v1/jobs`),
        );
        const wanted = /^4\d\d/.exec(said)?.[0];
        const answered = `${status.trim()} ${await shell.run("cat answer")}`;
        // The demo has no language model, and the one that the page configures has no price.
        const fine = page === "docs/ai.md" ? /^(?:20\d|409|404 .*price)/ : /^20\d/;
        expect(answered, line).toMatch(wanted === undefined ? fine : new RegExp(`^${wanted}`));
      }
    },
  );
});

it.skipIf(missing.length > 0)("the commands of docs/monitor.md lead to metrics", async () => {
  const tailscale = await startTailscale({ clock: systemClock, ids: systemIds, log: silent });
  onTestFinished(() => tailscale.stop());
  const work = temporaryFolder();
  const metrics = await freePort();
  const page = readFileSync(join(root, "docs/monitor.md"), "utf8");
  const here = (text: string): string =>
    text
      .replaceAll(/\bk…/g, tailscale.credentials.clientId)
      .replaceAll("/etc/steward/oauth-secret", join(work, "oauth-secret"))
      .replaceAll("/etc/prometheus/", `${work}/`)
      .replaceAll("deploy/prometheus", join(root, "deploy/prometheus"))
      .replaceAll("bin/steward", LAUNCHER)
      .replaceAll("127.0.0.1:2112", `127.0.0.1:${metrics}`);
  const snippets = snippetsOf(page);
  const commands = snippets
    .filter(({ language }) => language === "sh")
    .map(({ text }) => here(text));
  const [preflight = "", run = "", rules = "", ...others] = commands;
  expect(others).toEqual([]);
  writeFileSync(join(work, "oauth-secret"), tailscale.credentials.clientSecret, { mode: 0o600 });
  const files = snippets.filter(({ file }) => file !== undefined);
  expect(files.map(({ file }) => file)).toEqual(["steward.yaml", "/etc/prometheus/prometheus.yml"]);
  for (const { file = "", text } of files)
    writeFileSync(join(work, basename(file)), here(text), { mode: 0o600 });
  const shell = startShell({
    cwd: work,
    env: {
      ...cleanEnvironment,
      STEWARD_VPN__URL: tailscale.url,
      STEWARD_VERSION_CHECKS__DEVICES__ENABLED: "false",
      STEWARD_GATEWAY__LISTEN: `127.0.0.1:${await freePort()}`,
      STEWARD_STATE__DIRECTORY: join(work, "state"),
    },
  });
  onTestFinished(() => shell.close());
  await shell.run("systemctl() { test $# -gt 0; }");
  expect(await shell.run(preflight)).toMatch(/devices +ok/);
  // The page runs it in the foreground, and asks in another shell.
  const [start = "", ask = ""] = run.trim().split("\n");
  await shell.run(`${start} > log 2>&1 &`);
  expect(await shell.run(`until ${ask}; do sleep 0.2; done`)).toContain("vpn_devices_count");
  if (spawnSync("promtool", ["--version"]).status === 0)
    expect(await shell.run(rules)).toContain("SUCCESS");
});
