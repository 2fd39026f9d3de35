/**
 * Runs docs/tutorials from the first command to the last, as they stand there, against simulated
 * services, a real Prometheus and the files that Grafana would read. Only names of hosts, ports and
 * folders are replaced. Of what the pages show, the form is compared: ids, times and counts differ.
 */
import { spawnSync } from "node:child_process";
import { globSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { fillDemo } from "../../src/demo/paperless/demo.ts";
import { startPaperless } from "../../src/demo/paperless/paperless.ts";
import { systemClock } from "../../src/kernel/base/clock.ts";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { Secret } from "../../src/kernel/base/secret.ts";
import { silent } from "../demo/control-plane/support.ts";
import { startHeadscale } from "../support/headscale/headscale.ts";
import { LAUNCHER } from "../support/launcher.ts";
import { freePort } from "../support/free-port.ts";
import { cleanEnvironment, removeTemporaryFolders, temporaryFolder } from "./daemon.ts";
import { replaceEach, snippetsOf, startShell, type Shell } from "./page-snippets.ts";
import { trashed } from "./paperless-estate.ts";
import { appKey, startCodeHost } from "./vault.ts";

afterAll(removeTemporaryFolders);

const root = join(import.meta.dirname, "../..");
const deps = { clock: systemClock, ids: systemIds, log: silent };

function lacking(...names: readonly string[]): boolean {
  const missing = names.filter(
    (name) => spawnSync("sh", ["-c", `command -v ${name}`], { env: cleanEnvironment }).status !== 0,
  );
  if (missing.length > 0)
    process.stderr.write(`skipped: a page of docs/tutorials (without ${missing.join(", ")})\n`);
  return missing.length > 0;
}

/** A reader of a page, in a home of their own. */
interface Reader {
  readonly home: string;
  readonly shell: Shell;
  /** Runs the commands of the page up to this heading; what the page shows of them is compared. */
  followTo(heading?: string): Promise<string>;
  /** Of the files that the page shows. */
  file(name: string): string;
}

/** Replaces what is this machine's; `functions` stand for commands that it lacks. */
function reader(
  name: string,
  { functions, replace }: { functions: string; replace: Readonly<Record<string, string>> },
  port: number,
): Reader {
  const home = temporaryFolder();
  const snippets = snippetsOf(readFileSync(join(root, "docs/tutorials", name), "utf8"));
  const here = (text: string): string =>
    replaceEach(text, {
      "http://127.0.0.1:8400": `http://127.0.0.1:${port}`,
      ...Object.fromEntries(
        Object.entries(replace).map(([from, to]) => [from, to.replaceAll("HOME", home)]),
      ),
    });
  mkdirSync(join(home, "bin"));
  symlinkSync(LAUNCHER, join(home, "bin/steward"));
  const shell = startShell({
    cwd: home,
    env: {
      ...cleanEnvironment,
      PATH: `${join(home, "bin")}:${cleanEnvironment["PATH"] ?? ""}`,
      HOME: home,
      STEWARD_GATEWAY__LISTEN: `127.0.0.1:${port}`,
      STEWARD_VERSION_CHECKS__DEVICES__ENABLED: "false",
    },
  });
  onTestFinished(() => shell.close());
  let next = 0;
  let begun = false;
  const formOf = (line: string): string =>
    line
      .replaceAll(/\/\S*\/steward-tutorial\//g, "FOLDER/")
      .replace(/^[\w-]{21}(?=[ :])/, "ID")
      .replace(/^(ID +\w+ +\d+ %).*/, "$1")
      .replace(/^(?:yes)? +#\d+ .*/, "DOCUMENT")
      .replace(/github\/token\/\w+/, "LEASE")
      .replaceAll(/https?:\/\/[\w.:]+/g, "URL")
      .replaceAll(/\d+ (?:h|min|s)\b/g, "# min")
      .replaceAll(/\b(?:\d+[dhm])+\d+s\b/g, "#s")
      .replaceAll(/\d+(?:\.\d+)?/g, "#")
      .replaceAll(/ +/g, " ")
      .replace(/ (?:ahead of|behind) the/, " from the");
  return {
    home,
    shell,
    file: (file) => here(snippets.find((each) => each.file === file)?.text ?? ""),
    async followTo(heading) {
      if (!begun) await shell.run(functions.replaceAll("HOME", home));
      begun = true;
      let printed = "";
      let last = "";
      for (; next < snippets.length && snippets[next]?.section !== heading; next += 1) {
        const { language, text } = snippets[next] ?? { language: "", text: "" };
        if (language === "sh") {
          last = await shell.run(here(text));
          printed += last;
        } else if (language === "text") {
          const found = last.split("\n").map(formOf);
          for (const line of text.trim().split("\n"))
            expect(found.join("\n")).toContain(formOf(line));
        }
      }
      return printed;
    },
  };
}

describe.skipIf(lacking("bash", "curl", "prometheus", "promtool"))("headscale-to-grafana", () => {
  it("leads from a key to dashboards that have what they show", async () => {
    const headscale = await startHeadscale({ ...deps, flavour: "release" });
    onTestFinished(() => headscale.stop());
    const [port, metrics, query] = await Promise.all([freePort(), freePort(), freePort()]);
    const own = reader(
      "headscale-to-grafana.md",
      {
        functions: `
headscale() { echo ${headscale.apiKey}; }
systemctl() {
  if [ "$2" = prometheus ]; then
    prometheus --config.file=HOME/etc/prometheus/prometheus.yml --storage.tsdb.path=HOME/samples --web.listen-address=127.0.0.1:${query} >HOME/prometheus.log 2>&1 &
  fi
}`,
        replace: {
          "https://headscale.example.org": headscale.url,
          "127.0.0.1:2112": `127.0.0.1:${metrics}`,
          "127.0.0.1:9090": `127.0.0.1:${query}`,
          "scrape_interval: 60s": "scrape_interval: 1s",
          "/usr/lib/steward": root,
          "/etc/prometheus": "HOME/etc/prometheus",
          "/etc/grafana": "HOME/etc/grafana",
        },
      },
      port,
    );
    for (const folder of [
      "prometheus",
      "grafana/provisioning/datasources",
      "grafana/provisioning/dashboards",
    ])
      mkdirSync(join(own.home, "etc", folder), { recursive: true });
    const printed = await own.followTo("6. See it notice");
    expect(printed).toContain("SUCCESS");
    const provisioned = (kind: string) =>
      parse(readFileSync(join(own.home, `etc/grafana/provisioning/${kind}/steward.yaml`), "utf8"));
    expect(provisioned("datasources").datasources[0]).toMatchObject({
      type: "prometheus",
      url: `http://127.0.0.1:${query}`,
    });
    const { path } = provisioned("dashboards").providers[0].options as { readonly path: string };
    const titles = globSync("*.json", { cwd: path }).map(
      (file) => JSON.parse(readFileSync(join(path, file), "utf8")).title as string,
    );
    const page = readFileSync(join(root, "docs/tutorials/headscale-to-grafana.md"), "utf8");
    const named = [...page.matchAll(/\*(Steward: [^*]+)\*/g)].map(([, title]) => title);
    expect(named).toHaveLength(3);
    expect(titles).toEqual(expect.arrayContaining(named));
    const rules = readFileSync(join(own.home, "etc/prometheus/steward-rules.yml"), "utf8");
    expect(rules).toContain(`alert: ${/the rule `(\w+)`/.exec(page)?.[1] ?? "none"}`);
    await own.followTo();
  });
});

describe.skipIf(lacking("bash", "curl", "jq"))("first-duplicates", () => {
  it("leads from a token to a document in the trash", async () => {
    const page = readFileSync(join(root, "docs/tutorials/first-duplicates.md"), "utf8");
    const token = "8d1a920d50eb17a5e3453c3569add1ffce09d8f1";
    const paperless = await startPaperless({
      ...deps,
      fill: fillDemo(1),
      users: [
        {
          id: 1,
          username: "ada",
          password: Secret.of("correct-horse", "a test"),
          token: Secret.of(token, "a test"),
          superuser: true,
          mayView: true,
          mayChange: true,
        },
      ],
    });
    onTestFinished(() => paperless.stop());
    const own = reader(
      "first-duplicates.md",
      {
        functions: "",
        replace: {
          "https://paperless.example.org": paperless.url,
          "cat > token": `echo ${token} > token`,
        },
      },
      await freePort(),
    );
    await own.followTo("3. The first sync");
    // Without an analysis the page's loop goes on: it ends by the analysis, not by chance.
    const condition = /^until (steward (?!-).*?)(?: > \S+)?; do/m.exec(page)?.[1] ?? "true";
    const early = await own.shell.run(`steward -config steward.yaml > early.log 2>&1 &
until steward -healthcheck -config steward.yaml; do sleep 1; done
if ${condition}; then echo ended; else echo waits; fi
kill %1 && wait %1`);
    expect(early).toMatch(/^waits$/m);
    const printed = await own.followTo("Keep it, or remove it");
    expect(printed).toContain("1 document moved to the trash, 0 left out, 0 failed");
    expect(printed).toContain(": deleted, ");
    expect(printed).toContain('{"data":{"count":1}}');
    expect(trashed(paperless)).toHaveLength(1);
    await own.followTo();
  });
});

describe.skipIf(lacking("bash", "curl", "jq"))("github-token-in-ci", () => {
  it("leads from an app to a job whose tokens end with it", async () => {
    const host = await startCodeHost({
      apps: [
        {
          id: 123_456,
          clientId: "Iv1.0123456789abcdef",
          slug: "my-app",
          publicKeys: [appKey.publicKey],
          installations: [
            {
              id: 1001,
              account: { login: "my-org", type: "Organization" },
              permissions: { metadata: "read", contents: "write", checks: "write" },
              repositories: [
                { id: 11, name: "web" },
                { id: 12, name: "api" },
              ],
            },
          ],
        },
      ],
    });
    onTestFinished(() => host.stop());
    const port = await freePort();
    const own = reader(
      "github-token-in-ci.md",
      {
        functions: "",
        replace: {
          "https://api.github.com": host.url,
          "{app_id: 123456": `{url: "${host.url}", app_id: 123456`,
        },
      },
      port,
    );
    mkdirSync(join(own.home, "Downloads"));
    writeFileSync(join(own.home, "Downloads/my-app.private-key.pem"), appKey.privateKey);
    await own.followTo("5. The job");
    expect(host.liveTokens()).toHaveLength(0);
    const { env, steps } = parse(own.file(".github/workflows/build.yml")).jobs.build as {
      readonly env: Readonly<Record<string, string>>;
      readonly steps: readonly { readonly run: string }[];
    };
    const folder = join(own.home, "steward-tutorial");
    const job = startShell({
      cwd: folder,
      env: {
        ...cleanEnvironment,
        VAULT_ADDR: env["VAULT_ADDR"] ?? "",
        ROLE_ID: readFileSync(join(folder, "role-id"), "utf8").trim(),
        SECRET_ID: readFileSync(join(folder, "secret-id"), "utf8").trim(),
      },
    });
    // A step is a shell of its own, at whose end the traps run.
    const printed = await job.run(`(${steps[0]?.run ?? ""})`);
    await job.close();
    expect(printed.trim().split("\n")).toEqual([
      expect.stringMatching(/^::add-mask::hvs\./),
      expect.stringMatching(/^::add-mask::ghs_/),
      "my-org/web",
    ]);
    await expect.poll(() => host.liveTokens().length).toBe(0);
    expect(await own.followTo("Keep it, or remove it")).toContain("auth/token/revoke-self");
    await own.followTo();
  });
});
