import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { RequestSchema } from "../../../src/gen/vault/backend_pb.ts";
import { writeExact } from "../../../src/tokens/logical/json.ts";
import { toLogicalRequest } from "../../../src/tokens/plugin/requests.ts";
import { refusalOf } from "../support/engine.ts";

const { signal } = new AbortController();
const read = (fields: object) =>
  toLogicalRequest(create(RequestSchema, { operation: "read", path: "config", ...fields }), signal);

describe("a request of the host", () => {
  it("tells the engine who asks, from where, and for which mount", async () => {
    expect(
      await read({
        id: "7c1f3a52-0f6e-4d0c-9a3e-0a6f1d2b3c4d",
        mountPoint: "team/github/",
        displayName: "token-ci",
        clientTokenAccessor: "abc",
        entityId: "e1",
        auth: { policies: ["ci", "default"] },
        connection: { remoteAddr: "10.0.0.1", remotePort: 4321 },
      }),
    ).toMatchObject({
      id: "7c1f3a52-0f6e-4d0c-9a3e-0a6f1d2b3c4d",
      operation: "read",
      path: "config",
      mountPoint: "team/github/",
      requester: {
        displayName: "token-ci",
        accessor: "abc",
        entityId: "e1",
        policies: ["ci", "default"],
      },
      remote: { address: "10.0.0.1", port: 4321 },
    });
  });

  it.each(["", "null", "{}"])("without data has none (%j)", async (data) => {
    expect((await read({ data })).data).toEqual({});
  });

  it("keeps the digits of its numbers", async () => {
    const data = '{"installation_id":9223372036854775807}';
    expect(writeExact((await read({ data })).data)).toBe(data);
  });

  it.each(["[]", "1", '"x"', "{"])("is refused with data that is no object (%j)", async (data) => {
    expect(await refusalOf(read({ data }))).toMatchObject({ code: "invalid", rule: "json" });
  });

  it("is refused beyond the bounds of a request, which a lease's data need not keep", async () => {
    const data = `{"x":[${"0,".repeat(150_000)}0]}`;
    expect((await refusalOf(read({ data }))).code).toBe("too_large");
    expect((await read({ operation: "revoke", data })).data["x"]).toHaveLength(150_001);
  });

  it("brings the lease that it revokes", async () => {
    const secret = { internalData: '{"secret_type":"github_token"}', leaseId: "github/token/x" };
    expect((await read({ operation: "revoke", data: '{"token":"t"}', secret })).secret).toEqual({
      internalData: { secret_type: "github_token" },
      leaseId: "github/token/x",
    });
  });

  it.each(["scan", "header", "alias-lookahead", "", "constructor"])(
    "is refused for an operation that engines do not have (%j)",
    async (operation) => {
      expect((await refusalOf(read({ operation }))).code).toBe("unsupported");
    },
  );
});
