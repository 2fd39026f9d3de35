import { describe, expect, it } from "vitest";
import { openApiDocument } from "../../../src/tokens/logical/openapi.ts";
import { startEngineRoom } from "../support/engine.ts";

describe("the engine's OpenAPI description", () => {
  it("has the paths and methods of the original's, and our additions", async () => {
    await using room = await startEngineRoom({ config: false });
    const document = openApiDocument(
      [{ point: "github/", backend: room.backend, tag: "secrets" }],
      { title: "Steward", version: "1", description: "" },
    ) as { readonly paths: Readonly<Record<string, object>> };
    const shape = Object.fromEntries(
      Object.entries(document.paths).map(([path, item]) => [path, Object.keys(item).toSorted()]),
    );
    // As `sys/internal/specs/openapi` of a real server shows the original, but for `doctor`.
    expect(shape).toEqual({
      "/github/config": ["delete", "description", "get", "post", "x-vault-createSupported"],
      "/github/doctor": ["description", "get"],
      "/github/info": ["description", "get", "x-vault-unauthenticated"],
      "/github/installations": ["description", "get"],
      "/github/metrics": ["description", "get", "x-vault-unauthenticated"],
      "/github/permissionset/": ["description", "get"],
      "/github/permissionset/{name}": [
        "delete",
        "description",
        "get",
        "parameters",
        "post",
        "x-vault-createSupported",
      ],
      "/github/permissionsets/": ["description", "get"],
      "/github/token": ["description", "get", "post", "x-vault-createSupported"],
      "/github/token/{permissionset}": [
        "description",
        "get",
        "parameters",
        "post",
        "x-vault-createSupported",
      ],
    });
  });

  it("describes every field of every path", async () => {
    await using room = await startEngineRoom({ config: false });
    const text = JSON.stringify(
      openApiDocument([{ point: "github/", backend: room.backend, tag: "secrets" }], {
        title: "Steward",
        version: "1",
        description: "x",
      }),
    );
    expect(text).not.toContain('"description":""');
    expect(text).not.toContain('"name":"prv_key","in":"query"');
    expect(text).toContain(
      '"repository_ids":{"type":"array","items":{"type":"integer"},"description":"Ids of the repositories',
    );
    expect(text).toContain('"operationId":"github-write-token-permissionset"');
  });

  it("is what help answers with, for the mount and for each path", async () => {
    await using room = await startEngineRoom({ config: false });
    for (const path of [
      "",
      "config",
      "token",
      "token/ci",
      "permissionset/ci",
      "permissionsets/",
      "doctor",
    ]) {
      const { help, openapi } = (await room.ask("help", path))?.data ?? {};
      expect(help).toContain("## DESCRIPTION");
      expect(openapi).toHaveProperty("paths");
    }
  });
});
