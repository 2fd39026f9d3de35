import { describe, expect, it } from "vitest";
import {
  EngineInfoFieldsSchema,
  EnginePermissionSetFieldsSchema,
  EngineTokenFieldsSchema,
} from "../../../src/gen/steward/tokens/v1/engine_pb.ts";
import { StewardError } from "../../../src/kernel/base/errors.ts";
import { createBackend } from "../../../src/tokens/logical/backend.ts";
import { definePath } from "../../../src/tokens/logical/define-path.ts";
import type {
  Backend,
  Data,
  LogicalRequest,
  Path,
  PathRequest,
} from "../../../src/tokens/logical/types.ts";
import { refusalOf } from "../support/engine.ts";
import { logical } from "../support/host.ts";

const rules = {
  repositories: "comma_list",
  repository_ids: "comma_list",
  permissions: "pairs",
} as const;

interface Sample {
  readonly backend: Backend;
  readonly seen: PathRequest[];
  readonly revoked: LogicalRequest[];
}

function sample(unknown: Path["unknown"] = "refuse"): Sample {
  const seen: PathRequest[] = [];
  const revoked: LogicalRequest[] = [];
  const handle = (request: PathRequest): Promise<undefined> => {
    seen.push(request);
    return Promise.resolve(undefined);
  };
  const backend = createBackend({
    type: "sample",
    help: "A sample.",
    paths: [
      definePath({
        pattern: "token",
        fields: EngineTokenFieldsSchema,
        coerce: rules,
        unknown,
        operations: { read: handle, write: handle, delete: handle },
        synopsis: "Mint.",
        description: "Mints.",
      }),
      definePath({
        pattern: "set/:name",
        fields: EnginePermissionSetFieldsSchema,
        coerce: rules,
        unknown,
        operations: { read: handle, write: handle },
        exists: ({ fields }) => Promise.resolve(fields.text("name") === "there"),
        synopsis: "Set.",
        description: "Sets.",
      }),
      definePath({
        pattern: "sets",
        also: ["set"],
        fields: EngineInfoFieldsSchema,
        unknown: "keep",
        operations: { list: handle },
        synopsis: "List.",
        description: "Lists.",
      }),
    ],
    secrets: [
      {
        name: "github_token",
        revoke: (request) => {
          revoked.push(request);
          return Promise.resolve();
        },
      },
    ],
  });
  return { backend, seen, revoked };
}

describe("fields of a request", () => {
  it("arrive coerced, by name, given or not", async () => {
    const { backend, seen } = sample();
    await backend.handle(
      logical("read", "token", {
        installation_id: "5",
        repositories: "a,b",
        permissions: "x=read,y=write",
      }),
    );
    const fields = seen[0]?.fields;
    expect([
      fields?.integer("installation_id"),
      fields?.texts("repositories"),
      [...(fields?.pairs("permissions") ?? [])],
      fields?.text("org_name"),
      fields?.has("org_name"),
      fields?.integers("repository_ids"),
    ]).toEqual([
      5,
      ["a", "b"],
      [
        ["x", "read"],
        ["y", "write"],
      ],
      undefined,
      false,
      undefined,
    ]);
  });

  it("are read by their kind only", async () => {
    const { backend, seen } = sample();
    await backend.handle(logical("create", "token", { org_name: "x" }));
    expect(() => seen[0]?.fields.integer("org_name")).toThrow(
      "assertion failed: the field org_name is declared as integer",
    );
    expect(() => seen[0]?.fields.text("nope")).toThrow("assertion failed");
  });

  it.each<readonly [Data, string]>([
    [{ nope: 1 }, "1 error occurred:\n\t* unknown field: nope\n\n"],
    [{ z: 1, a: 2, org_name: "x" }, "1 error occurred:\n\t* unknown fields: a, z\n\n"],
    [JSON.parse('{"__proto__": 1}') as Data, "1 error occurred:\n\t* unknown field: __proto__\n\n"],
  ])("that are unknown are refused: %j", async (data, message) => {
    for (const operation of ["create", "update", "read", "delete"] as const)
      expect(
        await refusalOf(sample().backend.handle(logical(operation, "token", data))),
      ).toMatchObject({ code: "invalid", rule: "unknown_field", message });
  });

  it("that are unknown are told in bounds", async () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, index) => [`${"x".repeat(1_000)}${index}`, 1]),
    );
    const refusal = await refusalOf(sample().backend.handle(logical("create", "token", many)));
    expect(refusal.message.length).toBeLessThan(2_000);
    expect(refusal.message).toContain("… (980 more)");
  });

  it("that are unknown may be ignored with a warning, or kept", async () => {
    expect(await sample("warn").backend.handle(logical("create", "token", { b: 1, a: 1 }))).toEqual(
      { warnings: ["Endpoint ignored these unrecognized parameters: [a b]"] },
    );
    const { backend, seen } = sample("keep");
    expect(await backend.handle(logical("create", "token", { b: 1 }))).toBeUndefined();
    expect(seen[0]?.data).toEqual({ b: 1 });
  });

  it("in the path win over those in the body, and say so", async () => {
    const { backend, seen } = sample();
    const response = await backend.handle(
      logical("update", "set/ci", { name: "other", org_name: "x" }),
    );
    expect(seen[0]?.fields.text("name")).toBe("ci");
    expect(response?.warnings).toEqual([
      "Endpoint replaced the value of these parameters with the values captured from the endpoint's path: [name]",
    ]);
  });

  it("that cannot be coerced are refused with the clients' text, under another head when reading", async () => {
    const text =
      'error converting input for field "installation_id": cannot parse \'\' as int: strconv.ParseInt: parsing "abc": invalid syntax';
    const ask = (operation: "create" | "update" | "read" | "delete"): Promise<unknown> =>
      refusalOf(
        sample().backend.handle(logical(operation, "token", { installation_id: "abc" })),
      ).then(({ message }) => message);
    expect([
      await ask("create"),
      await ask("update"),
      await ask("read"),
      await ask("delete"),
    ]).toEqual([
      text,
      text,
      `Field validation failed: ${text}`,
      `Field validation failed: ${text}`,
    ]);
  });
});

