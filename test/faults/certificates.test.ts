import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import type { IncomingMessage } from "node:http";
import type { TLSSocket } from "node:tls";
import { expect, it } from "vitest";
import { hasOpenssl, makePair, testFolder, writePair } from "../kernel/listen/test-certificates.ts";
import { tlsListener } from "../kernel/listen/tls-listener.ts";
import { isLongRun } from "../support/long-run.ts";

const SWAPS = isLongRun ? 1000 : 20;
const CLIENTS = 8;

/** One request on a connection of its own; the name on the certificate it was served with. */
async function ask(port: number): Promise<string> {
  const request = httpsRequest({
    port,
    host: "127.0.0.1",
    path: "/a",
    rejectUnauthorized: false,
    agent: false,
  });
  request.end();
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const name = (response.socket as TLSSocket).getPeerCertificate().subject.CN;
  let text = "";
  for await (const chunk of response as AsyncIterable<Buffer>) text += chunk.toString();
  expect(text).toBe("GET /a 0");
  return name;
}

it.skipIf(!hasOpenssl)(
  `serves every request through ${SWAPS} swaps of the pair, each written in halves (skipped without the openssl command)`,
  async () => {
    const folder = testFolder();
    const pairs = [makePair("even"), makePair("odd")] as const;
    const { listener } = tlsListener({ ...writePair(folder, pairs[0]), reloadMs: 2 });
    await listener.start();

    const served: Record<string, number> = { even: 0, odd: 0 };
    const over = new AbortController();
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!over.signal.aborted) {
        const name = await ask(listener.port);
        served[name] = (served[name] ?? 0) + 1;
      }
    });
    let fingerprint = listener.certificate()?.fingerprint;
    for (let swap = 1; swap <= SWAPS; swap += 1) {
      const { cert, key } = pairs[swap % 2] ?? pairs[0];
      writeFileSync(`${folder}/tls.crt`, cert.slice(0, 200));
      await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(`${folder}/tls.crt`, cert);
      writeFileSync(`${folder}/tls.key`, key.slice(0, 60));
      await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(`${folder}/tls.key`, key);
      await expect
        .poll(() => listener.certificate()?.fingerprint !== fingerprint, {
          interval: 2,
          timeout: 60_000,
        })
        .toBe(true);
      fingerprint = listener.certificate()?.fingerprint;
    }
    over.abort();
    await Promise.all(clients);
    expect(Object.keys(served).sort()).toEqual(["even", "odd"]);
    await expect.poll(() => listener.connections()).toBe(0);
  },
  600_000,
);
