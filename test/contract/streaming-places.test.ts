import { connect } from "node:net";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { request } from "node:https";
import { afterAll, describe, expect, it, vi } from "vitest";
import { removeTemporaryFolders, rest, runSteward } from "./daemon.ts";
import { post, startReceiving, TOKEN } from "./receivers.ts";

afterAll(removeTemporaryFolders);

const listen = "127.0.0.1:0";
const RECORD = '{"nodeId":"n","virtualTraffic":null}';

describe("a streaming receiver without a token", () => {
  it("serves programs of this machine, and no page of the web", async () => {
    await using receiving = await startReceiving({ streaming: { enabled: true, listen } });
    const port = receiving.port("stream");
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await post(port, { headers, body: RECORD })).status;
    expect(receiving.daemon.stderr.join("\n")).toContain("streaming.token: is missing");
    for (const headers of [
      {},
      { "content-type": "application/json; charset=utf-8" },
      { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors", "sec-fetch-dest": "empty" },
      { host: "localhost:1" },
      { host: "[::1]:8088" },
    ])
      expect([headers, await status(headers)]).toEqual([headers, 200]);
    for (const headers of [
      { origin: "http://127.0.0.1" },
      { "sec-fetch-site": "cross-site" },
      { "sec-fetch-mode": "no-cors" },
      { "sec-fetch-dest": "script" },
      { "content-type": "text/plain" },
      { "content-type": "application/x-www-form-urlencoded" },
      { "content-type": "multipart/form-data; boundary=x" },
      { "content-type": "nothing" },
      { host: "rebound.example" },
    ])
      expect([headers, await status(headers)]).toEqual([headers, 403]);
    await vi.waitFor(
      () => expect(receiving.sum("vpn.stream.rejected", { reason: "cross_site" })).toBe(9),
      { timeout: 60_000 },
    );
  });
});

describe("the places of a streaming receiver", () => {
  it("are its own: beyond them a sender is told to come again, strangers and the gateway do not take them", async () => {
    await using receiving = await startReceiving({
      streaming: { enabled: true, listen, token: TOKEN, max_concurrent_requests: 1 },
    });
    const port = receiving.port("stream");
    const authorization = `Splunk ${TOKEN}`;
    const strangers = Array.from({ length: 20 }, () => halfSent(port, "Splunk wrong"));
    await vi.waitFor(
      async () =>
        expect((await post(port, { headers: { authorization }, body: RECORD })).status).toBe(200),
      { timeout: 60_000 },
    );
    const holder = halfSent(port, authorization);
    await vi.waitFor(() => expect(receiving.sum("vpn.stream.inflight")).toBeGreaterThan(0), {
      timeout: 60_000,
    });
    const busy = await post(port, { headers: { authorization }, body: RECORD });
    expect([busy.status, busy.headers["retry-after"]]).toEqual([503, "1"]);
    expect(JSON.parse(busy.body)).toMatchObject({ code: 503 });
    expect((await rest(receiving.daemon, "GET", "/healthz")).status).toBe(200);
    for (const socket of [holder, ...strangers]) socket.destroy();
    await vi.waitFor(
      async () =>
        expect((await post(port, { headers: { authorization }, body: RECORD })).status).toBe(200),
      { timeout: 60_000 },
    );
    await vi.waitFor(
      () => expect(receiving.sum("vpn.stream.rejected", { reason: "overloaded" })).toBe(1),
      { timeout: 60_000 },
    );
  });
});

describe("a streaming receiver with TLS", () => {
  it("shows its certificate in status and metrics", async () => {
    const file = (name: string): string => join(import.meta.dirname, "golden", name);
    await using receiving = await startReceiving({
      streaming: {
        enabled: true,
        listen,
        token: TOKEN,
        tls: { cert_file: file("listener.cert.pem"), key_file: file("listener.key.pem") },
      },
    });
    const status = await new Promise<number | undefined>((resolve, reject) => {
      request(
        {
          host: "127.0.0.1",
          port: receiving.port("stream"),
          path: "/services/collector/event",
          method: "POST",
          headers: { authorization: `Splunk ${TOKEN}` },
          ca: readFileSync(file("listener.cert.pem")),
          checkServerIdentity: () => undefined,
        },
        (response) => resolve(response.statusCode),
      )
        .on("error", reject)
        .end(RECORD);
    });
    expect(status).toBe(200);
    const { json } = await rest(receiving.daemon, "GET", "/api/status.json");
    expect(json.tls_certificates.map(({ name }: { name: string }) => name)).toEqual(["stream"]);
    await vi.waitFor(
      () =>
        expect(receiving.sum("svc.tls.cert.not_after", { component: "stream" })).toBeGreaterThan(0),
      { timeout: 60_000 },
    );
  });
});

describe("a receiver that other machines could reach without its credential", () => {
  it("is an error of the configuration, before anything starts", async () => {
    const { code, stderr, stdout } = await runSteward(["-validate"], {
      env: { STEWARD_STREAMING__ENABLED: "true" },
    });
    expect(code).toBe(1);
    expect(`${stdout}${stderr}`).toContain(
      "streaming.token: is missing, and :8088 can be reached from other machines",
    );
  });
});

/** A request of which the body never comes. */
function halfSent(port: number, authorization: string): ReturnType<typeof connect> {
  const socket = connect(port, "127.0.0.1", () =>
    socket.write(
      `POST /services/collector/event HTTP/1.1\r\nHost: x\r\nAuthorization: ${authorization}\r\nContent-Length: 100\r\n\r\n{`,
    ),
  );
  return socket.on("error", () => undefined);
}
