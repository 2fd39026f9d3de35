import { describe, expect, it, onTestFinished } from "vitest";
import { createBrake } from "../../../src/dedup/paperless/brake.ts";
import { createPaperlessClient } from "../../../src/dedup/paperless/client.ts";
import { createPaperlessWriter } from "../../../src/dedup/paperless/writer.ts";
import type { PaperlessWriter } from "../../../src/dedup/paperless/writer.ts";
import type { Fault } from "../../../src/demo/control-plane/faults.ts";
import type { Operation } from "../../../src/demo/paperless/operations.ts";
import type { Paperless } from "../../../src/demo/paperless/paperless.ts";
import { systemClock, type Clock } from "../../../src/kernel/base/clock.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import type { Secret } from "../../../src/kernel/base/secret.ts";
import { createClientFactory } from "../../../src/kernel/client/client.ts";
import { fastClock, fillWith, simulate, tokenOf } from "./support.ts";

const never = new AbortController().signal;

/** With a fast clock limits pass in milliseconds: only for what is to fail. */
function writerOf(
  sim: Paperless,
  token: Secret = tokenOf(sim),
  clock: Clock = fastClock,
  writerClock: Clock = clock,
): PaperlessWriter {
  const clients = createClientFactory({ clock, ids: systemIds, version: "test" });
  const client = createPaperlessClient(
    { clock, clients },
    { name: "papers", url: sim.url, credential: { token }, timeoutMs: 100_000 },
  );
  onTestFinished(() => client.close());
  return createPaperlessWriter({ client, clock: writerClock });
}

async function piecesOf(body: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return pieces;
}

async function errorOf(work: Promise<unknown>): Promise<StewardError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof StewardError)) throw new Error("no StewardError", { cause: error });
  return error;
}

function requestsOf(sim: Paperless, operation: Operation): number {
  return sim.seen().filter((one) => one.operation === operation).length;
}

/** A write, the request that it makes, and whether its effect is there exactly once. */
interface Case {
  readonly request: Operation;
  readonly run: (writer: PaperlessWriter) => Promise<unknown>;
  readonly isDone: (sim: Paperless) => boolean;
}

const writes: Readonly<Record<string, Case>> = {
  update: {
    request: "patch_document",
    run: (writer) =>
      writer.update(3, ({ tags }) => ({ title: "Renamed", tags: [...tags, 1, 2] }), never),
    isDone: ({ estate }) => estate.documents.get(3)?.title === "Renamed",
  },
  addNote: {
    request: "add_note",
    run: (writer) => writer.addNote(3, "from document 7", never),
    isDone: ({ estate }) => estate.documents.get(3)?.notes.length === 1,
  },
  trash: {
    request: "delete_document",
    run: (writer) => writer.trash(3, never),
    isDone: ({ estate }) => estate.documents.get(3)?.deletedAtUs !== null,
  },
  addTag: {
    request: "bulk_edit",
    run: (writer) => writer.addTag([3, 4, 99], 2, never),
    isDone: ({ estate }) =>
      [3, 4].every((id) => estate.documents.get(id)?.tags.includes(2) === true),
  },
  ensureLabel: {
    request: "create_tags",
    run: (writer) => writer.ensureLabel("tags", "Energy", never),
    isDone: ({ estate }) =>
      [...estate.references.tags.values()].filter(({ name }) => name === "Energy").length === 1,
  },
};

/** Faults after which another attempt may succeed; the first may have had its effect. */
const passing: Readonly<Record<string, Fault>> = {
  "500": { kind: "status", status: 500 },
  "503 with Retry-After": { kind: "status", status: 503, headers: { "retry-after": "2" } },
  "500 although it was done": { kind: "done_but_error", status: 500 },
  "502 of a proxy": { kind: "html" },
  "400 with the text of a failed deletion": {
    kind: "status",
    status: 400,
    message: "Error deleting document, check logs for more detail.",
  },
  "400 with the text of a failed bulk edit": {
    kind: "status",
    status: 400,
    message: "Error performing bulk edit, check logs for more detail.",
  },
  "429": { kind: "limited", retryAfterS: 3 },
  "a reset connection": { kind: "reset" },
  "no answer": { kind: "hang" },
  "an answer that breaks off": { kind: "truncate" },
};

/** Faults that another attempt would not change. */
const lasting: Readonly<Record<string, Fault>> = {
  "401": { kind: "status", status: 401 },
  "403": { kind: "status", status: 403 },
  "404 of a proxy": { kind: "html", status: 404 },
  // Also what Paperless-ngx answers to a host that it does not know.
  "400 with a page": { kind: "html", status: 400 },
  "a redirect": { kind: "redirect", location: "/accounts/login/", status: 302 },
  "the page of a proxy": { kind: "html", status: 200 },
  garbage: { kind: "garbage" },
};

