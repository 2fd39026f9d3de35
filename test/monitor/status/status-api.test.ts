import { gunzipSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { StatusSchema, type Status } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { StatusService } from "../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createCall, type BoundService, type WrittenJson } from "../../../src/kernel/service.ts";
import { createAnswers, jsonOf } from "../../../src/kernel/threads/answers.ts";
import { createStatusApi } from "../../../src/monitor/status/status-api.ts";
import { createManualClock } from "../../kernel/supervisor/manual-clock.ts";

const long: Status = create(StatusSchema, { schemaVersion: 1, devices: Array.from({ length: 500 }, (_, index) => ({ name: `device-${index}`, hostname: "ä" })) });
const short: Status = create(StatusSchema, { schemaVersion: 1 });

function call(accept?: string) {
  return createCall({ signal: new AbortController().signal, requestId: "r", headers: accept === undefined ? {} : { "accept-encoding": accept } });
}

const method = StatusService.method.getStatus;
/** Asks as a thread answers, and reads as the serving side does. */
async function ask(service: BoundService, accept?: string): Promise<WrittenJson> {
  const answer = createAnswers({ name: "monitor", rpc: [service], plain: [] });
  const json = jsonOf(await answer(`${StatusService.typeName}/${method.name}`, new Uint8Array(), "json", call(accept)));
  if (json instanceof Uint8Array) throw new Error("it is not in pieces");
  return json;
}

async function answered(status: Status, accept?: string): Promise<WrittenJson> {
  return await ask(createStatusApi({ clock: systemClock, build: () => Promise.resolve(status) }), accept);
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
    await ask(service, "gzip");
    const first = packs.length;
    // Renewed once for the one who asked packed, and never again while others ask.
    for (let round = 0; round < 4; round += 1) {
      await clock.advance(600);
      await ask(service);
    }
    expect([first, packs.length]).toEqual([1, 2]);
  });
});