describe("a backend", () => {
  it("says which paths it has not, and which operations", async () => {
    const { backend } = sample();
    expect(await refusalOf(backend.handle(logical("read", "nope")))).toMatchObject({
      code: "not_found",
      rule: "unsupported_path",
      message: "1 error occurred:\n\t* unsupported path\n\n",
    });
    expect(await refusalOf(backend.handle(logical("read", "token/")))).toMatchObject({
      code: "not_found",
    });
    expect(await refusalOf(backend.handle(logical("read", "sets")))).toMatchObject({
      code: "unsupported",
      rule: "unsupported_operation",
      message: "1 error occurred:\n\t* unsupported operation\n\n",
    });
    expect(await refusalOf(backend.handle(logical("list", "token/")))).toMatchObject({
      code: "unsupported",
    });
  });

  it("tells create and update apart where a path can, without looking at the body", async () => {
    const { backend } = sample();
    const body = { nope: 1 };
    expect([
      await backend.exists(logical("update", "set/there", body)),
      await backend.exists(logical("update", "set/new", body)),
      await backend.exists(logical("update", "token", body)),
      await backend.exists(logical("update", "nope")),
    ]).toEqual([true, false, undefined, undefined]);
  });

  it("finds declared paths", () => {
    const { backend } = sample();
    expect([
      backend.find("token")?.pattern,
      backend.find("set/")?.pattern,
      backend.find("set/x")?.pattern,
      backend.find("x")?.pattern,
    ]).toEqual(["token", "sets", "set/:name", undefined]);
  });

  it("revokes by the secret's type", async () => {
    const { backend, revoked } = sample();
    expect(
      await backend.handle(
        logical(
          "revoke",
          "token",
          { token: "t" },
          { secret: { internalData: { secret_type: "github_token" }, leaseId: "l" } },
        ),
      ),
    ).toBeUndefined();
    expect(revoked.map(({ data }) => data)).toEqual([{ token: "t" }]);
    for (const type of ["other", "toString", undefined])
      expect(
        await refusalOf(
          backend.handle(
            logical(
              "revoke",
              "token",
              {},
              { secret: { internalData: { secret_type: type }, leaseId: "l" } },
            ),
          ),
        ),
      ).toMatchObject({ code: "invalid", rule: "secret_type" });
    expect(await refusalOf(backend.handle(logical("revoke", "token")))).toMatchObject({
      rule: "secret_type",
    });
  });

  it("has nothing to renew and nothing half done", async () => {
    const { backend } = sample();
    expect(await refusalOf(backend.handle(logical("renew", "token")))).toMatchObject({
      code: "invalid",
      rule: "renewable",
    });
    expect(await backend.handle(logical("rollback", ""))).toBeUndefined();
  });

  it("lets a handler's error through as it is", async () => {
    const thrown = new StewardError("upstream", "x");
    const backend = createBackend({
      type: "t",
      help: "h",
      paths: [
        definePath({
          pattern: "x",
          fields: EngineInfoFieldsSchema,
          operations: { read: () => Promise.reject(thrown) },
          synopsis: "",
          description: "",
        }),
      ],
    });
    await expect(backend.handle(logical("read", "x"))).rejects.toBe(thrown);
  });
});

describe("help", () => {
  it("on the mount lists every path", async () => {
    const { data } = (await sample().backend.handle(logical("help", ""))) ?? {};
    expect(data?.["help"]).toContain("## DESCRIPTION\n\nA sample.\n\n## PATHS");
    expect(data?.["help"]).toContain("    set/:name\n        Set.\n");
    expect(data?.["openapi"]).toMatchObject({
      paths: {
        "/github/token": {},
        "/github/set/{name}": {},
        "/github/sets/": {},
        "/github/set/": {},
      },
    });
    expect(data?.["see_also"]).toBeNull();
  });

  it("on a path shows its fields with their comments", async () => {
    const { data } = (await sample().backend.handle(logical("help", "set/ci"))) ?? {};
    expect(data?.["help"]).toMatch(
      /^Request: {8}set\/ci\nMatching Route: set\/:name\n\nSet\.\n\n## PARAMETERS\n\n {4}installation_id \(int\)\n\n {8}Installation to mint against; takes precedence over org_name\.\n/,
    );
    expect(data?.["help"]).toMatch(/## DESCRIPTION\n\nSets\.\n$/);
  });

  it("on an unknown path is refused", async () => {
    expect(await refusalOf(sample().backend.handle(logical("help", "nope")))).toMatchObject({
      rule: "unsupported_path",
    });
  });
});