describe.each(Object.entries(writes))("%s", (_name, { request, run, isDone }) => {
  it.each(Object.entries(passing))("takes effect once after %s", async (_fault, fault) => {
    const sim = await simulate(fillWith(5));
    sim.faults.next(request, fault);
    await run(writerOf(sim));
    expect(isDone(sim)).toBe(true);
    expect(sim.faults.pending()).toBe(0);
  });

  it.each(Object.entries(lasting))("fails at once after %s", async (_fault, fault) => {
    const sim = await simulate(fillWith(5));
    sim.faults.next(request, fault, Infinity);
    const error = await errorOf(run(writerOf(sim, tokenOf(sim), systemClock)));
    expect(error.code).toBe("upstream");
    expect(error.message).toMatch(/^archive papers: /);
    expect(error.remedy ?? "").not.toBe("");
    expect(requestsOf(sim, request)).toBe(1);
  });

  it("gives up after four attempts, and names what it could not do", async () => {
    const sim = await simulate(fillWith(5));
    sim.faults.next(request, { kind: "status", status: 500 }, Infinity);
    const error = await errorOf(run(writerOf(sim)));
    expect(error.code).toBe("upstream");
    expect(requestsOf(sim, request)).toBe(4);
    expect(isDone(sim)).toBe(false);
  });

  it("is not sent again once it is seen to be done", async () => {
    const sim = await simulate(fillWith(5));
    sim.faults.next(request, { kind: "done_but_error", status: 500 }, Infinity);
    await run(writerOf(sim));
    expect(requestsOf(sim, request)).toBe(1);
    expect(isDone(sim)).toBe(true);
  });

  it("stops with the signal's reason while it waits", async () => {
    const sim = await simulate(fillWith(5));
    sim.faults.next(request, { kind: "hang" }, Infinity);
    const stop = new AbortController();
    const reason = new StewardError("cancelled", "enough");
    const client = writerOf(sim);
    const running = { ...client };
    queueMicrotask(() => stop.abort(reason));
    await expect(running.trash(3, stop.signal)).rejects.toBe(reason);
  });
});

describe.each(["3.0.5", "2.20.15"] as const)("writing to Paperless-ngx %s", (release) => {
  it("changes what differs, by the document as it is", async () => {
    const sim = await simulate(fillWith(5), release);
    const writer = writerOf(sim);
    const changed = await writer.update(
      3,
      (live) => ({ tags: [...live.tags, 1], documentType: null, created: "2020-02-03" }),
      never,
    );
    expect(changed).toMatchObject({ id: 3, tags: [1, 2], documentType: undefined });
    expect(sim.estate.documents.get(3)).toMatchObject({ created: "2020-02-03", tags: [2, 1] });
    await writer.update(3, () => ({ tags: [1, 2], documentType: null }), never);
    expect(requestsOf(sim, "patch_document")).toBe(1);
  });

  it("moves a document to the trash, and says when it was gone", async () => {
    const sim = await simulate(fillWith(5), release);
    const writer = writerOf(sim);
    expect(await writer.trash(3, never)).toBe("trashed");
    expect(await writer.trash(3, never)).toBe("absent");
    expect(await writer.document(3, never)).toBeUndefined();
    expect(await writer.update(3, () => ({ title: "x" }), never)).toBeUndefined();
    expect(await writer.trashCount(never)).toBe(1);
    expect(await writer.emptyTrash(never)).toBe(1);
    expect(await writer.trashCount(never)).toBe(0);
  });

  it("finds a label by its exact name before it makes one", async () => {
    const sim = await simulate(fillWith(1), release);
    const writer = writerOf(sim);
    expect(await writer.ensureLabel("tags", " tax ", never)).toEqual({
      id: 2,
      name: "tax",
      created: false,
    });
    const made = await writer.ensureLabel("correspondents", "northwind", never);
    expect(made).toMatchObject({ name: "northwind", created: true });
    expect(await writer.ensureLabel("correspondents", "northwind", never)).toMatchObject({
      id: made.id,
      created: false,
    });
  });

  it("sees what was stored by an answer of 500 while Redis is down", async () => {
    const sim = await simulate(fillWith(3), release);
    sim.estate.redis = "down";
    const writer = writerOf(sim);
    await writer.update(2, () => ({ title: "Stored" }), never);
    expect(await writer.ensureLabel("tags", "Energy", never)).toMatchObject({ name: "Energy" });
    expect(requestsOf(sim, "patch_document")).toBe(1);
    expect(requestsOf(sim, "create_tags")).toBe(1);
    const error = await errorOf(writer.trash(2, never));
    expect(error.message).toMatch(/^archive papers: deleting document 2: /);
    expect(sim.estate.documents.get(2)?.deletedAtUs).toBeNull();
  });
});

