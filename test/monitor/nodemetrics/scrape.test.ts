import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { failureOf } from "../../../src/kernel/client/failure.ts";
import { createScraper } from "../../../src/monitor/nodemetrics/scrape.ts";
import type { NodeTargetOptions } from "../../../src/monitor/options.ts";

const servers: Server[] = [];
const folder = mkdtempSync(join(tmpdir(), "steward-scrape-"));
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const configured: NodeTargetOptions = {
  url: "",
  instance: "",
  labels: {},
  headers: {},
  bearerToken: undefined,
  bearerTokenFile: "",
  tls: { caFile: "", certFile: "", keyFile: "", serverName: "", insecureSkipVerify: false },
};
const never = new AbortController().signal;
const limits = { timeoutMs: 60_000, maxResponseBytes: 1_000, version: "1.2.3" };

async function ask(
  url: string,
  target?: Partial<NodeTargetOptions>,
  changes: Partial<typeof limits> = {},
): Promise<string> {
  const scraper = createScraper({ clock: systemClock }, { ...limits, ...changes });
  try {
    return await scraper.scrape(
      { url, configured: target === undefined ? undefined : { ...configured, ...target } },
      never,
    );
  } finally {
    await scraper.close();
  }
}

const classOf = async (answer: Promise<string>): Promise<unknown> =>
  failureOf(await answer.catch((error: unknown) => error))?.class;

describe("Asking an agent", () => {
  it("reads its text, compressed or not, with path and query", async () => {
    const urls: (string | undefined)[] = [];
    const url = await serve((request, response) => {
      urls.push(request.url);
      response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("a 1\n"));
    });
    expect(await ask(`${url}/metrics?x=1`)).toBe("a 1\n");
    expect(urls).toEqual(["/metrics?x=1"]);
  });

  it("sends headers and token of a configured agent, the token of a file read anew each time, and none to others", async () => {
    const seen: IncomingMessage["headers"][] = [];
    const url = await serve((request, response) => {
      seen.push(request.headers);
      response.end("");
    });
    const file = join(folder, "token");
    writeFileSync(file, "first\n");
    await ask(url, {
      headers: { "X-Org": { sentSecret: "o", origin: "t" } },
      bearerToken: { sentSecret: "fixed", origin: "t" },
    });
    await ask(url, { bearerTokenFile: file });
    writeFileSync(file, "second");
    await ask(url, { bearerTokenFile: file });
    await ask(url);
    expect(seen.map(({ authorization }) => authorization)).toEqual([
      "Bearer fixed",
      "Bearer first",
      "Bearer second",
      undefined,
    ]);
    expect(seen[0]).toMatchObject({ "x-org": "o", "user-agent": "steward/1.2.3" });
  });

  it("follows nothing, and takes no status but 2xx", async () => {
    const url = await serve((request, response) => {
      const status = Number(request.url?.slice(1));
      response.writeHead(status, status === 302 ? { location: "/200" } : {}).end("a 1\n");
    });
    expect(await classOf(ask(`${url}/302`))).toBe("redirect");
    expect(await classOf(ask(`${url}/500`))).toBe("server");
    expect(await classOf(ask(`${url}/401`))).toBe("auth");
    expect(await ask(`${url}/206`)).toBe("a 1\n");
  });

  it("gives up on what is too large, takes too long, hangs up or is not there", async () => {
    const url = await serve((request, response) => {
      if (request.url === "/large") response.end("x".repeat(2_000));
      else if (request.url === "/bomb")
        response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync("x".repeat(100_000)));
      else if (request.url === "/cut")
        response
          .writeHead(200, { "content-encoding": "gzip" })
          .end(gzipSync("x".repeat(500)).subarray(0, 15));
      else if (request.url === "/reset") response.socket?.destroy();
      else response.write("a 1\n");
    });
    expect(await classOf(ask(`${url}/large`))).toBe("too_large");
    expect(await classOf(ask(`${url}/bomb`))).toBe("too_large");
    expect(await classOf(ask(`${url}/cut`))).toBe("transport");
    expect(await classOf(ask(`${url}/reset`))).toBe("transport");
    expect(await classOf(ask(`${url}/hang`, undefined, { timeoutMs: 50 }))).toBe("timeout");
    expect(await classOf(ask("http://127.0.0.1:1/"))).toBe("transport");
  });

  it("says which file cannot be read, and reads it when it is there", async () => {
    const url = await serve((_request, response) => response.end("a 1\n"));
    await expect(ask(url, { bearerTokenFile: "/does/not/exist" })).rejects.toThrow(
      "the token file /does/not/exist cannot be read",
    );
    const ca = join(folder, "ca.pem");
    const scraper = createScraper({ clock: systemClock }, limits);
    const target = { url, configured: { ...configured, tls: { ...configured.tls, caFile: ca } } };
    await expect(scraper.scrape(target, never)).rejects.toThrow(
      `the TLS file ${ca} cannot be read`,
    );
    writeFileSync(ca, "");
    expect(await scraper.scrape(target, never)).toBe("a 1\n");
    await scraper.close();
  });

  it("leaves with the signal's reason", async () => {
    const url = await serve(() => undefined);
    const scraper = createScraper({ clock: systemClock }, limits);
    const stop = new AbortController();
    const answer = scraper.scrape({ url, configured: undefined }, stop.signal);
    stop.abort(new Error("enough"));
    await expect(answer).rejects.toThrow("enough");
    await scraper.close();
    rmSync(folder, { recursive: true, force: true });
  });
});
