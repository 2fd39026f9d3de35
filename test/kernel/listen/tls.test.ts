import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { appendFileSync, mkdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectRaw } from "./raw-client.ts";
import { tlsListener } from "./tls-listener.ts";
import { hasOpenssl, makePair, swapLink, testFolder, writePair } from "./test-certificates.ts";

/** A finished handshake with the listener, whoever its certificate names. */
async function handshake(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({ port, host: "127.0.0.1", rejectUnauthorized: false, ...options });
  onTestFinished(() => void socket.destroy());
  await once(socket, "secureConnect");
  return socket;
}

/** The name on the certificate that a new connection is shown. */
async function servedName(port: number): Promise<string> {
  const socket = await handshake(port);
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return name;
}

async function getOverHttps(port: number): Promise<string> {
  const request = httpsRequest({
    port,
    host: "127.0.0.1",
    path: "/a",
    rejectUnauthorized: false,
    agent: false,
  });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response as AsyncIterable<Buffer>) text += chunk.toString();
  return text;
}

describe.skipIf(!hasOpenssl)("a port with TLS (skipped without the openssl command)", () => {
  it("serves HTTP/1.1 and HTTP/2 by ALPN, and HTTP/1.1 to clients without it", async () => {
    const { listener } = tlsListener(writePair(testFolder(), makePair("one")));
    await listener.start();
    expect(await getOverHttps(listener.port)).toBe("GET /a 0");
    expect((await handshake(listener.port)).alpnProtocol).toBe(false);
    expect(
      (await handshake(listener.port, { ALPNProtocols: ["h2", "http/1.1"] })).alpnProtocol,
    ).toBe("h2");
    const session = connectHttp2(`https://127.0.0.1:${listener.port}`, {
      rejectUnauthorized: false,
    });
    onTestFinished(() => session.destroy());
    const stream = session.request({ ":path": "/b", ":method": "POST" });
    stream.end("body");
    let text = "";
    for await (const chunk of stream as AsyncIterable<Buffer>) text += chunk.toString();
    expect(text).toBe("POST /b 4");
  });

  it("takes TLS 1.2 and 1.3 and nothing older", async () => {
    const { listener } = tlsListener(writePair(testFolder(), makePair("one")));
    await listener.start();
    for (const version of ["TLSv1.2", "TLSv1.3"] as const)
      expect(
        (
          await handshake(listener.port, { minVersion: version, maxVersion: version })
        ).getProtocol(),
      ).toBe(version);
    await expect(
      handshake(listener.port, {
        minVersion: "TLSv1",
        maxVersion: "TLSv1.1",
        ciphers: "DEFAULT:@SECLEVEL=0",
      }),
    ).rejects.toThrow(/alert|protocol version/i);
    await expect(handshake(listener.port, { ALPNProtocols: ["spdy/1"] })).rejects.toThrow(
      /alert no application protocol/i,
    );
  });

  it("answers plain HTTP with one line that says why, and nothing else", async () => {
    const { listener } = tlsListener(writePair(testFolder(), makePair("one")));
    await listener.start();
    for (const text of ["GET / HTTP/1.1\r\nHost: x\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"]) {
      const client = await connectRaw(listener.port);
      client.socket.end(text);
      expect(await client.closed()).toMatch(
        /^HTTP\/1\.1 400 [^]*this port speaks HTTPS, not HTTP\.\n$/,
      );
    }
    expect(listener.inFlight()).toBe(0);
  });

  it("gives up a handshake that does not end, and counts and drains what it secured", async () => {
    const files = writePair(testFolder(), makePair("one"));
    const { listener: hasty } = tlsListener(files, { limits: { headerMs: 500 } });
    await hasty.start();
    const silent = await connectRaw(hasty.port);
    silent.socket.write(Buffer.from([0x16, 3, 1, 0, 200, 1]));
    await silent.closed();
    await expect.poll(() => hasty.connections()).toBe(0);
    const { listener } = tlsListener(files);
    await listener.start();
    const secured = await handshake(listener.port);
    const closed = once(secured, "close");
    secured.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await once(secured, "data");
    secured.resume();
    expect(listener.connections()).toBe(1);
    await listener.stop(1000);
    await closed;
    expect(listener.connections()).toBe(0);
  });

  it("tells its certificate", async () => {
    const pair = makePair("one");
    const { listener } = tlsListener(writePair(testFolder(), pair));
    expect(listener.certificate()).toBeUndefined();
    await listener.start();
    const leaf = new X509Certificate(pair.cert);
    expect(listener.certificate()).toEqual({
      fingerprint: leaf.fingerprint256.replaceAll(":", "").toLowerCase(),
      notBefore: leaf.validFromDate.getTime(),
      notAfter: leaf.validToDate.getTime(),
      lastReloadAt: undefined,
      loadedAt: expect.any(Number) as number,
      failures: 0,
      lastFailureAt: undefined,
      lastFailure: "",
    });
  });
});