describe("a refusal with 400", () => {
  const refusal = { kind: "status", status: 400 } as const;

  it("of a change is final, and the next write follows at once", async () => {
    const sim = await simulate(fillWith(2));
    sim.faults.next("patch_document", refusal, 5);
    const writer = writerOf(sim);
    await errorOf(writer.update(1, () => ({ title: "A" }), never));
    expect(requestsOf(sim, "patch_document")).toBe(1);
    sim.faults.clear();
    await writer.update(2, () => ({ title: "B" }), never);
    expect(sim.estate.documents.get(2)?.title).toBe("B");
  });

  it("of a deletion, a new name or a bulk edit is looked at once more, and then final", async () => {
    const sim = await simulate(fillWith(2));
    const writer = writerOf(sim);
    sim.faults.next("delete_document", refusal, 5);
    await errorOf(writer.trash(1, never));
    expect(requestsOf(sim, "delete_document")).toBe(2);
    sim.faults.next("create_tags", refusal, 5);
    await errorOf(writer.ensureLabel("tags", "New", never));
    expect(requestsOf(sim, "create_tags")).toBe(2);
    sim.faults.next("bulk_edit", refusal, 5);
    await errorOf(writer.addTag([1, 2], 1, never));
    expect(requestsOf(sim, "bulk_edit")).toBe(2);
  });

  it("of a deletion that another one was faster with counts as done", async () => {
    const sim = await simulate(fillWith(1));
    sim.faults.next("delete_document", { kind: "done_but_error", status: 400 });
    expect(await writerOf(sim).trash(1, never)).toBe("trashed");
  });
});

describe("a 400 with text in place of JSON", () => {
  it("of an archive without Redis is tried four times, and says what the archive answered", async () => {
    const sim = await simulate(fillWith(2));
    sim.estate.redis = "down";
    const writer = writerOf(sim);
    const deleting = await errorOf(writer.trash(1, never));
    expect(deleting).toMatchObject({ code: "upstream", rule: "server" });
    expect(deleting.message).toMatch(
      /^archive papers: deleting document 1: the upstream failed \(status 400\).*: Error deleting document, check logs for more detail\.$/,
    );
    expect(deleting.remedy).toBe("look into the log of Paperless-ngx, then try again");
    expect(requestsOf(sim, "delete_document")).toBe(4);
    const tagging = await errorOf(writer.addTag([1, 2], 2, never));
    expect(tagging.rule).toBe("server");
    expect(tagging.message).toMatch(/: Error performing bulk edit, check logs for more detail\.$/);
    expect(requestsOf(sim, "bulk_edit")).toBe(4);
  });

  it("of a deletion is followed by a look at the document, and by no other when that is gone", async () => {
    const sim = await simulate(fillWith(1));
    sim.faults.next("delete_document", {
      kind: "status",
      status: 400,
      message: "Error deleting document, check logs for more detail.",
    });
    // Somebody else's deletion ends while Steward waits.
    const clock: Clock = {
      ...fastClock,
      timer(atMs, run) {
        sim.estate.trash(1);
        return fastClock.timer(atMs, run);
      },
    };
    const writer = writerOf(sim, tokenOf(sim), fastClock, clock);
    expect(await writer.trash(1, never)).toBe("trashed");
    expect(requestsOf(sim, "delete_document")).toBe(1);
  });

  it("ends a batch of deletions after three documents, and one with JSON does not", async () => {
    const sim = await simulate(fillWith(4));
    const writer = writerOf(sim);
    const refusals = createBrake();
    sim.faults.next("delete_document", { kind: "status", status: 400 }, Infinity);
    for (const id of [1, 2, 3, 4]) refusals.next(await errorOf(writer.trash(id, never)));
    expect([refusals.isOn, refusals.failures]).toEqual([false, 0]);
    sim.faults.clear();
    sim.estate.redis = "down";
    const failures = createBrake();
    for (const id of [1, 2]) failures.next(await errorOf(writer.trash(id, never)));
    expect(failures.isOn).toBe(false);
    failures.next(await errorOf(writer.trash(3, never)));
    expect(failures.isOn).toBe(true);
  });

  it("is not repeated in a message when it may hold more than words", async () => {
    const sim = await simulate(fillWith(1));
    const token = tokenOf(sim).use((value) => value);
    for (const message of [
      `Error: token ${token}`,
      "Error at papers.internal",
      `Error ${"long ".repeat(100)}`,
    ]) {
      sim.faults.next("delete_document", { kind: "status", status: 400, message }, 4);
      const error = await errorOf(writerOf(sim).trash(1, never));
      expect(error.rule).toBe("server");
      expect(error.message).toMatch(/\(http:\/\/127\.0\.0\.1:\d+\)$/);
    }
  });

  it("that is a page concerns the archive, not the document", async () => {
    const sim = await simulate(fillWith(1));
    sim.faults.next("delete_document", { kind: "html", status: 400 });
    const error = await errorOf(writerOf(sim).trash(1, never));
    expect(error).toMatchObject({ code: "upstream", rule: "decode" });
    expect(error.remedy).toMatch(/^check url of archive "papers", and whether a proxy/);
    const brake = createBrake();
    brake.next(error);
    expect(brake.failures).toBe(1);
  });
});

