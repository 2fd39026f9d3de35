import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import {
  removeStaleSockets,
  restrictSocket,
  socketPath,
} from "../../../src/tokens/plugin/socket.ts";
import { spawn } from "../../support/spawn.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "steward-socket-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

function age(path: string, seconds: number): void {
  const then = new Date(Date.now() - seconds * 1_000);
  utimesSync(path, then, then);
}

async function live(path: string): Promise<AsyncDisposable> {
  const server = createServer().listen(path);
  await once(server, "listening");
  return { [Symbol.asyncDispose]: async () => void (await once(server.close(), "close")) };
}

/** As a process that ends by SIGKILL leaves it. */
async function dead(path: string): Promise<void> {
  const script = `require("net").createServer().listen(${JSON.stringify(path)}, () => console.log("up"))`;
  const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGKILL");
  await once(child, "close");
}

describe("the plugin's socket", () => {
  it("lies in the host's folder, else in that of temporary files, under a random name", () => {
    expect(socketPath("/run/host", systemIds)).toMatch(
      /^\/run\/host\/steward-plugin-[0-9A-Za-z]{12}\.sock$/,
    );
    expect(socketPath(undefined, systemIds).startsWith(tmpdir())).toBe(true);
    expect(socketPath("/a", systemIds)).not.toBe(socketPath("/a", systemIds));
  });

  it("is refused where the address has no room for its path", () => {
    expect(() => socketPath(`/${"x".repeat(73)}`, systemIds)).not.toThrow();
    expect(() => socketPath(`/${"x".repeat(74)}`, systemIds)).toThrow(/more than 107 bytes/);
  });

  it("is the owner's alone, or the group's too", async () => {
    const path = socketPath(folder, systemIds);
    await using _server = await live(path);
    restrictSocket(path, undefined);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    restrictSocket(path, String(process.getgid?.()));
    expect(statSync(path).mode & 0o777).toBe(0o660);
    expect(() => restrictSocket(path, "no-such-group")).toThrow(/does not exist/);
  });
});

describe("stale sockets", () => {
  it("are removed: dead ones of this user, older than a minute, with the plugin's name", async () => {
    const [old, young, served] = [1, 2, 3].map(() => socketPath(folder, systemIds)) as [
      string,
      string,
      string,
    ];
    const foreign = join(folder, "plugin123456789012.sock");
    await Promise.all([dead(old), dead(young), dead(foreign)]);
    await using _server = await live(served);
    const file = join(folder, "steward-plugin-000000000000.sock");
    writeFileSync(file, "not a socket");
    for (const path of [old, served, foreign, file]) age(path, 120);
    expect(await removeStaleSockets(folder, systemClock)).toBe(1);
    expect(readdirSync(folder).toSorted()).toEqual(
      [young, served, foreign, file].map((path) => basename(path)).toSorted(),
    );
  });

  it("are none in a folder that is not there", async () => {
    expect(await removeStaleSockets(join(folder, "none"), systemClock)).toBe(0);
  });
});
