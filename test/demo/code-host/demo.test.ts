import { createPrivateKey, sign } from "node:crypto";
import { Worker } from "node:worker_threads";
import { describe, expect, it, onTestFinished } from "vitest";
import { demoCodeHost } from "../../../src/demo/code-host/demo.ts";
import type { CodeHostReady, CodeHostStats } from "../../../src/demo/code-host/process.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { ask, setClock, silent } from "./support.ts";

function jwtOf(pem: string, nowMs: number): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const nowS = Math.floor(nowMs / 1000);
  const signed = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iss: 1, iat: nowS - 60, exp: nowS + 540 })}`;
  return `${signed}.${sign("RSA-SHA256", Buffer.from(signed), createPrivateKey(pem)).toString("base64url")}`;
}

describe("the demo's code host", () => {
  it("has example-org as installation 1001 with web and api, and a key of its own each time", async () => {
    const clock = setClock();
    const [demo, other] = await Promise.all([
      demoCodeHost({ clock, ids: systemIds, log: silent }),
      demoCodeHost({ clock, ids: systemIds, log: silent }),
    ]);
    onTestFinished(() => demo.codeHost.stop());
    await demo.codeHost.start();
    expect(demo.privateKeyPem).toMatch(/^-----BEGIN RSA PRIVATE KEY-----\n/);
    expect(other.privateKeyPem).not.toBe(demo.privateKeyPem);
    expect([demo.appId, demo.organisation, demo.installationId]).toEqual([1, "example-org", 1001]);
    const { url } = demo.codeHost;
    const as = jwtOf(demo.privateKeyPem, clock.now());
    expect((await ask(url, "GET", "/orgs/example-org/installation", { as })).json.id).toBe(1001);
    const { json } = await ask(url, "POST", "/app/installations/1001/access_tokens", {
      as,
      body: { repositories: ["web", "api"], permissions: { contents: "read" } },
    });
    expect(json.repositories.map((each: { full_name: string }) => each.full_name)).toEqual([
      "example-org/web",
      "example-org/api",
    ]);
    expect(
      (await ask(url, "GET", "/app", { as: jwtOf(other.privateKeyPem, clock.now()) })).status,
    ).toBe(401);
  });

  it("runs in a thread of its own, tells its address, answers for its figures and ends when asked", async () => {
    const worker = new Worker(new URL("../../../src/demo/code-host/process.ts", import.meta.url), {
      workerData: { tokenForm: "stateless" },
    });
    const next = <T>(): Promise<T> =>
      new Promise((resolve, reject) => worker.once("message", resolve).once("error", reject));
    const ready = await next<CodeHostReady>();
    expect(ready).toMatchObject({
      kind: "ready",
      appId: 1,
      organisation: "example-org",
      installationId: 1001,
    });
    const { json } = await ask(ready.url, "POST", "/app/installations/1001/access_tokens", {
      as: jwtOf(ready.privateKeyPem, Date.now()),
    });
    expect(json.token).toContain(".");
    worker.postMessage({ kind: "stats" });
    expect(await next<CodeHostStats>()).toMatchObject({
      kind: "stats",
      counts: { minted: 1, live: 1 },
      requests: { mint: 1 },
    });
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    worker.postMessage({ kind: "stop" });
    expect(await ended).toBe(0);
  });
});
