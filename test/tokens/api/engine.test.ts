import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type DescMessage,
  type DescMethodUnary,
  type MessageInitShape,
  type MessageShape,
  create,
} from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { demoCodeHost, type DemoCodeHost } from "../../../src/demo/code-host/demo.ts";
import { EngineService } from "../../../src/gen/steward/tokens/v1/engine_service_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createCall, type UnaryHandler } from "../../../src/kernel/service.ts";
import type { Tokens } from "../../../src/tokens/service.ts";
import { quietLog } from "../../kernel/state/fixtures/tables.ts";
import { githubMount, openService } from "../support/service.ts";

const { readInfo, readConfig, writeConfig, mintToken } = EngineService.method;
const mount = "github";
const directory = mkdtempSync(join(tmpdir(), "steward-test-"));
const build = {
  projectName: "a name",
  projectDocs: "its docs",
  version: "1.2.3",
  revision: "abcdef",
  branch: "main",
  date: "2026-01-02T03:04:05Z",
  user: "release@example.org",
};

let demo: DemoCodeHost;
let tokens: Tokens;
let root = "";

beforeAll(async () => {
  demo = await demoCodeHost({ clock: systemClock, ids: systemIds, log: quietLog });
  await demo.codeHost.start();
  tokens = await openService(directory, { mounts: [githubMount], audit: [], build });
  await tokens.showRoot((token) => (root = token) !== "");
  await call(writeConfig, {
    mount,
    appId: BigInt(demo.appId),
    prvKey: demo.privateKeyPem,
    baseUrl: demo.codeHost.url,
  });
});

afterAll(async () => {
  await tokens.close(1_000);
  await demo.codeHost.stop();
  rmSync(directory, { recursive: true });
});

/** Calls a typed method with the root token. */
async function call<I extends DescMessage, O extends DescMessage>(
  method: DescMethodUnary<I, O>,
  init: MessageInitShape<I>,
): Promise<MessageShape<O>> {
  const bound = tokens.service.rpc.find(({ desc }) => desc === method.parent);
  const handler = bound?.handler(method) as UnaryHandler<I, O> | undefined;
  if (handler === undefined) throw new Error(`no service has ${method.name}`);
  const context = createCall({
    signal: new AbortController().signal,
    requestId: "r",
    headers: { "x-vault-token": root },
  });
  return create(method.output, await handler(create(method.input, init), context));
}

describe("the typed methods of the engine", () => {
  it("give each of the seven strings of the build information its own field", async () => {
    expect(await call(readInfo, { mount })).toMatchObject({
      projectName: "a name",
      projectDocs: "its docs",
      buildVersion: "1.2.3",
      buildRevision: "abcdef",
      buildBranch: "main",
      buildDate: "2026-01-02T03:04:05Z",
      buildUser: "release@example.org",
    });
  });

  it("say when a minted token expires, as the platform wrote it", async () => {
    const { minted } = await call(mintToken, { mount, orgName: demo.organisation });
    const expiresAtMs = demo.codeHost.find(minted?.hashedToken ?? "")?.expiresAtMs ?? 0;
    expect(minted?.expiresAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(Date.parse(minted?.expiresAt ?? "")).toBe(Math.floor(expiresAtMs / 1_000) * 1_000);
  });

  it("write and read strict scopes and the token cache's time", async () => {
    const settings = async () => {
      const { strictScopes, tokenCacheMinTtl } = await call(readConfig, { mount });
      return [strictScopes, tokenCacheMinTtl];
    };
    expect(await settings()).toEqual([false, 0n]);
    await call(writeConfig, { mount, strictScopes: true });
    expect(await settings()).toEqual([true, 0n]);
    await call(writeConfig, { mount, strictScopes: false, tokenCacheMinTtl: "30m" });
    expect(await settings()).toEqual([false, 1_800n]);
  });
});
