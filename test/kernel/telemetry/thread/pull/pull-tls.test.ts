import { rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ClientAuth } from "../../../../../src/kernel/listen/tls/client-certificates.ts";
import type { PullTls } from "../../../../../src/kernel/telemetry/options.ts";
import { reportCertificate } from "../../../../../src/kernel/telemetry/report/service-report.ts";
import { createAuthority, hasOpenssl } from "../../../../support/otlp/authority.ts";
import type { Authority, Signed } from "../../../../support/otlp/authority.ts";
import { replaceFile, testFolder } from "../../../listen/test-certificates.ts";
import { parseExposition } from "../../exposition-parser.ts";
import { spec, startTelemetry } from "../../fixtures.ts";

if (!hasOpenssl)
  process.stderr.write(
    "skipped: TLS of the pull endpoint (no openssl to make certificates with)\n",
  );

describe.skipIf(!hasOpenssl)("The pull endpoint with TLS", () => {
  let authority: Authority;
  let stranger: Authority;
  let server: Signed;
  let clients: Readonly<Record<"known" | "foreign", Signed>>;
  beforeAll(() => {
    [authority, stranger] = [createAuthority(), createAuthority()];
    server = authority.sign("metrics", "server");
    clients = {
      known: authority.sign("prometheus", "client"),
      foreign: stranger.sign("prometheus", "client"),
    };
  });
  afterAll(() => {
    authority[Symbol.dispose]();
    stranger[Symbol.dispose]();
  });

  async function open(tls: Partial<PullTls> & { readonly withCa?: boolean } = {}) {
    const folder = testFolder();
    const files = {
      certFile: join(folder, "cert.pem"),
      keyFile: join(folder, "key.pem"),
      clientCaFile: join(folder, "ca.pem"),
    };
    writeFileSync(files.certFile, server.cert);
    writeFileSync(files.keyFile, server.key);
    writeFileSync(files.clientCaFile, authority.cert);
    const { withCa = true, ...more } = tls;
    const telemetry = await startTelemetry({
      pull: false,
      scrape: {
        listen: { host: "127.0.0.1", port: 0 },
        tls: {
          ...files,
          clientCaFile: withCa ? files.clientCaFile : undefined,
          reloadMs: 20,
          ...more,
        },
      },
    });
    await telemetry.pull?.start(new AbortController().signal, () => undefined);
    const address = telemetry.status().ledger?.pull?.address;
    /** The status, or undefined when the connection was cut. */
    const ask = (client?: Signed): Promise<number | undefined> =>
      new Promise((resolve) => {
        get(
          `https://${address}/metrics`,
          {
            ca: authority.cert,
            agent: false,
            ...(client === undefined ? {} : { cert: client.cert, key: client.key }),
          },
          (answer) => {
            answer
              .resume()
              .on("end", () => resolve(answer.statusCode))
              .on("error", () => resolve(undefined));
          },
        ).on("error", () => resolve(undefined));
      });
    return { telemetry, files, ask };
  }

  const modes: readonly [
    mode: ClientAuth | undefined,
    none: boolean,
    known: boolean,
    foreign: boolean,
  ][] = [
    ["none", true, true, true],
    ["request", true, true, true],
    ["require", false, true, true],
    ["verify_if_given", true, true, false],
    ["require_and_verify", false, true, false],
    [undefined, false, true, false],
  ];

  it.each(modes)(
    "and client_auth %s lets in: nobody's certificate %s, a known one %s, a foreign one %s",
    async (clientAuth, none, known, foreign) => {
      const { telemetry, ask } = await open({ clientAuth });
      await using _ = telemetry;
      expect(
        [await ask(), await ask(clients.known), await ask(clients.foreign)].map(
          (status) => status === 200,
        ),
      ).toEqual([none, known, foreign]);
    },
  );

  it("asks for no certificate without an authority", async () => {
    const { telemetry, ask } = await open({ withCa: false });
    await using _ = telemetry;
    expect(await ask()).toBe(200);
  });

  it("lets nobody in while the authority's file cannot be used, and those it names when it can be again", async () => {
    const { telemetry, files, ask } = await open();
    await using _ = telemetry;
    expect(await ask(clients.known)).toBe(200);
    rmSync(files.clientCaFile);
    while ((await ask(clients.known)) !== undefined)
      await new Promise((resolve) => setImmediate(resolve));
    expect([await ask(clients.known), await ask()]).toEqual([undefined, undefined]);
    replaceFile(files.clientCaFile, stranger.cert);
    while ((await ask(clients.foreign)) !== 200)
      await new Promise((resolve) => setImmediate(resolve));
    expect(await ask(clients.known)).toBeUndefined();
    expect(telemetry.log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(1);
  });

  it("lets nobody in then even where a certificate is not asked of everybody", async () => {
    const { telemetry, files, ask } = await open({ clientAuth: "verify_if_given" });
    await using _ = telemetry;
    expect(await ask()).toBe(200);
    rmSync(files.clientCaFile);
    while ((await ask()) !== undefined) await new Promise((resolve) => setImmediate(resolve));
    replaceFile(files.clientCaFile, authority.cert);
    while ((await ask()) !== 200) await new Promise((resolve) => setImmediate(resolve));
  });

  it("takes another pair into use, and tells its dates and failures", async () => {
    const { telemetry, files } = await open({ clientAuth: "none" });
    await using _ = telemetry;
    const scope = telemetry.scope(spec());
    using _report = reportCertificate(
      scope,
      "metrics",
      () => telemetry.status().ledger?.pull?.certificate,
    );
    const before = telemetry.status().ledger?.pull?.certificate?.fingerprint;
    const other = authority.sign("metrics", "server");
    writeFileSync(files.keyFile, other.key);
    while (!telemetry.log.lines.some((line) => line.startsWith("warn")))
      await new Promise((resolve) => setImmediate(resolve));
    writeFileSync(files.certFile, other.cert);
    while (telemetry.status().ledger?.pull?.certificate?.fingerprint === before)
      await new Promise((resolve) => setImmediate(resolve));
    const body = await new Promise<string>((resolve, reject) => {
      get(
        `https://${telemetry.status().ledger?.pull?.address}/metrics`,
        { ca: authority.cert, agent: false },
        (answer) => {
          const chunks: Buffer[] = [];
          answer
            .on("data", (chunk: Buffer) => void chunks.push(chunk))
            .on("end", () => resolve(Buffer.concat(chunks).toString()));
        },
      ).on("error", reject);
    });
    const value = (name: string) =>
      parseExposition(body).samples.find(
        (sample) => sample.name === name && sample.labels["component"] === "metrics",
      )?.value ?? Number.NaN;
    expect(value("svc_tls_cert_not_after_seconds") - value("svc_tls_cert_not_before_seconds")).toBe(
      2 * 86_400,
    );
    expect(value("svc_tls_cert_reload_failures_total")).toBeGreaterThan(0);
    expect(value("svc_tls_cert_reload_last_success_seconds")).toBeGreaterThan(1_700_000_000);
  });
});
