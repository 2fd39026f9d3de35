import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { OpenApi } from "../../gateway/describe/openapi.ts";
import {
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";

let daemon: Daemon;
let document: OpenApi;

beforeAll(async () => {
  const env = {
    STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    STEWARD_STATE__DIRECTORY: temporaryFolder(),
    STEWARD_DEMO_ROOT_TOKEN: "demo",
    // While AI is off its methods refuse whatever the request is.
    AI_ENABLED: "true",
    AI_OPENAI_API_KEY: "sk-0123456789abcdef",
  };
  daemon = await startDaemon({ args: ["-demo"], env });
  document = (await rest(daemon, "GET", "/openapi.json")).json as OpenApi;
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

/** Verb and path of every operation, with something in the place of each variable. */
function operations(): readonly {
  readonly verb: string;
  readonly path: string;
  readonly hasBody: boolean;
}[] {
  return Object.entries(document.paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, { requestBody }]) => ({
      verb: verb.toUpperCase(),
      path: path.replace("{mount}", "github").replaceAll(/\{\w+\}/g, "x"),
      hasBody: requestBody !== undefined,
    })),
  );
}

/** Files of other versions have other fields. */
const IMPORT = "/api/v1/import/config";
const PERMISSION_SET = "/v1/github/permissionset/x";
const vaultToken = { "x-vault-token": "demo" };

describe("an unknown query parameter", () => {
  it("is ignored by every method that reads", async () => {
    const reads = operations().filter(
      ({ verb, path }) => verb === "GET" && !path.startsWith("/v1/github/"),
    );
    expect(reads.length).toBeGreaterThan(15);
    for (const { path } of reads) {
      const without = await rest(daemon, "GET", path, undefined, vaultToken);
      const unknown = await rest(daemon, "GET", `${path}?nothing=1`, undefined, vaultToken);
      expect(without.status).toBeLessThan(500);
      expect([path, unknown.status]).toEqual([path, without.status]);
    }
  });

  it("is ignored by methods that write, while a known one is checked", async () => {
    const started = await rest(daemon, "POST", "/api/v1/analysis?nothing=1", "{}");
    // 409: the analysis that the demo starts by itself still runs.
    expect([202, 409]).toContain(started.status);
    expect(
      (await rest(daemon, "GET", "/api/v1/jobs?limit=0&nothing=1")).json.error.details,
    ).toMatchObject([{ path: ["limit"] }]);
  });
});

it("an unknown query parameter is refused by the GitHub engine, which reads its fields from the query as well", async () => {
  const answer = await rest(daemon, "GET", "/v1/github/config?nothing=1", undefined, vaultToken);
  expect([answer.status, answer.text]).toEqual([
    400,
    expect.stringContaining("unknown field: nothing"),
  ]);
});

describe("an unknown field of a body", () => {
  it("is refused by every REST method that takes one, by its name", async () => {
    const writes = operations().filter(
      ({ path, hasBody }) => hasBody && path !== PERMISSION_SET && path !== IMPORT,
    );
    expect(writes.map(({ verb, path }) => `${verb} ${path}`)).toEqual(
      expect.arrayContaining([
        "POST /api/v1/sync",
        "PUT /api/v1/duplicates/x/primary",
        "POST /v1/github/token",
      ]),
    );
    for (const { verb, path } of writes) {
      const answer = await rest(daemon, verb, path, { nothing: 1 }, vaultToken);
      expect([path, answer.status, answer.text]).toEqual([
        path,
        400,
        expect.stringContaining("nothing"),
      ]);
    }
  });

  it("is refused with the nearest name that is known", async () => {
    const { error } = (
      await rest(daemon, "PUT", "/api/v1/duplicates/x/status", { statuss: "pending" })
    ).json;
    expect(error).toMatchObject({
      code: "VALIDATION_FAILED",
      message: expect.stringMatching(/statuss.*status/) as string,
      details: expect.arrayContaining([
        expect.objectContaining({ path: ["statuss"] }),
      ]) as unknown[],
    });
  });

  it("is refused over Connect and gRPC-Web with JSON as well", async () => {
    const path = "/steward.dedup.v1.SyncService/StartSync";
    const connect = await rest(daemon, "POST", path, { nothing: 1 });
    expect([connect.status, connect.json.code, connect.json.message]).toEqual([
      400,
      "invalid_argument",
      expect.stringContaining("nothing"),
    ]);
    const text = Buffer.from('{"nothing":1}');
    const frame = Buffer.concat([Uint8Array.of(0, 0, 0, 0, text.length), text]);
    const web = await fetch(daemon.url + path, {
      method: "POST",
      headers: { "content-type": "application/grpc-web+json" },
      body: frame,
    });
    const trailers = decodeURIComponent(await web.text());
    expect([trailers.includes("grpc-status: 3"), trailers]).toEqual([
      true,
      expect.stringContaining('"nothing" is unknown'),
    ]);
  });

  it.each([
    ["/v1/sys/policies/acl/sample", { policy: 'path "x" { capabilities = ["read"] }' }],
    [PERMISSION_SET, { org_name: "example-org" }],
  ])("is reported as a warning by %s, as Vault does", async (path, body) => {
    const answer = await rest(daemon, "POST", path, { ...body, nothing: 1 }, vaultToken);
    expect([answer.status, answer.json?.warnings]).toEqual([
      200,
      ["Endpoint ignored these unrecognized parameters: [nothing]"],
    ]);
  });
});
