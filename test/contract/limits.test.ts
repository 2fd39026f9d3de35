import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import {
  type Daemon,
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
} from "./daemon.ts";

let daemon: Daemon;

beforeAll(async () => {
  const folder = temporaryFolder();
  writeFiles(folder, smallArchive);
  daemon = await startDaemon({ config: folderConfig(temporaryFolder(), folder) });
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

function raw(): Socket {
  const { hostname, port } = new URL(daemon.url);
  return connect(Number(port), hostname);
}

/** Everything the other side says until it closes. */
function untilClosed(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => {});
  return new Promise((resolve) => socket.on("close", () => resolve(text)));
}

describe("a client that misbehaves", () => {
  it("and sends a byte a second in its header is cut within the header time, others being served meanwhile", async () => {
    const socket = raw();
    const ended = untilClosed(socket);
    const text = "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n";
    let sent = 0;
    const drip = setInterval(() => socket.write(text[sent++ % text.length] ?? ""), 1_000);
    expect((await rest(daemon, "GET", "/api/v1/health")).status).toBe(200);
    const answer = await ended;
    clearInterval(drip);
    expect(answer === "" || answer.includes("408")).toBe(true);
    expect(sent).toBeLessThan(16);
  });

  it("and sends a header over 16 KiB gets 431", async () => {
    const socket = raw();
    socket.write(
      `GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nX-Long: ${"a".repeat(17_000)}\r\n\r\n`,
    );
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 431 /);
  });

  it("and asks under a foreign name is refused, over REST and rpc alike", async () => {
    for (const path of [
      "GET /api/v1/documents",
      "POST /steward.dedup.v1.DocumentService/ListDocuments",
    ]) {
      const socket = raw();
      socket.write(
        `${path} HTTP/1.1\r\nHost: rebound.example\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
      );
      expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 (401|403) /);
    }
  });

  it("and talks TLS to a plain port gets 400 and no more", async () => {
    const socket = raw();
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03]));
    expect(await untilClosed(socket)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it("and vanishes in the middle of a stream or a body harms nobody", async () => {
    for (let round = 0; round < 20; round++) {
      const socket = raw();
      await new Promise((resolve) => socket.once("connect", resolve));
      socket.write(
        'POST /api/v1/sync HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"for',
      );
      socket.destroy();
    }
    expect((await rest(daemon, "GET", "/api/v1/health")).status).toBe(200);
  });
});

describe("bodies around the limit of 4 MiB", () => {
  it.each([
    [-1, 202],
    [0, 202],
    [1, 413],
  ])("%i bytes off", async (off, status) => {
    const body = `{"force":true${" ".repeat(4 * 1024 * 1024 - 14 + off)}}`;
    const answer = await rest(daemon, "POST", "/api/v1/sync", body);
    if (answer.status === 409) expect(status).toBe(202);
    else expect(answer.status).toBe(status);
  });
});
