import { gunzipSync } from "node:zlib";
import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { StatusSchema, type Status } from "../../../src/gen/steward/monitor/v1/status_pb.ts";
import { StatusService } from "../../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createCall, type BoundService, type PackedJson } from "../../../src/kernel/service.ts";
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
async function ask(service: BoundService, accept?: string): Promise<Uint8Array | PackedJson> {
  const answer = createAnswers({ name: "monitor", rpc: [service], plain: [] });
  return jsonOf(await answer(`${StatusService.typeName}/${method.name}`, new Uint8Array(), "json", call(accept)));
}

async function answered(status: Status, accept?: string): Promise<Uint8Array | PackedJson> {
  return await ask(createStatusApi({ clock: systemClock, build: () => Promise.resolve(status) }), accept);
}

describe("The status as text", () => {
  it("is packed for a client that takes it so, and is the same then", async () => {
    const plain = await answered(long);
    const packed = await answered(long, "gzip, br");
    if (!(plain instanceof Uint8Array) || packed instanceof Uint8Array) throw new Error("one is packed, the other is not");
    expect(packed.encoding).toBe("gzip");
    expect(packed.bytes.length).toBeLessThan(plain.length / 4);
    expect(gunzipSync(packed.bytes).equals(Buffer.from(plain))).toBe(true);
  });

  it("is not packed for others, nor where that would gain nothing", async () => {
    expect(await answered(long, "br, gzip;q=0")).toBeInstanceOf(Uint8Array);
    expect(await answered(short, "gzip")).toBeInstanceOf(Uint8Array);
  });

  it("is packed ahead only for as long as somebody takes it so", async () => {
    const clock = createManualClock();
    const packs: number[] = [];
    const pack = (bytes: Uint8Array): Promise<PackedJson> => {
      packs.push(clock.monotonic());
      return Promise.resolve({ encoding: "gzip", bytes });
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
