import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials, status } from "@grpc/grpc-js";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Health } from "../../../src/gen/grpc/health/v1/health_pb.ts";
import { GRPCBroker, GRPCController } from "../../../src/gen/vault/go_plugin_pb.ts";
import { Backend } from "../../../src/gen/vault/backend_pb.ts";
import { PluginMultiplexing } from "../../../src/gen/vault/multiplexing_pb.ts";
import { PluginVersion } from "../../../src/gen/vault/version_pb.ts";
import { type Clock, systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { createIdentity, type Identity } from "../../../src/tokens/plugin/certificate.ts";
import { callUnary } from "../../../src/tokens/plugin/grpc.ts";
import { servePlugin } from "../../../src/tokens/plugin/plugin.ts";
import { createMemoryHost } from "../support/host.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "steward-plugin-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

interface Started {
  readonly client: Client;
  readonly ended: Promise<void>;
  readonly logged: readonly string[];
  readonly line: string;
  readonly terminate: () => void;
}

/** A plugin in this process, and a client with the host's certificate. */
async function start(clock: Clock = systemClock, parent = () => 1): Promise<Started> {
  const host: Identity = await createIdentity({ clock: systemClock, ids: systemIds });
  const { log, logged } = createMemoryHost();
  const terminated = new AbortController();
  const printed = Promise.withResolvers<string>();
  const ended = servePlugin(
    {
      clock,
      ids: systemIds,
      log,
      factory: () => Promise.reject(new Error("no mount is set up here")),
      print: printed.resolve,
      parent,
      signal: terminated.signal,
    },
    {
      version: "1.2.3",
      host: {
        certificate: host.certificate,
        socketFolder: folder,
        socketGroup: undefined,
        asksBrokerMultiplexing: false,
        version: "",
        wantsLockedMemory: false,
        logLevel: "info",
      },
    },
  );
  const line = await printed.promise;
  const [, , , socket = "", , certificate = ""] = line.trim().split("|");
  const authority = `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----\n`;
  const client = new Client(
    `unix:${socket}`,
    credentials.createSsl(
      Buffer.from(padded(authority, certificate)),
      Buffer.from(host.privateKey),
      Buffer.from(host.certificate),
    ),
    { "grpc.ssl_target_name_override": "localhost" },
  );
  return { client, ended, logged, line, terminate: () => terminated.abort() };
}

/** PEM wants the padding that the handshake leaves out. */
function padded(pem: string, certificate: string): string {
  const whole = Buffer.from(certificate, "base64").toString("base64");
  return pem.replace(certificate, whole.replaceAll(/.{64}/g, "$&\n"));
}

const soon = () => ({ deadlineMs: Date.now() + 10_000 });

describe("the plugin's process", () => {
  it("is healthy, has a version, and serves many mounts", async () => {
    const { client, ended, terminate } = await start();
    expect(
      await callUnary(client, Health.method.check, { service: "plugin" }, soon()),
    ).toMatchObject({ status: 1 });
    await expect(
      callUnary(client, Health.method.check, { service: "other" }, soon()),
    ).rejects.toMatchObject({ code: status.NOT_FOUND });
    expect(await callUnary(client, PluginVersion.method.version, {}, soon())).toMatchObject({
      pluginVersion: "v1.2.3",
    });
    expect(
      await callUnary(client, PluginMultiplexing.method.multiplexingSupport, {}, soon()),
    ).toMatchObject({ supported: true });
    expect(await callUnary(client, Backend.method.type, {}, soon())).toMatchObject({ type: 1 });
    client.close();
    terminate();
    await ended;
  });

  it("ends when the host says so, answers first, and removes its socket", async () => {
    const { client, ended, logged } = await start();
    expect(readdirSync(folder)).toHaveLength(1);
    await callUnary(client, GRPCController.method.shutdown, {}, soon());
    await ended;
    expect(readdirSync(folder)).toEqual([]);
    expect(logged.join("\n")).toContain("the host says so");
    client.close();
  });

  it("ends with a host whose broker stream is gone, also when none ever came", async () => {
    const due: (() => void)[] = [];
    const clock: Clock = {
      ...systemClock,
      // Hand over the long waits alone: for a host, and for its return.
      timer: (atMs, run) =>
        atMs - systemClock.monotonic() < 4_000
          ? systemClock.timer(atMs, run)
          : (due.push(run), { [Symbol.dispose]: () => void due.splice(0, due.length) }),
    };
    const { client, ended, logged } = await start(clock);
    expect(due).toHaveLength(1);
    const stream = client.makeBidiStreamRequest(
      `/${GRPCBroker.typeName}/StartStream`,
      () => Buffer.alloc(0),
      () => undefined,
    );
    stream.on("error", () => undefined);
    stream.write({});
    await expect.poll(() => due.length).toBe(0);
    stream.cancel();
    await expect.poll(() => due.length).toBe(1);
    due[0]?.();
    await ended;
    expect(logged.join("\n")).toContain("the host is gone");
    client.close();
  });

  it("ends with its parent, though a broker stream still seems to be open", async () => {
    let parent = 7;
    const { client, ended, logged } = await start(systemClock, () => parent);
    const stream = client.makeBidiStreamRequest(
      `/${GRPCBroker.typeName}/StartStream`,
      () => Buffer.alloc(0),
      () => undefined,
    );
    stream.on("error", () => undefined);
    stream.write({});
    parent = 1;
    await ended;
    expect(logged.join("\n")).toContain("the host is gone");
    client.close();
  });

  it("lets nobody in who has another certificate than the host", async () => {
    const { line, ended, terminate, client } = await start();
    const [, , , socket = ""] = line.split("|");
    const stranger = await createIdentity({ clock: systemClock, ids: systemIds });
    const other = new Client(
      `unix:${socket}`,
      credentials.createSsl(
        Buffer.from(stranger.certificate),
        Buffer.from(stranger.privateKey),
        Buffer.from(stranger.certificate),
        { checkServerIdentity: () => undefined, rejectUnauthorized: false },
      ),
      { "grpc.ssl_target_name_override": "localhost" },
    );
    await expect(
      callUnary(other, Health.method.check, { service: "plugin" }, soon()),
    ).rejects.toMatchObject({ code: status.UNAVAILABLE });
    other.close();
    client.close();
    terminate();
    await ended;
  });
});
