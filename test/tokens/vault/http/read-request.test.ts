import { describe, expect, it } from "vitest";
import type { PlainRequest } from "../../../../src/kernel/service.ts";
import { writeExact } from "../../../../src/tokens/logical/json.ts";
import {
  readVaultRequest as readWithin,
  type VaultRequest,
} from "../../../../src/tokens/vault/http/read-request.ts";

const readVaultRequest = (request: PlainRequest): Promise<VaultRequest> =>
  readWithin(request, () => 32 * 1024 * 1024);

function request(
  method: string,
  target: string,
  more: { readonly headers?: PlainRequest["headers"]; readonly body?: string | Uint8Array } = {},
): PlainRequest {
  const bytes =
    typeof more.body === "string"
      ? new TextEncoder().encode(more.body)
      : (more.body ?? new Uint8Array(0));
  return {
    method,
    path: target.split("?")[0] ?? "",
    target,
    params: {},
    query: new URL(target, "http://h").searchParams,
    headers: more.headers ?? {},
    remote: { address: "127.0.0.1", port: 1 },
    secured: false,
    body: async () => bytes,
  };
}

describe("the method of a request", () => {
  it.each([
    ["GET", "/v1/a/b", "read"],
    ["GET", "/v1/a/b?list=true", "list"],
    ["GET", "/v1/a/b?list=True", "list"],
    ["GET", "/v1/a/b?list=1", "list"],
    ["GET", "/v1/a/b?list=0", "read"],
    ["LIST", "/v1/a/b", "list"],
    ["SCAN", "/v1/a/b", "list"],
    ["POST", "/v1/a/b", "write"],
    ["PUT", "/v1/a/b", "write"],
    ["DELETE", "/v1/a/b", "delete"],
    ["GET", "/v1/a/b?help=1", "help"],
    ["HEAD", "/v1/a/b", "header"],
  ])("%s %s is a %s", async (method, target, verb) => {
    expect((await readVaultRequest(request(method, target))).verb).toBe(verb);
  });

  it("is refused when nothing answers it", async () => {
    await expect(readVaultRequest(request("TRACE", "/v1/a"))).rejects.toMatchObject({
      code: "unsupported",
    });
    await expect(readVaultRequest(request("OPTIONS", "/v1/a"))).rejects.toThrow(
      "cannot handle internal-only request operation",
    );
    await expect(
      readVaultRequest(
        request("PATCH", "/v1/a", { headers: { "content-type": "application/json" }, body: "{}" }),
      ),
    ).rejects.toMatchObject({ rule: "media_type" });
  });
});

describe("the path of a request", () => {
  it("is decoded once, and ends in a slash when it is listed", async () => {
    expect((await readVaultRequest(request("GET", "/v1/a/b%20c"))).path).toBe("a/b c");
    expect((await readVaultRequest(request("LIST", "/v1/a/b"))).path).toBe("a/b/");
    expect((await readVaultRequest(request("LIST", "/v1/a/b/"))).path).toBe("a/b/");
  });

  it.each(["/v1/a/../b", "/v1/a/%2e%2e/b", "/v1/a/%2E./b", "/v1/..", "/v1/a%2f..%2fb"])(
    "has no way up: %s",
    async (target) => {
      await expect(readVaultRequest(request("GET", target))).rejects.toThrow(
        "relative paths not supported",
      );
    },
  );

  it.each(["/v1/a/%zz", "/v1/a/%00", "/v1/a/%0a", `/v1/${"a".repeat(1500)}`])(
    "is refused when it is malformed or too long",
    async (target) => {
      await expect(readVaultRequest(request("GET", target))).rejects.toMatchObject({
        code: "invalid",
      });
    },
  );
});

