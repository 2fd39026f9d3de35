import { describe, expect, it } from "vitest";
import { failureOf } from "../../../../src/kernel/client/failure.ts";
import { createUpstream, forever, sendJson } from "../../../kernel/client/upstream.ts";
import { ask, byPath, headscaleOptions, sample } from "../plane.ts";

interface ErrorSample {
  readonly request: string;
  readonly case: string;
  readonly status: number;
  readonly content_type: string | null;
  readonly body: unknown;
}

describe("headscale", () => {
  it.each(["node-mixed-zones", "node-routes-healthy", "rel0292-node"])(
    "reads the nodes of %s",
    async (name) => {
      const answer = sample(name) as {
        readonly nodes: readonly {
          readonly id: string;
          readonly givenName: string;
          readonly online: boolean;
          readonly expiry: string | null;
          readonly tags: string[];
          readonly preAuthKey: { readonly ephemeral: boolean } | null;
          readonly lastSeen: string;
          readonly approvedRoutes: string[];
        }[];
      };
      await using upstream = await createUpstream(byPath({ "/api/v1/node": answer }));
      await using asked = ask(headscaleOptions(upstream.url));
      const devices = await asked.provider.devices(forever);
      expect(devices).toHaveLength(answer.nodes.length);
      for (const [index, node] of answer.nodes.entries()) {
        const device = devices[index];
        expect(device).toMatchObject({
          id: node.id,
          nodeId: node.id,
          name: node.givenName,
          online: node.online,
          keyExpiryDisabled: node.expiry === null,
          ephemeral: node.preAuthKey?.ephemeral,
          authorized: true,
        });
        if (node.tags.length > 0) expect(device?.user).toBe("tagged-devices");
        if (node.online) expect(Date.now() - (device?.lastSeenMs ?? 0)).toBeLessThan(60_000);
        else expect(device?.lastSeenMs).toBe(Date.parse(node.lastSeen));
        expect(device?.enabledRoutes).toEqual(
          device?.advertisedRoutes.filter((route) => node.approvedRoutes.includes(route)),
        );
      }
      expect(upstream.requests[0]?.headers["user-agent"]).toBe("steward/1.2.3");
      expect(asked.calls).toMatchObject([{ operation: "node", status: 200, attempts: 1 }]);
    },
  );

  it("takes a key that is past its end, or at the zero time, for an invalid one and null for one without end", async () => {
    const base = {
      used: false,
      reusable: true,
      ephemeral: false,
      user: { id: "2", name: "ada" },
      createdAt: "2026-01-01T00:00:00Z",
      aclTags: [],
    };
    await using upstream = await createUpstream(
      byPath({
        "/api/v1/preauthkey": {
          preAuthKeys: [
            { ...base, id: "1", expiration: "0001-01-01T00:00:00Z" },
            { ...base, id: "2", expiration: null },
            { ...base, id: "3", expiration: "2020-01-01T00:00:00Z" },
            { ...base, id: "4", expiration: "2999-01-01T00:00:00+02:00" },
            {
              ...base,
              id: "5",
              expiration: null,
              used: true,
              reusable: false,
              user: null,
              aclTags: ["tag:ci"],
              ephemeral: true,
            },
          ],
        },
        "/api/v1/apikey": {
          apiKeys: [
            { id: "1", prefix: "hskey-api-x-***", expiration: null },
            { id: "2", prefix: "y", expiration: "0001-01-01T00:00:00Z" },
          ],
        },
      }),
    );
    await using asked = ask(headscaleOptions(upstream.url));
    const keys = await asked.provider.keys(forever);
    expect(keys.map(({ type, id, invalid }) => [type, id, invalid])).toEqual([
      ["auth", "1", true],
      ["auth", "2", false],
      ["auth", "3", true],
      ["auth", "4", false],
      ["auth", "5", true],
      ["api", "1", false],
      ["api", "2", true],
    ]);
    expect(keys[3]).toMatchObject({
      owner: "ada",
      authKind: "reusable",
      description: "preauthkey for ada",
      expiresMs: Date.UTC(2998, 11, 31, 22),
    });
    expect(keys[4]).toMatchObject({
      owner: "",
      authKind: "ephemeral",
      deviceTags: ["tag:ci"],
      description: "preauthkey for tag:ci",
    });
  });

  it.each([
    ["preauthkey-zero-and-null-expiry", "apikey"],
    ["rel0292-preauthkey-null-expiry", "rel0292-apikey-null-expiry"],
  ])("reads every key of %s and %s, and users", async (preauth, api) => {
    await using upstream = await createUpstream(
      byPath({
        "/api/v1/preauthkey": sample(preauth),
        "/api/v1/apikey": sample(api),
        "/api/v1/user": sample("user"),
      }),
    );
    await using asked = ask(headscaleOptions(upstream.url));
    const keys = await asked.provider.keys(forever);
    expect(keys).toHaveLength(
      [sample(preauth), sample(api)].flatMap(
        (answer) => Object.values(answer as Record<string, unknown[]>)[0] ?? [],
      ).length,
    );
    expect(keys.every(({ id, createdMs }) => id !== "" && createdMs !== undefined)).toBe(true);
    for (const user of await asked.provider.users(forever))
      expect(user).toMatchObject({
        role: "unknown",
        status: "unknown",
        type: "unknown",
        deviceCount: undefined,
        login: expect.stringMatching(/./),
      });
  });

  it("reads a policy with its time, and without one from a file", async () => {
    for (const [name, timed] of [
      ["policy", true],
      ["policy-file-mode", false],
      ["rel0292-policy-file-mode", false],
    ] as const) {
      await using upstream = await createUpstream(byPath({ "/api/v1/policy": sample(name) }));
      await using asked = ask(headscaleOptions(upstream.url));
      const policy = await asked.provider.policy(forever);
      expect(policy).toMatchObject({
        text: (sample(name) as { policy: string }).policy,
        etag: expect.stringMatching(/^[0-9a-f]{64}$/),
      });
      expect(policy?.updatedMs !== undefined).toBe(timed);
    }
  });

  it("takes the 500 of both versions that says there is no policy for an answer, and asks once", async () => {
    const errors = (sample("errors") as ErrorSample[]).filter(
      ({ request, status }) => request === "GET /api/v1/policy" && status === 500,
    );
    expect(errors.length).toBeGreaterThanOrEqual(3);
    for (const error of errors) {
      await using upstream = await createUpstream((_, response) =>
        sendJson(
          response,
          error.body,
          error.content_type === null ? {} : { "content-type": error.content_type },
          500,
        ),
      );
      await using asked = ask(headscaleOptions(upstream.url));
      expect(await asked.provider.policy(forever)).toBeUndefined();
      expect(upstream.requests).toHaveLength(1);
    }
  });

  it("classifies every recorded refusal by its status alone", async () => {
    for (const error of (sample("errors") as ErrorSample[]).filter(
      ({ status }) => status === 401 || status === 404,
    )) {
      await using upstream = await createUpstream((_, response) => {
        response.writeHead(
          error.status,
          error.content_type === null ? {} : { "content-type": error.content_type },
        );
        response.end(typeof error.body === "string" ? error.body : JSON.stringify(error.body));
      });
      await using asked = ask(headscaleOptions(upstream.url));
      expect(
        failureOf(await asked.provider.devices(forever).catch((thrown: unknown) => thrown)),
      ).toMatchObject({ status: error.status, class: error.status === 401 ? "auth" : "not_found" });
    }
  });

  it("says which key to raise when the nodes are too many for the limit", async () => {
    await using upstream = await createUpstream(
      byPath({
        "/api/v1/node": {
          nodes: Array.from({ length: 2_000 }, (_, id) => ({ id: `${id}`, name: "x".repeat(200) })),
        },
      }),
    );
    await using asked = ask(headscaleOptions(upstream.url));
    await expect(asked.provider.devices(forever)).rejects.toThrow("headscale.max_response_bytes");
  });

  it("refuses what it does not offer without asking", async () => {
    await using upstream = await createUpstream(byPath({}));
    await using asked = ask(headscaleOptions(upstream.url));
    const { provider } = asked;
    expect(
      (["devices", "users", "keys", "policy", "dns", "flowLogs"] as const).map((call) =>
        provider.supports(call),
      ),
    ).toEqual([true, true, true, true, false, false]);
    expect(() => provider.dns(forever)).toThrow(
      expect.objectContaining({ code: "unsupported", message: "Headscale does not provide this" }),
    );
    expect(() => provider.flowLogs({ fromMs: 0, toMs: 1_000 }, forever)).toThrow(
      expect.objectContaining({ code: "unsupported" }),
    );
    expect(await provider.networkName(forever)).toBeUndefined();
    expect(upstream.requests).toEqual([]);
  });
});
