import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Archive, ArchiveDocument } from "../../../src/dedup/archives/archive.ts";
import type { Paperless } from "../../../src/demo/paperless/paperless.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { Secret } from "../../../src/kernel/base/secret.ts";
import { readAll } from "../archives/reading.ts";
import type { ReadItem } from "../archives/reading.ts";
import { archiveOf, fillWith, simulate, tokenOf } from "./support.ts";

const never = new AbortController().signal;

function documentsOf(items: readonly ReadItem[]): Map<string, ArchiveDocument> {
  return new Map(items.flatMap((item) => (item.kind === "document" ? [[item.ref, item]] : [])));
}

/** The next reading, which knows what the last one brought. */
async function readAgain(archive: Archive, before: readonly ReadItem[]): Promise<ReadItem[]> {
  const known = documentsOf(before);
  return await readAll(archive, {
    known: (ref, version) => known.get(ref)?.version === version,
  });
}

async function failureOf(reading: Promise<unknown>): Promise<StewardError> {
  const error = await reading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StewardError)) throw new Error("no StewardError", { cause: error });
  return error;
}

/** The address of a proxy that answers 414 to a longer request line; it ends with the test. */
async function startShortProxy(target: string): Promise<string> {
  const server = createServer((incoming, answer) => {
    const { method, headers, url: path = "" } = incoming;
    if (path.length > 8_192) return void answer.writeHead(414).end("<h1>URI Too Long</h1>");
    const passed = request(new URL(path, target), { method, headers }, (reply) => {
      answer.writeHead(reply.statusCode ?? 500, reply.headers);
      reply.pipe(answer);
    });
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Requests for texts since the last call. */
function countRequests(sim: Paperless): { texts: number; all: number } {
  const requests = sim.seen().filter(({ operation }) => operation === "documents");
  return {
    texts: requests.filter(({ query }) => query.includes("content")).length,
    all: sim.seen().length,
  };
}

describe.each(["3.0.5", "2.20.15"] as const)("reading Paperless-ngx %s", (release) => {
  it("brings every document with its text, its labels and its dates", async () => {
    const sim = await simulate(fillWith(25), release);
    sim.estate.zone = "berlin";
    const items = await readAll(archiveOf(sim));
    const documents = documentsOf(items);
    expect(items.length).toBe(25);
    expect(documents.size).toBe(25);
    expect(documents.get("4")).toEqual({
      kind: "document",
      ref: "4",
      version: expect.stringMatching(/^\d{16}\/\d+$/) as string,
      paperlessId: 4,
      title: "Paper 4",
      text: "Text of paper number 4 about subject 28.",
      tags: ["inbox"],
      correspondent: "Northwind",
      documentType: "Invoice",
      createdDate: sim.estate.documents.get(4)?.created,
      addedDate: expect.stringMatching(/\+0[12]:00$/) as string,
      modifiedDate: expect.stringMatching(/\+0[12]:00$/) as string,
      pageCount: 1,
      notes: [],
    });
  });

  it("asks in the highest version that both know", async () => {
    const sim = await simulate(fillWith(3), release);
    await readAll(archiveOf(sim));
    const accepted = new Set(
      sim
        .seen()
        .filter(({ operation }) => operation !== "statistics")
        .map(({ headers }) => headers["accept"]),
    );
    expect([...accepted]).toEqual([`application/json; version=${release === "3.0.5" ? 10 : 9}`]);
  });

  it("fetches no text of a document that is known, whatever the server's zone", async () => {
    const sim = await simulate(fillWith(25), release);
    const archive = archiveOf(sim);
    const first = await readAll(archive);
    const before = countRequests(sim);
    sim.estate.zone = "berlin";
    const again = await readAgain(archive, first);
    expect(again.map(({ kind }) => kind)).toEqual(Array(25).fill("unchanged"));
    expect(countRequests(sim).texts).toBe(before.texts);
  });

  it("fetches what changed, and only that", async () => {
    const sim = await simulate(fillWith(25), release);
    const archive = archiveOf(sim);
    const first = await readAll(archive);
    sim.estate.edit(7, { content: "Another text." });
    sim.estate.add({ title: "New", content: "A new one." });
    sim.estate.trash(9);
    const again = documentsOf(await readAgain(archive, first));
    expect([...again.keys()]).toEqual(["7", "26"]);
    expect(again.get("7")?.text).toBe("Another text.");
  });
});

describe("reading Paperless-ngx", () => {
  it("shows renamed and removed labels without reading the documents again", async () => {
    const sim = await simulate(fillWith(25));
    const archive = archiveOf(sim);
    const first = await readAll(archive);
    const { texts } = countRequests(sim);
    sim.estate.renameReference("tags", 1, "in");
    sim.estate.removeReference("correspondents", 1);
    const again = await readAgain(archive, first);
    expect(again.find(({ ref }) => ref === "4")).toEqual({
      kind: "unchanged",
      ref: "4",
      labels: { tags: ["in"], documentType: "Invoice" },
    });
    expect(countRequests(sim).texts).toBe(texts);
  });

  it("shows the tags of a bulk edit before the server's worker has run", async () => {
    const sim = await simulate(fillWith(4));
    sim.estate.worker = "down";
    const archive = archiveOf(sim);
    const first = await readAll(archive);
    sim.estate.editQuietly(4, { tags: [1, 2] });
    expect((await readAgain(archive, first)).find(({ ref }) => ref === "4")).toMatchObject({
      labels: { tags: ["inbox", "tax"] },
    });
  });

  it("knows a newer file of a document although its modified stays", async () => {
    const sim = await simulate(fillWith(4));
    const archive = archiveOf(sim);
    const first = await readAll(archive);
    sim.estate.addVersion(2, "The text of the newer file.");
    const again = documentsOf(await readAgain(archive, first));
    expect([...again]).toMatchObject([["2", { text: "The text of the newer file." }]]);
  });

  it("resolves a tag that was made while it was reading", async () => {
    const sim = await simulate(fillWith(4));
    const archive = archiveOf(sim);
    sim.faults.next("documents", {
      kind: "change",
      change: (body) => {
        const { id } = sim.estate.addReference("tags", { name: "late" });
        sim.estate.edit(3, { tags: [id] });
        return body;
      },
    });
    expect(documentsOf(await readAll(archive)).get("3")?.tags).toEqual(["late"]);
  });

  it("leaves out labels that its user may not see", async () => {
    const sim = await simulate((estate) => {
      fillWith(4)(estate);
      const { id } = estate.addReference("tags", { name: "private", owner: 2 });
      estate.editQuietly(1, { tags: [1, id] });
    });
    const items = await readAll(archiveOf(sim, { token: tokenOf(sim, "viewer") }));
    expect(documentsOf(items).get("1")?.tags).toEqual(["inbox"]);
  });

  it("brings texts of any length, and splits what is too large for one response", async () => {
    const large = "lorem ipsum ".repeat(50_000);
    const sim = await simulate((estate) => {
      for (let number = 1; number <= 8; number++)
        estate.add({ title: `Large ${number}`, content: `${number} ${large}` });
    });
    sim.faults.next("documents", { kind: "oversize", bytes: 1 }, 1);
    sim.faults.next("documents", { kind: "gzip_bomb", bytes: 70 * 1024 * 1024 }, 1);
    const items = await readAll(archiveOf(sim, { clock: systemClock, timeoutMs: 300_000 }));
    expect(documentsOf(items).size).toBe(8);
    expect(countRequests(sim).texts).toBe(3);
  });

  it("asks for a thousand documents behind a proxy whose request line ends at 8 KiB", async () => {
    const sim = await simulate((estate) => {
      for (let at = 0; at < 1_000; at++)
        estate.add({ id: 1_000_000 + at, title: `Paper ${at}`, content: `Text ${at}` });
    });
    const url = await startShortProxy(sim.url);
    const archive = archiveOf(sim, { url, pageSize: 1_000, clock: systemClock });
    const documents = documentsOf(await readAll(archive));
    expect(documents.size).toBe(1_000);
    const refs = [...documents.keys()];
    expect((await archive.stillThere?.(refs, never))?.size).toBe(1_000);
  });

  it("names a document that is not as documents are, and goes on", async () => {
    const sim = await simulate(fillWith(4));
    sim.faults.next("documents", { kind: "change", change: (body) => body });
    sim.faults.next("documents", {
      kind: "change",
      change: (body: any) => ({
        ...body,
        results: body.results.map((one: any) => (one.id === 2 ? { ...one, content: 7 } : one)),
      }),
    });
    const items = await readAll(archiveOf(sim));
    expect(documentsOf(items).size).toBe(3);
    expect(items).toContainEqual({
      kind: "skipped",
      ref: "2",
      reason: "broken document",
      detail: "has content that is no text",
      failure: true,
      hides: "itself",
    });
  });

  it("yields no document twice when another one comes back from the trash", async () => {
    const sim = await simulate(fillWith(5));
    sim.faults.next("documents", {
      kind: "change",
      change: (body: any) => ({ ...body, results: [...body.results, body.results[0]] }),
    });
    const items = await readAll(archiveOf(sim));
    expect(items.map(({ ref }) => ref).toSorted()).toEqual(["1", "2", "3", "4", "5"]);
  });

  it("asks which documents are still there by their ids", async () => {
    const sim = await simulate(fillWith(5));
    sim.estate.trash(2);
    const there = await archiveOf(sim, { pageSize: 2 }).stillThere?.(["1", "2", "5", "77"], never);
    expect([...(there ?? [])].toSorted()).toEqual(["1", "5"]);
  });

  it("signs in by password, too", async () => {
    const sim = await simulate(fillWith(2));
    const user = sim.estate.users[0];
    const password = { username: "archivist", password: user?.password ?? Secret.of("", "") };
    expect(documentsOf(await readAll(archiveOf(sim, { password }))).size).toBe(2);
    expect(
      sim.seen().every(({ headers }) => String(headers["authorization"]).startsWith("Basic ")),
    ).toBe(true);
  });

  it("goes on when the server is replaced by an older one", async () => {
    const sim = await simulate(fillWith(2));
    const archive = archiveOf(sim);
    await readAll(archive);
    (sim.estate as { release: string }).release = "2.20.15";
    expect(documentsOf(await readAll(archive)).size).toBe(2);
  });

  it("stops at once when it is cancelled", async () => {
    const sim = await simulate(fillWith(2));
    sim.faults.next("documents", { kind: "hang" });
    const stop = new AbortController();
    const reading = readAll(archiveOf(sim), { signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 50);
    await expect(reading).rejects.toThrow("enough");
  });
});

describe("what fails", () => {
  it.each([
    ["a wrong token", { token: Secret.of("wrong-canary", "test") }, "auth", /token/],
    ["a user without rights", { user: "nobody" }, "forbidden", /permission/],
    ["an address below which nothing is", { path: "/elsewhere" }, "redirect", /without \/api/],
  ])("says so for %s", async (_, { token, user, path }: any, rule, remedy) => {
    const sim = await simulate(fillWith(2));
    const archive = archiveOf(sim, {
      url: `${sim.url}${path ?? ""}`,
      token: token ?? tokenOf(sim, user),
    });
    const error = await failureOf(readAll(archive));
    expect(error).toMatchObject({
      code: "upstream",
      rule,
      message: expect.stringMatching(/^archive papers: /) as string,
      remedy: expect.stringMatching(remedy) as string,
    });
    expect(`${error.message} ${error.remedy} ${JSON.stringify(error)}`).not.toContain("canary");
  });

  it("is alive for the probe whatever it answers, and not when nothing does", async () => {
    const sim = await simulate(fillWith(2));
    const clock = systemClock;
    await archiveOf(sim, { clock, token: Secret.of("wrong", "test") }).check(never);
    const archive = archiveOf(sim, { clock });
    for (const status of [302, 401, 403, 404, 429, 500, 501, 502, 503]) {
      sim.faults.next("unknown", { kind: "status", status });
      await archive.check(never);
      expect(sim.faults.pending()).toBe(0);
    }
    sim.faults.next("unknown", { kind: "html", status: 503 });
    await archive.check(never);
    sim.faults.next("unknown", { kind: "reset" });
    expect(await failureOf(archive.check(never))).toMatchObject({ rule: "transport" });
    await sim.stop();
    expect(await failureOf(archive.check(never))).toMatchObject({ rule: "transport" });
  });

  it("describes itself with its release and API version, and fails at once where nothing listens", async () => {
    const sim = await simulate(fillWith(2));
    // A wait before another attempt would never end.
    const clock = { ...systemClock, timer: () => ({ [Symbol.dispose]() {} }) };
    const archive = archiveOf(sim, { clock });
    expect(await archive.describe?.(never)).toEqual({
      version: sim.estate.release,
      documents: 2,
      apiVersion: expect.stringMatching(/^\d+$/) as string,
    });
    await sim.stop();
    expect(await failureOf(archive.describe?.(never) ?? Promise.resolve())).toMatchObject({
      rule: "transport",
    });
  });
});

/** What a server may do once or twice, and a reading gets over. */
const passing = {
  "a 503": { kind: "status", status: 503 },
  "a 429 with Retry-After": { kind: "limited", retryAfterS: 2 },
  "a 429 with a date": { kind: "limited", retryAfterS: 2, as: "date" },
  "a proxy's page": { kind: "html", status: 502 },
  "a reset": { kind: "reset" },
  "a body that breaks off": { kind: "truncate" },
  "a compressed body that breaks off": { kind: "truncated_gzip" },
  "no answer": { kind: "hang" },
  "half an answer": { kind: "stall" },
  "a slow answer": { kind: "drip", intervalMs: 1, bytes: 400 },
} as const;

/** What no retry cures. */
const lasting = {
  "a page in place of JSON": [{ kind: "html", status: 200 }, "decode"],
  garbage: [{ kind: "garbage" }, "decode"],
  "arrays without end": [{ kind: "deep", levels: 1_000 }, undefined],
  "a redirect": [{ kind: "redirect", location: "/accounts/login/", status: 302 }, "redirect"],
  "a 401": [{ kind: "status", status: 401 }, "auth"],
  "a 403": [{ kind: "status", status: 403 }, "forbidden"],
  "a 404": [{ kind: "status", status: 404 }, "not_found"],
  "a 500 that stays": [{ kind: "status", status: 500 }, "server"],
  "members of other types": [{ kind: "wrong_types" }, undefined],
  "no results": [{ kind: "missing_fields", names: ["results", "x"] }, "decode"],
} as const;

it("ends a reading by its own signal while it waits for a version that another one asked for", async () => {
  const sim = await simulate(fillWith(3));
  sim.faults.next("statistics", { kind: "hang" });
  const archive = archiveOf(sim, { clock: systemClock });
  const [first, second] = [new AbortController(), new AbortController()];
  const failures = [first, second].map(({ signal }) => failed(readAll(archive, { signal })));
  await expect.poll(() => sim.requests()["statistics"], { timeout: 60_000 }).toBe(1);
  second.abort(new Error("the second one gave up"));
  // Well before the request that both wait for has used up its time.
  await expect.poll(() => failures[1]?.message, { timeout: 60_000 }).toBe("the second one gave up");
  first.abort(new Error("the first one gave up"));
  await expect.poll(() => failures[0]?.message, { timeout: 60_000 }).toBe("the first one gave up");
});

/** Filled when the reading fails. */
function failed(reading: Promise<unknown>): { message?: string } {
  const failure: { message?: string } = {};
  reading.catch((error: unknown) => void (failure.message = (error as Error).message));
  return failure;
}

const operations = ["statistics", "tags", "correspondents", "document_types", "documents"] as const;

describe.each(operations)("a fault of %s", (operation) => {
  it.each(Object.entries(passing))("passes: %s", async (name, fault) => {
    const sim = await simulate(fillWith(12));
    // What is only slow comes whole the first time.
    sim.faults.next(operation, fault, name === "a slow answer" ? 1 : 2);
    const items = await readAll(archiveOf(sim, { timeoutMs: 20_000 }));
    expect(documentsOf(items).size).toBe(12);
    expect(sim.faults.pending()).toBe(0);
  });

  it.each(Object.entries(lasting))("lasts and is named: %s", async (kind, [fault, rule]) => {
    // Only lists have results, and statistics are not looked into.
    if (operation === "statistics" && /types|results/.test(kind)) return;
    const sim = await simulate(fillWith(12));
    sim.faults.next(operation, fault, Number.POSITIVE_INFINITY);
    const error = await failureOf(readAll(archiveOf(sim)));
    expect(error).toMatchObject({
      code: "upstream",
      message: expect.stringContaining("archive papers: ") as string,
      remedy: expect.any(String) as string,
    });
    if (rule !== undefined) expect(error.rule).toBe(rule);
  });
});
