/** What the simulator does beside plain answers: limits, half-done writes, late and missing changes. */
import { describe, expect, it, onTestFinished } from "vitest";
import { startPaperless } from "../../../src/demo/paperless/paperless.ts";
import type { Paperless } from "../../../src/demo/paperless/paperless.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import { ask, setClock, silent, type Answer, type SetClock } from "../control-plane/support.ts";
import { fillWithSamples, sampleUsers } from "./sample.ts";

interface Bench {
  readonly sim: Paperless;
  readonly clock: SetClock;
  readonly call: (method: string, path: string, body?: unknown, user?: string) => Promise<Answer>;
}

async function bench(): Promise<Bench> {
  const clock = setClock();
  const sim = await startPaperless({
    clock,
    ids: systemIds,
    log: silent,
    users: sampleUsers("v3"),
    fill: fillWithSamples("v3"),
  });
  onTestFinished(() => sim.stop());
  return {
    sim,
    clock,
    call: (method, path, body, user = "ARCHIVIST") =>
      ask(`${sim.url}/api/${path}`, {
        method,
        headers: {
          authorization: `Token <TOKEN-${user}>`,
          "content-type": "application/json",
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  };
}

const modifiedOf = async ({ call }: Bench, id: number): Promise<string> =>
  (await call("GET", `documents/${id}/`)).json.modified;

describe("the simulated Paperless-ngx", () => {
  it("throttles requests for tokens after the fifth in a minute, and nothing else", async () => {
    const { sim, clock } = await bench();
    const ask_ = (): Promise<Answer> => ask(`${sim.url}/api/token/`);
    for (let count = 1; count <= 5; count++) expect((await ask_()).status).toBe(405);
    clock.advance(1_000);
    const throttled = await ask_();
    expect([throttled.status, throttled.headers["retry-after"]]).toEqual([429, "59"]);
    expect(throttled.json.detail).toBe("Request was throttled. Expected available in 59 seconds.");
    clock.advance(60_000);
    expect((await ask_()).status).toBe(405);
  });

  it("refuses a wrong version before it looks at the credential", async () => {
    const { sim } = await bench();
    const answer = await ask(`${sim.url}/api/documents/`, {
      headers: { accept: "application/json; version=77", authorization: "Token wrong" },
    });
    expect([answer.status, answer.headers["x-api-version"]]).toEqual([406, undefined]);
  });

  it("stores what it answers with 500 while Redis is down, and deletes nothing", async () => {
    const { sim, call } = await bench();
    sim.estate.redis = "down";
    expect((await call("PATCH", "documents/6/", { title: "stored" })).status).toBe(500);
    expect((await call("POST", "tags/", { name: "stored" })).status).toBe(500);
    expect(await call("DELETE", "documents/6/")).toMatchObject({
      status: 400,
      text: "Error deleting document, check logs for more detail.",
    });
    const bulk = { documents: [7], method: "add_tag", parameters: { tag: 2 } };
    expect((await call("POST", "documents/bulk_edit/", bulk)).status).toBe(400);
    sim.estate.redis = "up";
    expect((await call("GET", "documents/6/")).json.title).toBe("stored");
    expect((await call("POST", "tags/", { name: "stored" })).status).toBe(400);
    expect((await call("GET", "documents/7/")).json.tags).not.toContain(2);
  });

  it("moves modified when its worker has run a bulk edit that changed something", async () => {
    const made = await bench();
    const { clock, call } = made;
    const before = await modifiedOf(made, 8);
    const bulk = { documents: [8], method: "add_tag", parameters: { tag: 2 } };
    await call("POST", "documents/bulk_edit/", bulk);
    expect((await call("GET", "documents/8/")).json.tags).toContain(2);
    expect(await modifiedOf(made, 8)).toBe(before);
    clock.advance(300);
    const after = await modifiedOf(made, 8);
    expect(after).not.toBe(before);
    await call("POST", "documents/bulk_edit/", bulk);
    clock.advance(300);
    expect(await modifiedOf(made, 8)).toBe(after);
  });

  it("moves no modified when a tag or a correspondent is renamed or removed", async () => {
    const made = await bench();
    const { sim, call } = made;
    const before = await modifiedOf(made, 9);
    sim.estate.renameReference("tags", 2, "renamed");
    sim.estate.removeReference("tags", 5);
    sim.estate.removeReference("correspondents", 3);
    const { json } = await call("GET", "documents/9/");
    expect([json.tags, json.correspondent, json.modified]).toEqual([[2], null, before]);
  });

  it("fails the second of two tag changes at a time", async () => {
    const { sim, call } = await bench();
    sim.estate.tagWriteMs = 100;
    sim.estate.busyMs = 50;
    const answers = await Promise.all([
      call("PATCH", "documents/5/", { tags: [1] }),
      call("PATCH", "documents/6/", { tags: [1] }),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 500]));
  });

  it("keeps newer versions of a file out of lists, and shows the text of the newest", async () => {
    const { sim, call } = await bench();
    const { id } = sim.estate.addVersion(3, "the newer text", "v2");
    expect((await call("GET", `documents/${id}/`)).status).toBe(404);
    expect((await call("GET", `documents/${id}/preview/`)).status).toBe(200);
    const { json } = await call("GET", "documents/3/");
    expect([json.content, json.versions[0].id]).toEqual(["the newer text", id]);
    expect((await call("GET", "documents/?page_size=1")).json.count).toBe(30);
  });

  it("writes times in its zone, with summer time, without microseconds that are zero", async () => {
    const { sim, call } = await bench();
    sim.estate.zone = "berlin";
    sim.estate.add({
      title: "t",
      content: "c",
      addedUs: Date.UTC(2026, 6, 1) * 1_000,
      modifiedUs: Date.UTC(2026, 11, 1) * 1_000 + 5,
    });
    const { json } = await call("GET", "documents/31/");
    expect([json.added, json.modified]).toEqual([
      "2026-07-01T02:00:00+02:00",
      "2026-12-01T01:00:00.000005+01:00",
    ]);
  });

  it("empties the trash of the caller, also without the right to delete", async () => {
    const { sim, call } = await bench();
    for (const id of [1, 25]) sim.estate.trash(id);
    const answer = await call("POST", "trash/", { action: "empty" }, "VIEWER");
    expect(answer.json).toEqual({ result: "OK", doc_ids: [25] });
    expect((await call("GET", "trash/")).json.count).toBe(1);
    expect((await call("POST", "trash/", { action: "restore", documents: [1] })).status).toBe(200);
    expect((await call("GET", "documents/1/")).status).toBe(200);
  });

  it("performs a write and loses its answer on demand", async () => {
    const { sim, call } = await bench();
    sim.faults.next("delete_document", { kind: "done_but_error", status: 502 });
    expect((await call("DELETE", "documents/5/")).status).toBe(502);
    expect((await call("GET", "documents/5/")).status).toBe(404);
  });
});
