import { describe, expect, it } from "vitest";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import type { CoreAnswer } from "../../../../src/tokens/vault/core/types.ts";
import { writeCoreAnswer, writeHelp } from "../../../../src/tokens/vault/http/envelope.ts";
import { countTurns, slowClock } from "../../support/turns.ts";
import { liveEntry } from "../core/fake-core.ts";

const empty: CoreAnswer = {
  requestId: "r1",
  isRead: true,
  response: undefined,
  lease: undefined,
  auth: undefined,
  wrap: undefined,
  warnings: [],
  copyToTop: false,
};

describe("an answer", () => {
  it("has eight members in their order, and a newline", async () => {
    const answer = await writeCoreAnswer({
      ...empty,
      response: { data: { b: 1, a: "x" } },
      lease: { id: "m/token/x", renewable: false, durationSeconds: 3599 },
      warnings: ["w"],
    });
    expect(answer.body).toBe(
      '{"request_id":"r1","lease_id":"m/token/x","renewable":false,"lease_duration":3599,"data":{"b":1,"a":"x"},"wrap_info":null,"warnings":["w"],"auth":null}\n',
    );
    expect([answer.status, answer.headers]).toEqual([
      200,
      { "cache-control": "no-store", "content-type": "application/json" },
    ]);
  });

  it("is 204 for what was done, and 404 with no errors for what is not there", async () => {
    expect(await writeCoreAnswer({ ...empty, isRead: false })).toMatchObject({
      status: 204,
      body: "",
    });
    expect(await writeCoreAnswer(empty)).toMatchObject({ status: 404, body: '{"errors":[]}\n' });
  });

  it("is 200 for what was done with warnings, and 202 for what goes on", async () => {
    expect(
      await writeCoreAnswer({ ...empty, isRead: false, warnings: ["short key"] }),
    ).toMatchObject({
      status: 200,
    });
    expect(
      await writeCoreAnswer({ ...empty, isRead: false, response: { status: 202 } }),
    ).toMatchObject({
      status: 202,
    });
  });

  it("of sys/ repeats its data at the top", async () => {
    const answer = await writeCoreAnswer({
      ...empty,
      response: { data: { keys: ["a"] } },
      copyToTop: true,
    });
    expect(JSON.parse(answer.body as string)).toMatchObject({
      keys: ["a"],
      data: { keys: ["a"] },
      request_id: "r1",
    });
  });

  it("of sys/ has no member twice, whatever its data are called", async () => {
    const answer = await writeCoreAnswer({
      ...empty,
      response: { data: { secret: ["github"], auth: ["approle"] } },
      copyToTop: true,
    });
    expect(answer.body).toBe(
      '{"secret":["github"],"request_id":"r1","lease_id":"","renewable":false,"lease_duration":0,"data":{"secret":["github"],"auth":["approle"]},"wrap_info":null,"warnings":null,"auth":null}\n',
    );
  });

  it("shows a new token once, with what clients read of it", async () => {
    const answer = await writeCoreAnswer({
      ...empty,
      isRead: false,
      auth: {
        id: Secret.of("hvs.x", "test"),
        entry: { ...liveEntry, renewable: true },
        ttlMs: 3_600_000,
        made: true,
      },
    });
    expect(JSON.parse(answer.body as string)).toMatchObject({
      data: null,
      auth: {
        client_token: "hvs.x",
        accessor: "a1",
        policies: ["p"],
        token_policies: ["p"],
        metadata: null,
        lease_duration: 3600,
        renewable: true,
        entity_id: "",
        token_type: "service",
        orphan: true,
        mfa_requirement: null,
        num_uses: 0,
      },
    });
  });

  it("that was wrapped holds the wrapping alone", async () => {
    const answer = await writeCoreAnswer({
      ...empty,
      wrap: {
        token: "hvs.w",
        accessor: "wa",
        ttl: 60,
        creation_time: "2026-01-01T00:00:00.000Z",
        creation_path: "m/token",
      },
    });
    expect(answer.body).toBe(
      '{"request_id":"","lease_id":"","renewable":false,"lease_duration":0,"data":null,"wrap_info":{"token":"hvs.w","accessor":"wa","ttl":60,"creation_time":"2026-01-01T00:00:00.000Z","creation_path":"m/token"},"warnings":null,"auth":null}\n',
    );
  });

  it("is written in turns when it has a long list, with the text of one", async () => {
    const keys = Array.from({ length: 20_500 }, (_, at) => `näme "${at}"`);
    const data = { keys, none: undefined, key_info: { keys }, empty: [] };
    slowClock();
    const turns = countTurns();
    const answer = await writeCoreAnswer({ ...empty, response: { data }, copyToTop: true });
    const text = JSON.stringify(data);
    expect(answer.body).toBe(
      `${text.slice(0, -1)},"request_id":"r1","lease_id":"","renewable":false,"lease_duration":0,"data":${text},"wrap_info":null,"warnings":null,"auth":null}\n`,
    );
    expect(turns()).toBeGreaterThan(3);
  });

  it("to a question for help is the help alone", async () => {
    expect(
      await writeHelp({ ...empty, response: { data: { help: "text", see_also: null } } }),
    ).toMatchObject({ status: 200, body: '{"help":"text","see_also":null}\n' });
    expect(await writeHelp(empty)).toMatchObject({ status: 404, body: '{"errors":[]}\n' });
  });

  it("that is raw goes out as it is", async () => {
    expect(
      await writeCoreAnswer({
        ...empty,
        response: { raw: { status: 200, contentType: "text/plain", body: "x 1\n" } },
      }),
    ).toEqual({
      status: 200,
      headers: { "cache-control": "no-store", "content-type": "text/plain" },
      body: "x 1\n",
    });
  });
});