describe("the data of a request", () => {
  it("come from the query of what has no body: single as text, repeated as a list", async () => {
    expect((await readVaultRequest(request("GET", "/v1/a?x=1&y=2&y=3&list=false"))).data).toEqual({
      x: "1",
      y: ["2", "3"],
    });
    expect((await readVaultRequest(request("DELETE", "/v1/a?x=1"))).data).toEqual({ x: "1" });
  });

  it("are JSON whatever the type says, unless it says form and does not look like JSON", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(
      (await readVaultRequest(request("POST", "/v1/a", { headers: form, body: '{"x":1}' }))).data,
    ).toEqual({ x: 1 });
    expect(
      (await readVaultRequest(request("POST", "/v1/a", { headers: form, body: "x=1&x=2&y=a%20b" })))
        .data,
    ).toEqual({ x: ["1", "2"], y: "a b" });
    expect(
      (
        await readVaultRequest(
          request("POST", "/v1/a", { headers: { "content-type": "text/html" }, body: '{"x":1}' }),
        )
      ).data,
    ).toEqual({ x: 1 });
  });

  it("may be missing", async () => {
    for (const body of ["", "null", " null ", "{}"])
      expect((await readVaultRequest(request("PUT", "/v1/a", { body }))).data).toEqual({});
  });

  it("are refused when they hold very many values, as a form too, and are read in no time when they hold many", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    for (const [headers, body, most] of [
      [{}, `[${"1,".repeat(100_001)}1]`, 100_000],
      [form, "a=&".repeat(10_001), 10_000],
    ] as const) {
      await expect(
        readVaultRequest(request("POST", "/v1/a", { headers, body })),
      ).rejects.toMatchObject({
        code: "too_large",
        message: expect.stringContaining(`more than ${most} values`) as string,
      });
    }
    const started = performance.now();
    const { data } = await readVaultRequest(
      request("POST", "/v1/a", {
        headers: form,
        body: Array.from({ length: 9_000 }, (_, at) => `a${at}=1`).join("&"),
      }),
    );
    expect([Object.keys(data).length, performance.now() - started < 2_000]).toEqual([9_000, true]);
  });

  it("keep the digits of their numbers", async () => {
    const { data } = await readVaultRequest(
      request("PUT", "/v1/a", { body: '{"id":12345678901234567890}' }),
    );
    expect(writeExact(data)).toBe('{"id":12345678901234567890}');
  });

  it.each(['{"prv_key":"-----BEGIN', "[1]", '"text"', "7", '{"a":1}x'])(
    "are refused without quoting them: %s",
    async (body) => {
      const error = await readVaultRequest(request("PUT", "/v1/a", { body })).catch(
        (thrown: unknown) => thrown as Error,
      );
      expect(error).toMatchObject({ code: "invalid" });
      expect((error as Error).message).toMatch(/^failed to decode JSON input: (?!failed)/);
      expect((error as Error).message).not.toContain("BEGIN");
    },
  );

  it("are refused when they are not UTF-8", async () => {
    await expect(
      readVaultRequest(request("PUT", "/v1/a", { body: Uint8Array.of(0x7b, 0xff, 0x7d) })),
    ).rejects.toThrow("not valid UTF-8");
  });
});

describe("the headers of a request", () => {
  it("give the token: X-Vault-Token first, else a Bearer in this very case", async () => {
    const token = async (headers: PlainRequest["headers"]): Promise<string | undefined> =>
      (await readVaultRequest(request("GET", "/v1/a", { headers }))).token?.use((value) => value);
    expect(await token({ "x-vault-token": "one", authorization: "Bearer two" })).toBe("one");
    expect(await token({ authorization: "Bearer two" })).toBe("two");
    expect(await token({ authorization: "bearer two" })).toBeUndefined();
    expect(await token({ authorization: "Basic dHdv" })).toBeUndefined();
    expect(await token({})).toBeUndefined();
  });

  it("ask for wrapping in seconds or a duration", async () => {
    const ttl = async (text: string): Promise<number | undefined> =>
      (await readVaultRequest(request("GET", "/v1/a", { headers: { "x-vault-wrap-ttl": text } })))
        .wrapTtlMs;
    expect([await ttl("60"), await ttl("60s"), await ttl("1m30s"), await ttl("0")]).toEqual([
      60_000,
      60_000,
      90_000,
      undefined,
    ]);
    await expect(ttl("soon")).rejects.toThrow("X-Vault-Wrap-TTL must be a duration");
  });

  it("may name the root namespace and no other", async () => {
    for (const name of ["", "root", "root/", "/"])
      await readVaultRequest(request("GET", "/v1/a", { headers: { "x-vault-namespace": name } }));
    await expect(
      readVaultRequest(request("GET", "/v1/a", { headers: { "x-vault-namespace": "team" } })),
    ).rejects.toThrow("namespace not found");
  });
});

describe("the body of a request", () => {
  it("is read as far as its head allows, and not at all where the head alone decides", async () => {
    const limits: (number | undefined)[] = [];
    const sent: PlainRequest = {
      ...request("POST", "/v1/auth/approle/login", { headers: { "x-vault-token": "hvs.x" } }),
      body: async (limitBytes) => {
        limits.push(limitBytes);
        return new TextEncoder().encode('{"role_id":"r"}');
      },
    };
    expect(
      await readWithin(sent, ({ path, token, remote }) =>
        path === "auth/approle/login" && token !== undefined && remote?.address === "127.0.0.1"
          ? 65_536
          : 1,
      ),
    ).toMatchObject({ data: { role_id: "r" } });
    expect(await readWithin(sent, () => 0)).toMatchObject({ data: {}, unread: true });
    expect(limits).toEqual([65_536]);
  });
});
