import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Storage, SystemView } from "../../../src/gen/vault/host_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createIdentity, type Identity } from "../../../src/tokens/plugin/certificate.ts";
import { connectToHost, serverCredentials } from "../../../src/tokens/plugin/connection.ts";
import { addService } from "../../../src/tokens/plugin/grpc.ts";
import { createHostStorage, fetchLeaseLimits } from "../../../src/tokens/plugin/storage.ts";
import { refusalOf } from "../support/engine.ts";

const newIdentity = (): Promise<Identity> => createIdentity({ clock: systemClock, ids: systemIds });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

let folder: string;
let path: string;
let plugin: Identity;
let host: Identity;
const opened: (() => void)[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "steward-storage-"));
  path = join(folder, "host.sock");
  [plugin, host] = [await newIdentity(), await newIdentity()];
});
afterEach(() => {
  for (const close of opened.splice(0)) close();
  rmSync(folder, { recursive: true });
});

interface FakeHost {
  readonly stored: Map<string, Uint8Array>;
  readonly sealed: Set<string>;
  refusal: string;
  readonly server: Server;
}

/** As the host serves it: with its own certificate, for the holder of the plugin's. */
async function startHost(): Promise<FakeHost> {
  const server = new Server();
  const fake: FakeHost = { stored: new Map(), sealed: new Set(), refusal: "", server };
  const answer = <T extends object>(reply: T) => Promise.resolve({ ...reply, err: fake.refusal });
  addService(server, Storage, {
    get({ key }) {
      const value = fake.stored.get(key);
      return answer(value === undefined ? {} : { entry: { key, value } });
    },
    put({ entry }) {
      fake.stored.set(entry?.key ?? "", entry?.value ?? new Uint8Array());
      if (entry?.sealWrap === true) fake.sealed.add(entry.key);
      return answer({});
    },
    delete({ key }) {
      fake.stored.delete(key);
      return answer({});
    },
    list: ({ prefix }) =>
      answer({ keys: [...fake.stored.keys()].filter((key) => key.startsWith(prefix)) }),
  });
  addService(server, SystemView, {
    defaultLeaseTTL: () => Promise.resolve({ TTL: 3_600_000_000_000n }),
    maxLeaseTTL: () => Promise.resolve({ TTL: 7_200_000_000_000n }),
  });
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${path}`, serverCredentials(host, plugin.certificate), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  opened.push(() => server.forceShutdown());
  return fake;
}

function connect(as: Identity = plugin, trusted: Identity = host) {
  const client = connectToHost({ network: "unix", address: path }, as, trusted.certificate);
  opened.push(() => client.close());
  return {
    client,
    storage: createHostStorage(client, { clock: systemClock, sealWrapped: new Set(["config"]) }),
  };
}

describe("the host's storage", () => {
  it("keeps, gives, lists and deletes; the configuration is marked for seal wrap", async () => {
    const fake = await startHost();
    const { storage } = connect();
    expect(await storage.get("config")).toBeUndefined();
    await storage.put("config", bytes("{}"));
    await storage.put("permissionset/b", bytes("b"));
    await storage.put("permissionset/B", bytes("B"));
    expect([...fake.sealed]).toEqual(["config"]);
    expect(Buffer.from((await storage.get("config")) ?? []).toString()).toBe("{}");
    expect(await storage.list("permissionset/")).toEqual(["permissionset/B", "permissionset/b"]);
    expect(await storage.list("permissionset/", { after: "permissionset/B", limit: 1 })).toEqual([
      "permissionset/b",
    ]);
    await storage.delete("config");
    expect(fake.stored.has("config")).toBe(false);
  });

  it("refuses in the host's words", async () => {
    const fake = await startHost();
    const { storage } = connect();
    fake.refusal = "cannot write to readonly storage";
    for (const call of [
      storage.get("x"),
      storage.put("x", bytes("")),
      storage.delete("x"),
      storage.list(""),
    ])
      expect(await refusalOf(call)).toMatchObject({
        code: "denied",
        rule: "host_error",
        message: "cannot write to readonly storage",
      });
    fake.refusal = "disk is full";
    expect((await refusalOf(storage.get("x"))).message).toBe("disk is full");
  });

  it("says at once that it cannot be reached, and is used again when it is back", async () => {
    const { storage } = connect();
    expect(await refusalOf(storage.get("x"))).toMatchObject({ code: "not_ready" });
    const { server } = await startHost();
    await expect.poll(() => storage.get("x").catch(() => "away")).toBeUndefined();
    server.forceShutdown();
    rmSync(path, { force: true });
    await expect.poll(() => storage.get("x").catch(() => "away")).toBe("away");
    await startHost();
    await expect.poll(() => storage.get("x").catch(() => "away")).toBeUndefined();
  });

  it("is neither given to nor taken from anybody with another certificate", async () => {
    await startHost();
    const stranger = await newIdentity();
    expect((await refusalOf(connect(stranger).storage.get("x"))).code).toBe("not_ready");
    expect((await refusalOf(connect(plugin, stranger).storage.get("x"))).code).toBe("not_ready");
  });

  it("comes with the mount's lease times", async () => {
    await startHost();
    expect(await fetchLeaseLimits(connect().client, systemClock)).toEqual({
      defaultLeaseTtlMs: 3_600_000,
      maxLeaseTtlMs: 7_200_000,
    });
  });

  it("is not looked for on a network that the plugin does not know", () => {
    expect(() =>
      connectToHost({ network: "vsock", address: "3:1" }, plugin, host.certificate),
    ).toThrow(/unknown network/);
  });
});