describe.skipIf(!hasOpenssl)(
  "a pair that is unusable at start (skipped without the openssl command)",
  () => {
    const one = (): { cert: string; key: string } => makePair("one");

    it.each([
      [
        "a missing file",
        (folder: string) => rmSync(join(folder, "tls.key")),
        /tls\.key cannot be read \(ENOENT\)/,
      ],
      [
        "a folder in its place",
        (folder: string) => {
          rmSync(join(folder, "tls.crt"));
          mkdirSync(join(folder, "tls.crt"));
        },
        /tls\.crt is not a regular file/,
      ],
      [
        "half a certificate",
        (folder: string) => truncateSync(join(folder, "tls.crt"), 300),
        /tls\.crt contains no complete certificate/,
      ],
      [
        "a chain whose second part is cut off",
        (folder: string) =>
          appendFileSync(join(folder, "tls.crt"), makePair("two").cert.slice(0, 300)),
        /tls\.crt contains no complete certificate/,
      ],
      [
        "half a key",
        (folder: string) => truncateSync(join(folder, "tls.key"), 100),
        /tls\.key contains no private key/,
      ],
      [
        "the key of another certificate",
        (folder: string) => writeFileSync(join(folder, "tls.key"), makePair("two").key),
        /tls\.key does not belong to the certificate/,
      ],
      [
        "two megabytes",
        (folder: string) => writeFileSync(join(folder, "tls.key"), Buffer.alloc(2_000_000)),
        /tls\.key is not a regular file of at most 1 MiB/,
      ],
    ])("stops the start, naming the file: %s", async (_name, spoil, message) => {
      const folder = testFolder();
      const pair = one();
      const files = writePair(folder, pair);
      spoil(folder);
      const { listener } = tlsListener(files);
      const failure = await listener.start().then(
        () => undefined,
        (error: unknown) => error,
      );
      expect(failure).toMatchObject({ code: "invalid", message: expect.stringMatching(message) });
      expect(listener.port).toBe(0);
      expect(String(failure)).not.toContain(pair.key.split("\n")[1]);
    });
  },
);

describe.skipIf(!hasOpenssl)("a pair that changes (skipped without the openssl command)", () => {
  it("is served to new connections, while those that are open go on", async () => {
    const folder = testFolder();
    const { listener } = tlsListener(writePair(folder, makePair("one")));
    await listener.start();
    const before = await handshake(listener.port);
    writePair(folder, makePair("two"));
    await expect.poll(() => servedName(listener.port)).toBe("two");
    before.write("GET /still HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    let text = "";
    for await (const chunk of before as AsyncIterable<Buffer>) text += chunk.toString();
    expect(text).toContain("GET /still 0");
    expect(listener.certificate()?.lastReloadAt).toBeGreaterThan(0);
  });

  it("is noticed behind a symlink that is swapped, even when files and times are the same", async () => {
    const folder = testFolder();
    for (const name of ["a", "b"]) {
      mkdirSync(join(folder, name));
      writePair(join(folder, name), makePair(name));
    }
    swapLink(folder, "a");
    const { listener } = tlsListener({
      certFile: join(folder, "current/tls.crt"),
      keyFile: join(folder, "current/tls.key"),
    });
    await listener.start();
    for (const name of ["b", "a"]) {
      swapLink(folder, name);
      await expect.poll(() => servedName(listener.port)).toBe(name);
    }
  });

  it("keeps the last good one while it is broken, half-written or away, and says so once for each reason", async () => {
    const folder = testFolder();
    const [one, two] = [makePair("one"), makePair("two")];
    const { listener, lines } = tlsListener(writePair(folder, one));
    await listener.start();
    const failure = (pattern: RegExp): Promise<unknown> =>
      expect.poll(() => listener.certificate()?.lastFailure).toMatch(pattern);
    writeFileSync(join(folder, "tls.crt"), two.cert.slice(0, 400));
    await failure(/no complete certificate/);
    writeFileSync(join(folder, "tls.crt"), two.cert);
    await failure(/does not belong/);
    rmSync(join(folder, "tls.key"));
    await failure(/cannot be read \(ENOENT\)/);
    expect(await servedName(listener.port)).toBe("one");
    expect(listener.certificate()).toMatchObject({
      lastReloadAt: undefined,
      lastFailureAt: expect.any(Number),
    });
    writeFileSync(join(folder, "tls.key"), two.key);
    await expect.poll(() => servedName(listener.port)).toBe("two");
    const warned = lines.filter((line) => line.includes("the last good one stays in use"));
    expect(new Set(warned).size).toBe(warned.length);
    expect(warned.length).toBeLessThanOrEqual(5);
  });

  it("may go back to the one in use without a reload", async () => {
    const folder = testFolder();
    const one = makePair("one");
    const { listener } = tlsListener(writePair(folder, one));
    await listener.start();
    writeFileSync(join(folder, "tls.crt"), "");
    await expect.poll(() => listener.certificate()?.lastFailure).toMatch(/no complete certificate/);
    writePair(folder, one);
    const last = listener.certificate()?.lastFailureAt;
    await expect
      .poll(
        () =>
          listener.certificate()?.lastFailureAt === last || listener.certificate()?.lastFailureAt,
      )
      .toBeTruthy();
    expect(await servedName(listener.port)).toBe("one");
    expect(listener.certificate()?.lastReloadAt).toBeUndefined();
  });
});