describe("writing to Paperless-ngx", () => {
  it("sends one write at a time", async () => {
    const sim = await simulate(fillWith(5));
    sim.estate.tagWriteMs = 60;
    const writer = writerOf(sim);
    await Promise.all(
      [1, 2, 3, 4, 5].map((id) => writer.update(id, () => ({ tags: [1, 2] }), never)),
    );
    expect(requestsOf(sim, "patch_document")).toBe(5);
  });

  it("empties the trash once at most", async () => {
    const sim = await simulate(fillWith(3));
    sim.estate.trash(1);
    const writer = writerOf(sim);
    sim.faults.next("trash_action", { kind: "done_but_error", status: 500 });
    expect((await errorOf(writer.emptyTrash(never))).code).toBe("upstream");
    expect(requestsOf(sim, "trash_action")).toBe(1);
    expect(await writer.trashCount(never)).toBe(0);
  });

  it("names the fields that were refused, and not their values", async () => {
    const sim = await simulate(fillWith(3));
    const error = await errorOf(
      writerOf(sim).update(1, () => ({ correspondent: 999, tags: [77] }), never),
    );
    expect(error.message).toMatch(/because of correspondent, tags$/);
    expect(requestsOf(sim, "patch_document")).toBe(1);
  });

  it("asks for the permissions that a user lacks", async () => {
    const sim = await simulate(fillWith(3));
    const writer = writerOf(sim, tokenOf(sim, "viewer"));
    expect((await errorOf(writer.trash(1, never))).remedy).toMatch(/change and delete documents/);
  });

  it("does not take a proxy's 404 for a document that is gone", async () => {
    const sim = await simulate(fillWith(3));
    sim.faults.next("document", { kind: "html", status: 404 });
    expect((await errorOf(writerOf(sim).document(1, never))).code).toBe("upstream");
  });
});

describe("files of documents", () => {
  it.each(["preview", "thumb"] as const)("streams the %s", async (kind) => {
    const sim = await simulate(fillWith(1));
    const reply = await writerOf(sim, tokenOf(sim), systemClock).media(kind, 1, never);
    expect(Buffer.concat(await piecesOf(reply.body)).length).toBeGreaterThan(20);
    expect(reply.headers["content-type"]).toBe(
      kind === "preview" ? "application/pdf" : "image/webp",
    );
  });

  it.each(
    Object.entries({ ...passing, ...lasting }).filter(([name]) => !/page|garbage/.test(name)),
  )("fails after %s without another attempt", async (_name, fault) => {
    const sim = await simulate(fillWith(1));
    sim.faults.next("preview", fault, Infinity);
    const clock = fault.kind === "hang" ? fastClock : systemClock;
    const reading = writerOf(sim, tokenOf(sim), clock)
      .media("preview", 1, never)
      .then(({ body }) => piecesOf(body));
    expect((await errorOf(reading)).code).toMatch(/upstream|deadline/);
    await expect.poll(() => requestsOf(sim, "preview")).toBe(1);
  });

  it("ends a file that is never read", async () => {
    const sim = await simulate(fillWith(1));
    const writer = writerOf(sim, tokenOf(sim), systemClock);
    for (let count = 0; count < 40; count++) (await writer.media("thumb", 1, never)).drop();
    const open = await Promise.all(
      Array.from({ length: 8 }, () => writer.media("thumb", 1, never)),
    );
    for (const { body } of open) await expect(piecesOf(body)).resolves.toHaveLength(1);
  });
});
