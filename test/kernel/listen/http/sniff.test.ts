import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../../../src/kernel/base/clock.ts";
import { classify, sniff, type Protocol } from "../../../../src/kernel/listen/http/sniff.ts";
import { connectRaw, echo, listen, sendPieces } from "../raw-client.ts";

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const emptySettings = Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 0, 0);

describe("the first bytes of a connection", () => {
  it("decide nothing while they are a part of the HTTP/2 preface", () => {
    for (let length = 0; length < preface.length; length += 1)
      expect(classify(Buffer.from(preface.slice(0, length)))).toBeUndefined();
    expect(classify(Buffer.from(preface))).toBe("h2");
    expect(classify(Buffer.from(`${preface}more`))).toBe("h2");
  });

  it("are HTTP/1.1 as soon as they differ from the preface, and TLS by the first", () => {
    expect(classify(Buffer.from("PO"))).toBe("h1");
    expect(classify(Buffer.from("G"))).toBe("h1");
    expect(classify(Buffer.from("PRI * HTTP/1"))).toBe("h1");
    expect(classify(Uint8Array.of(0x16))).toBe("tls");
  });

  it("are decided alike however they are cut", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 40 }), (bytes) => {
        const whole = classify(bytes);
        for (let length = 1; length < bytes.length; length += 1) {
          const part = classify(bytes.subarray(0, length));
          expect(part === undefined || part === whole).toBe(true);
        }
      }),
    );
  });
});

/**
 * Sends pieces to a sniffed socket, each when the one before has surely been read by itself;
 * resolves with what was decided and what is then read.
 */
async function sniffPieces(
  pieces: readonly string[],
): Promise<{ protocol: Protocol; text: string }> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = connectRaw((server.address() as AddressInfo).port);
  const [socket] = (await once(server, "connection")) as [Socket];
  onTestFinished(() => void socket.destroy());
  const decided = new Promise<Protocol>((resolve) =>
    sniff(socket, { clock: systemClock, deadlineMs: 10_000, decided: resolve }),
  );
  const whole = pieces.join("");
  for (const piece of pieces) {
    const before = socket.bytesRead;
    (await client).socket.write(piece);
    await expect.poll(() => socket.bytesRead, { interval: 1 }).toBe(before + piece.length);
  }
  const protocol = await decided;
  let text = "";
  socket.on("data", (chunk: Buffer) => (text += chunk.toString("latin1"))).resume();
  await expect.poll(() => text.length).toBe(whole.length);
  return { protocol, text };
}

describe("a connection that is handed over", () => {
  it.each([
    ["HTTP/2", "h2", preface],
    ["HTTP/1.1", "h1", "PO"],
    ["HTTP/1.1 almost like the preface", "h1", "PRI * HTTP/1"],
  ])("has every byte once, in order, however they came: %s", async (_name, protocol, text) => {
    expect(await sniffPieces(text.split(""))).toEqual({ protocol, text });
  });
});

describe("a port", () => {
  it("answers HTTP/2 when the preface arrives byte by byte", async () => {
    const { port } = await listen(echo);
    const client = await connectRaw(port);
    await sendPieces(client, [...preface.split(""), emptySettings]);
    const frame = await client.until(/^[^]{9}/);
    expect(frame.charCodeAt(3)).toBe(4);
  });

  it("answers HTTP/1.1 when the method arrives in pieces that look like the preface", async () => {
    const { port } = await listen(echo);
    const client = await connectRaw(port);
    await sendPieces(client, [
      "P",
      "OST",
      " /things HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab",
      "c",
    ]);
    expect(await client.until(/\/things 3/)).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it("tells a TLS client that it speaks HTTP, and closes", async () => {
    const { port } = await listen(echo);
    const client = await connectRaw(port);
    client.socket.write(Uint8Array.of(0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3));
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 400 Bad Request[^]*not TLS/);
  });

  it("answers garbage with 400 and closes", async () => {
    const { port } = await listen(echo);
    const client = await connectRaw(port);
    client.socket.write("\0\x01\x02 nothing known\r\n\r\n");
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 400 Bad Request/);
  });

  it("answers an upgrade to HTTP/2 in HTTP/1.1", async () => {
    const { port } = await listen(echo);
    const client = await connectRaw(port);
    client.socket.write(
      "GET /up HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n",
    );
    expect(await client.until(/GET \/up/)).toMatch(/^HTTP\/1\.1 200/);
  });

  it("closes a connection that never decides", async () => {
    const { port } = await listen(echo, { headerMs: 50 });
    const silent = await connectRaw(port);
    const undecided = await connectRaw(port);
    undecided.socket.write("PRI * HT");
    expect(await silent.closed()).toBe("");
    expect(await undecided.closed()).toBe("");
  });

  it("answers when the client ends its side after the request", async () => {
    const { port } = await listen(echo);
    const client = await connectRaw(port);
    client.socket.end("GET /half HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(await client.closed()).toMatch(/GET \/half/);
  });

  it("closes an HTTP/2 connection whose client ends its side", async () => {
    const listener = await listen(echo);
    const client = await connectRaw(listener.port);
    await sendPieces(client, [preface, emptySettings]);
    await client.until(/^[^]{9}/);
    client.socket.end();
    await client.closed();
    await expect.poll(() => listener.connections()).toBe(0);
  });
});
