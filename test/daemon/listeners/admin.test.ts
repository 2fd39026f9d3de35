import { afterAll, describe, expect, it } from "vitest";
import { adminListener } from "../../../src/daemon/listeners/admin-listener.ts";
import { adminSurface, countAdminRefusals } from "../../../src/daemon/listeners/admin.ts";
import { loadDaemonConfig } from "../../../src/daemon/configuration.ts";
import type { Config } from "../../../src/kernel/config/config.ts";
import type { Scope } from "../../../src/kernel/telemetry/types.ts";
import {
  listenAddress,
  removeTemporaryFolders,
  startDaemon,
  temporaryFolder,
} from "../../contract/daemon.ts";

afterAll(removeTemporaryFolders);

function configOf(environment: Record<string, string>): Config {
  const { config, findings } = loadDaemonConfig(undefined, { HOME: "/", ...environment });
  if (config === undefined) throw new Error(JSON.stringify(findings));
  return config;
}

describe("the place of the admin surface", () => {
  const noDeps = (): never => {
    throw new Error("asked for too early");
  };

  it.each([
    ["on the gateway by default", {}, "all", false],
    ["on a listener of its own", { STEWARD_ADMIN__LISTEN: "127.0.0.1:9091" }, "gateway", true],
    ["nowhere while it is off", { STEWARD_ADMIN__ENABLED: "false" }, "gateway", false],
    [
      "nowhere while it is off, listener or not",
      { STEWARD_ADMIN__ENABLED: "false", STEWARD_ADMIN__LISTEN: "127.0.0.1:9091" },
      "gateway",
      false,
    ],
  ])("is %s", (_where, environment, surface, listens) => {
    const config = configOf(environment);
    expect([adminSurface(config).surface, adminListener(config, [], noDeps) !== undefined]).toEqual(
      [surface, listens],
    );
  });

  it("has a token of its own only where one is set", () => {
    expect(adminSurface(configOf({})).auth).toEqual({});
    expect(
      adminSurface(
        configOf({ STEWARD_ADMIN__AUTH__TOKEN: "0123456789abcdef" }),
      ).auth.adminToken?.use((text) => text),
    ).toBe("0123456789abcdef");
    expect([
      adminSurface(configOf({})).landing,
      adminSurface(configOf({ STEWARD_ADMIN__LANDING_PAGE: "no" })).landing,
    ]).toEqual([true, false]);
  });

  it("counts refusals by reason where the process tells of itself", () => {
    const counted: unknown[] = [];
    const scope = {
      add: (row: { readonly name: string }, value: number, attributes: object) =>
        void counted.push([row.name, value, attributes]),
    } as unknown as Scope;
    countAdminRefusals(configOf({}), scope)("bad_credentials");
    countAdminRefusals(
      configOf({ STEWARD_SELF_OBSERVABILITY__ENABLED: "false" }),
      scope,
    )("bad_credentials");
    expect(counted).toEqual([["svc.admin.auth.rejected", 1, { reason: "bad_credentials" }]]);
  });
});

describe("a daemon with a listener for the admin surface", () => {
  it("asks there for the administrator's token, answers probes, and leaves the first page on the gateway to the operator", async () => {
    const daemon = await startDaemon({
      env: {
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        STEWARD_ADMIN__LISTEN: "127.0.0.1:0",
        STEWARD_STATE__DIRECTORY: temporaryFolder(),
        STEWARD_AUTH__TOKEN: "operator-0123456789",
        STEWARD_ADMIN__AUTH__TOKEN: "admin-0123456789",
      },
    });
    const address = listenAddress(daemon, "admin");
    const admin = `http://${address}`;
    const statusOf = async (url: string, token?: string): Promise<number> =>
      (
        await fetch(
          url,
          token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } },
        )
      ).status;
    expect([await statusOf(`${admin}/healthz`), await statusOf(`${daemon.url}/healthz`)]).toEqual([
      200, 200,
    ]);
    expect([
      await statusOf(`${admin}/`),
      await statusOf(`${admin}/`, "operator-0123456789"),
      await statusOf(`${admin}/`, "admin-0123456789"),
      await statusOf(`${admin}/api/v1/documents`, "operator-0123456789"),
    ]).toEqual([401, 401, 200, 404]);
    expect([
      await statusOf(`${daemon.url}/`),
      await statusOf(`${daemon.url}/`, "admin-0123456789"),
      await statusOf(`${daemon.url}/`, "operator-0123456789"),
    ]).toEqual([401, 401, 200]);
    await daemon.stop();
    expect([...daemon.stdout, ...daemon.stderr].join("\n")).not.toMatch(
      /(operator|admin)-0123456789/,
    );
  });
});
