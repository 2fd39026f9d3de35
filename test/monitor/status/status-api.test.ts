import { gunzipSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { StatusSchema, type Status } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { StatusService } from "../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createCall, type BoundService, type WrittenJson } from "../../../src/kernel/service.ts";
import { createAnswers, jsonOf } from "../../../src/kernel/threads/calls/answers.ts";
import { createStatusApi } from "../../../src/monitor/status/status-api.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const long: Status = create(StatusSchema, {
  schemaVersion: 1,
  devices: Array.from({ length: 500 }, (_, index) => ({ name: `device-${index}`, hostname: "ä" })),
});
const short: Status = create(StatusSchema, { schemaVersion: 1 });

function call(accept: string | undefined, headers: Record<string, string>) {
  return createCall({
    signal: new AbortController().signal,
    requestId: "r",
    headers: { ...headers, ...(accept === undefined ? {} : { "accept-encoding": accept }) },
  });
}

const method = StatusService.method.getStatus;
/** Asks as a thread answers, and reads as the serving side does. */
async function request(
  service: BoundService,
  accept?: string,
  headers: Record<string, string> = {},
): Promise<WrittenJson> {
  const answer = createAnswers({ name: "monitor", rpc: [service], plain: [] });
  const json = jsonOf(
    await answer(
      `${StatusService.typeName}/${method.name}`,
      new Uint8Array(),
      "json",
      call(accept, headers),
    ),
  );
  if (json instanceof Uint8Array) throw new Error("it is not in pieces");
  return json;
}

async function answered(status: Status, accept?: string): Promise<WrittenJson> {
  return await request(
    createStatusApi({ clock: systemClock, build: () => Promise.resolve(status) }),
    accept,
  );
}

describe("The status as text", () => {
  it("is packed for a client that takes it so, and is the same then", async () => {
    const plain = await answered(long);
    const packed = await answered(long, "gzip, br");
    const [text, zip] = [Buffer.concat(plain.pieces), Buffer.concat(packed.pieces)];
    expect([plain.encoding, packed.encoding]).toEqual([undefined, "gzip"]);
    expect(zip.length).toBeLessThan(text.length / 4);
    expect(gunzipSync(zip).equals(text)).toBe(true);
  });

  it("is not packed for others, nor where that would gain nothing", async () => {
    expect((await answered(long, "br, gzip;q=0")).encoding).toBeUndefined();
    expect((await answered(short, "gzip")).encoding).toBeUndefined();
  });

  it("is packed ahead only for as long as somebody takes it so", async () => {
    const clock = createManualClock();
    const packs: number[] = [];
    const pack = (text: WrittenJson): Promise<WrittenJson> => {
      packs.push(clock.monotonic());
      return Promise.resolve({ ...text, encoding: "gzip" });
    };
    const service = createStatusApi({ clock, build: () => Promise.resolve(long), pack });
    await request(service, "gzip");
    const first = packs.length;
    // Renewed once for the one who asked packed, and never again while others ask.
    for (let round = 0; round < 4; round += 1) {
      await clock.advance(600);
      await request(service);
    }
    expect([first, packs.length]).toEqual([1, 2]);
  });
});

describe("The status for a client that has one already", () => {
  const text = ({ pieces }: WrittenJson): string => Buffer.concat(pieces).toString();
  const tagOf = ({ headers }: WrittenJson): string => headers?.["etag"] ?? "no tag";
  /** Each document is the next number; a new one for each look. */
  function counting(): { readonly service: BoundService; readonly next: () => Promise<void> } {
    const clock = createManualClock();
    let number = 0;
    const build = (): Promise<Status> =>
      Promise.resolve(
        create(StatusSchema, { ...long, devices: long.devices, refreshMs: (number += 1) }),
      );
    return { service: createStatusApi({ clock, build }), next: () => clock.advance(600) };
  }

  it("is 304 while it is the same document, and has another tag when it is not", async () => {
    const { service, next } = counting();
    const first = await request(service);
    expect([first.status, first.headers]).toEqual([
      undefined,
      { etag: tagOf(first), "cache-control": "private, no-cache", vary: "accept-encoding, a-im" },
    ]);
    for (const known of [
      tagOf(first),
      tagOf(first).replace("W/", ""),
      `"other", ${tagOf(first)}`,
      "*",
    ]) {
      const same = await request(service, "gzip", { "if-none-match": known });
      expect([same.status, same.headers?.["etag"], same.encoding, text(same)]).toEqual([
        304,
        tagOf(first),
        undefined,
        "",
      ]);
    }
    await next();
    const later = await request(service, undefined, { "if-none-match": tagOf(first) });
    expect([later.status, tagOf(later) === tagOf(first)]).toEqual([undefined, false]);
  });

  it("is what changed since, for one that takes patches and was given the older document", async () => {
    const { service, next } = counting();
    const first = await request(service, undefined, { "a-im": "gzip, json-patch" });
    await next();
    const patch = await request(service, "gzip", {
      "a-im": "json-patch",
      "if-none-match": tagOf(first),
    });
    expect([patch.status, patch.encoding, JSON.parse(text(patch))]).toEqual([
      226,
      undefined,
      [{ op: "replace", path: "/refresh_ms", value: 2 }],
    ]);
    expect(patch.headers).toMatchObject({
      im: "json-patch",
      "delta-base": tagOf(first),
      "cache-control": "no-store",
    });
    expect(tagOf(patch)).not.toBe(tagOf(first));
    await next();
    expect(
      (await request(service, undefined, { "a-im": "json-patch", "if-none-match": tagOf(patch) }))
        .status,
    ).toBe(226);
  });

  it("is the whole document for one that does not take patches, whose document is not known, or is too old", async () => {
    const { service, next } = counting();
    const first = await request(service, undefined, { "a-im": "json-patch" });
    await next();
    const known = { "if-none-match": tagOf(first) };
    for (const headers of [
      known,
      { ...known, "a-im": "json-patch;q=0" },
      { ...known, "a-im": "vcdiff" },
      { "if-none-match": '"other"', "a-im": "json-patch" },
    ] as Record<string, string>[]) {
      expect((await request(service, undefined, headers)).status).toBeUndefined();
    }
    for (let round = 0; round < 32; round += 1) {
      await next();
      await request(service, undefined, { "a-im": "json-patch" });
    }
    expect(
      (await request(service, undefined, { ...known, "a-im": "json-patch" })).status,
    ).toBeUndefined();
  });
});
