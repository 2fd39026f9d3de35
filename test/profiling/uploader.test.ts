import { createServer, type AddressInfo, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { systemIds } from "../../src/kernel/base/ids.ts";
import { uploadClassOf } from "../../src/profiling/upload-class.ts";
import { createUploader, seriesName, type UploadTarget } from "../../src/profiling/uploader.ts";
import { hasOpenssl, makePair } from "../kernel/listen/test-certificates.ts";
import { createManualClock } from "../kernel/supervisor/manual-clock.ts";
import { startIngest } from "./ingest.ts";

const never = new AbortController().signal;
const upload = {
  body: Buffer.from([0x1f, 0x8b, 0, 255, 13, 10, 45, 45]),
  fromMs: 1_700_000_000_900,
  untilMs: 1_700_000_060_900,
};

function setUp(server: string, target: Partial<UploadTarget> = {}) {
  const clock = createManualClock();
  return {
    clock,
    uploader: createUploader(
      { clock, ids: systemIds, version: "1.2.3" },
      {
        server,
        application: "steward",
        tags: new Map(),
        headers: {},
        tls: { insecureSkipVerify: false },
        ...target,
      },
    ),
  };
}

async function failureOfSend(server: string, target: Partial<UploadTarget> = {}): Promise<string> {
  const { uploader } = setUp(server, target);
  const failure = await uploader.send(upload, never).then(() => "none", uploadClassOf);
  await uploader.close();
  return failure;
}

describe("An upload", () => {
  it("is what the ingest API takes: name with tags, times in seconds, format, and the profile as a file of a form", async () => {
    await using ingest = await startIngest();
    const { uploader } = setUp(`${ingest.url}/base/`, {
      tags: new Map([
        ["zone", "a b/ü"],
        ["app", "x"],
      ]),
      headers: { authorization: "Basic abc", "x-scope-orgid": "t-1" },
    });
    await uploader.send(upload, never);
    const [got] = ingest.uploads;
    expect(got).toMatchObject({
      path: "/base/ingest",
      headers: {
        authorization: "Basic abc",
        "x-scope-orgid": "t-1",
        "user-agent": "steward/1.2.3",
      },
      query: {
        name: "steward{app=x,zone=a b/ü}",
        from: "1700000000",
        until: "1700000060",
        format: "pprof",
        spyName: "nodespy",
        sampleRate: "100",
      },
    });
    expect(Buffer.from(got?.profile ?? [])).toEqual(upload.body);
    await uploader.close();
  });

  it("names a series without tags by the application alone", () => {
    expect(seriesName({ application: "steward", tags: new Map() })).toBe("steward");
  });

  it.each([
    [400, "invalid"],
    [401, "unauthenticated"],
    [403, "unauthenticated"],
    [404, "invalid"],
    [408, "timeout"],
    [413, "invalid"],
    [422, "invalid"],
    [429, "rate_limited"],
    [500, "unavailable"],
    [502, "unavailable"],
    [503, "unavailable"],
    [302, "invalid"],
  ])("answered %i failed as %s, and is not sent again or elsewhere", async (status, expected) => {
    await using ingest = await startIngest();
    ingest.answer = (response) =>
      void response.writeHead(status, { location: "/elsewhere" }).end("x".repeat(100_000));
    expect(await failureOfSend(ingest.url)).toBe(expected);
    expect(ingest.uploads).toHaveLength(1);
  });

  it("that nobody takes, or that is cut, failed as unavailable", async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket.on("error", () => undefined));
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    expect(await failureOfSend(`http://127.0.0.1:${port}`)).toBe("unavailable");
    await new Promise((resolve) => server.close(resolve));
    expect(await failureOfSend(`http://127.0.0.1:${port}`)).toBe("unavailable");
    expect(await failureOfSend(`https://127.0.0.1:${port}`)).toBe("unavailable");
  });

  it("that is not answered within 30 s failed as timeout", async () => {
    await using ingest = await startIngest();
    const asked = Promise.withResolvers<void>();
    ingest.answer = () => asked.resolve();
    const { uploader, clock } = setUp(ingest.url);
    const sending = uploader.send(upload, never).then(() => "none", uploadClassOf);
    await asked.promise;
    await clock.advance(29_999);
    await clock.advance(1);
    expect(await sending).toBe("timeout");
    await uploader.close();
  });

  it("that is left failed as canceled, by its signal or with the uploader", async () => {
    await using ingest = await startIngest();
    ingest.answer = () => undefined;
    const { uploader } = setUp(ingest.url);
    const leaving = new AbortController();
    const left = uploader.send(upload, leaving.signal).then(() => "none", uploadClassOf);
    leaving.abort();
    expect(await left).toBe("canceled");
    const closed = uploader.send(upload, never).then(() => "none", uploadClassOf);
    await setImmediate();
    await uploader.close();
    expect(await closed).toBe("canceled");
  });

  it("of which anything else became failed as other", () => {
    expect([uploadClassOf(new Error("x")), uploadClassOf("x"), uploadClassOf(undefined)]).toEqual([
      "other",
      "other",
      "other",
    ]);
  });
});

describe.runIf(hasOpenssl)("An upload by TLS", () => {
  it("trusts the authority it is given and shows its certificate; failed as tls otherwise", async () => {
    const [server, client, stranger] = ["server", "client", "stranger"].map(makePair);
    await using ingest = await startIngest({
      ...server,
      requestCert: true,
      rejectUnauthorized: true,
      ca: [client?.cert ?? ""],
    });
    const ca = server?.cert ?? "";
    expect(
      await failureOfSend(ingest.url, { tls: { insecureSkipVerify: false, ca, ...client } }),
    ).toBe("none");
    expect(await failureOfSend(ingest.url, { tls: { insecureSkipVerify: true, ...client } })).toBe(
      "none",
    );
    expect(await failureOfSend(ingest.url, { tls: { insecureSkipVerify: false, ...client } })).toBe(
      "tls",
    );
    expect(
      await failureOfSend(ingest.url, {
        tls: { insecureSkipVerify: false, ca: stranger?.cert ?? "", ...client },
      }),
    ).toBe("tls");
    expect(await failureOfSend(ingest.url, { tls: { insecureSkipVerify: false, ca } })).toMatch(
      /^(tls|unavailable)$/,
    );
    expect(await failureOfSend(ingest.url.replace("https", "http"))).not.toBe("none");
    await using plain = await startIngest();
    expect(
      await failureOfSend(plain.url.replace("http", "https"), {
        tls: { insecureSkipVerify: true },
      }),
    ).toBe("tls");
    expect(ingest.uploads).toHaveLength(2);
  });
});
