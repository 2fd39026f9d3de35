/** Alert rules and their runbooks: each alert is tested, explained and over metrics that exist. */
import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse } from "yaml";
import { runSteward } from "../contract/daemon.ts";
import { readRules, root, unknownIn } from "./watched.ts";

const promtool = spawnSync("promtool", ["--version"]).status === 0;
if (!promtool)
  process.stderr.write(
    "skipped: promtool is not on this machine, so the unit tests of the alert rules did not run\n",
  );

const rules = readRules();
const sections = ["Meaning", "Impact", "Check", "Remedy"];

function runbookOf(path: string): string {
  return readFileSync(join(root, path), "utf8");
}

/** The command lines of every runbook. */
function commands(): string[] {
  return globSync("docs/runbooks/*.md", { cwd: root }).flatMap((path) =>
    (runbookOf(path).match(/```sh\n([\s\S]*?)```/)?.[1] ?? "").trim().split("\n"),
  );
}

it.skipIf(!promtool)("the rules are valid, and each alert fires and holds as its tests say", () => {
  for (const args of [
    ["check", "rules", "deploy/prometheus/rules.yml"],
    ["test", "rules", "deploy/prometheus/rules.test.yml"],
  ]) {
    const run = spawnSync("promtool", args, { cwd: root, encoding: "utf8" });
    expect(run.status, `${run.stdout}${run.stderr}`).toBe(0);
  }
});

it("each alert has a test in which it fires and one in which it does not", () => {
  const file = parse(runbookOf("deploy/prometheus/rules.test.yml")) as {
    readonly tests: readonly { readonly name: string }[];
  };
  const names = new Set(file.tests.map(({ name }) => name));
  const missing = rules
    .flatMap(({ alert }) => [`${alert} fires`, `${alert} does not fire`])
    .filter((name) => !names.has(name));
  expect(missing).toEqual([]);
});

it("every metric and label of a rule is in the catalogue", () => {
  expect(
    rules.flatMap(({ alert, expr }) => unknownIn(expr).map((what) => `${alert}: ${what}`)),
  ).toEqual([]);
  expect(unknownIn('sum by (nowhere) (svc_tokens_leases{colour="red"}) + svc_missing')).toEqual([
    "svc_tokens_leases{colour}",
    "svc_missing",
    "by (nowhere)",
  ]);
});

it("each alert has a severity, a summary and a runbook with every section, each runbook an alert", () => {
  for (const { alert, labels, annotations } of rules) {
    expect(["warning", "critical"], alert).toContain(labels["severity"]);
    expect(annotations["summary"], alert).toMatch(/: .+/);
    const page = runbookOf(annotations["runbook_url"] ?? "");
    expect(page.split("\n")[0]).toBe(`# ${alert}`);
    expect([...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title)).toEqual(sections);
  }
  expect(new Set(rules.map(({ annotations }) => annotations["runbook_url"]))).toEqual(
    new Set(globSync("docs/runbooks/*.md", { cwd: root })),
  );
});

it("a runbook whose commands are refused without a token says how to send it", () => {
  const silent = globSync("docs/runbooks/*.md", { cwd: root }).filter((path) => {
    const page = runbookOf(path);
    const asks = /```sh\n[^`]*127\.0\.0\.1:\d+\/(?:metrics|api\/(?!v1\/ready))/.test(page);
    return asks && !page.includes('-H "Authorization: Bearer TOKEN"');
  });
  expect(silent).toEqual([]);
});

it("every command of a runbook exists", async () => {
  const { stdout: help } = await runSteward(["-help"]);
  const api = readFileSync(join(root, "docs/api/openapi.json"), "utf8");
  const vault = readFileSync(join(root, "docs/tokens.md"), "utf8");
  const metrics = readFileSync(join(root, "docs/metrics.md"), "utf8");
  const probes = ["/readyz", "/api/status.json", "/metrics"];
  const wrong = commands().filter((line) => {
    const [program = "", word = ""] = line.split(" ");
    const path = line.match(/127\.0\.0\.1:\d+(\/[\w./-]+)/)?.[1];
    const pattern = line.match(/\| grep (\w+)$/)?.[1];
    if (line.includes("| grep") && !(pattern !== undefined && metrics.includes(pattern)))
      return true;
    if (program === "curl")
      return !(
        path !== undefined &&
        (probes.includes(path) || api.includes(`"${path}"`) || vault.includes(vaultPath(path)))
      );
    if (program === "steward")
      return !help.includes(`  steward ${word}`) && !help.split(/\s+/).includes(word);
    return !["journalctl", "systemctl", "df"].includes(program);
  });
  expect(wrong).toEqual([]);
});

/** As docs/tokens.md writes it; a path that is not below /v1 is never found there. */
function vaultPath(path: string): string {
  return path.startsWith("/v1/") ? path.slice("/v1/".length) : `\0${path}`;
}
