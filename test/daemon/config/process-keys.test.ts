import { describe, expect, it } from "vitest";
import { formatFinding } from "../../../src/kernel/config/findings.ts";
import {
  authToken,
  gatewayAllowedHosts,
  gatewayListen,
  tokenOffLoopback,
  gatewayKeys,
} from "../../../gateway/config.ts";
import { processKeys } from "../../../src/daemon/config/process-keys.ts";
import { stateFolder, stateKeys } from "../../../src/kernel/state/backups/state-keys.ts";
import { defineSchema } from "../../../src/kernel/config/key.ts";
import { loadConfig, type LoadResult } from "../../../src/kernel/config/load.ts";

function load(environment: Record<string, string>): LoadResult {
  return loadConfig({
    environment: { HOME: "/home/ada", ...environment },
    schema: defineSchema(gatewayKeys, stateKeys, processKeys),
    checks: [tokenOffLoopback],
    readFile: () => "0123456789abcdef0123",
  });
}

describe("the keys of the process, its gateway and its state", () => {
  it("need nothing", () => {
    const { config, findings } = load({});
    expect(findings).toEqual([]);
    expect(config?.get(gatewayListen)).toEqual({ host: "127.0.0.1", port: 8400 });
    expect(config?.get(authToken)).toBeUndefined();
    expect(config?.get(gatewayAllowedHosts)).toEqual([]);
  });

  it.each([
    [{}, "/home/ada/.local/state/steward"],
    [{ XDG_STATE_HOME: "/x/" }, "/x/steward"],
    [{ XDG_STATE_HOME: "relative" }, "/home/ada/.local/state/steward"],
    [
      { XDG_STATE_HOME: "/x", STATE_DIRECTORY: "/var/lib/steward:/var/lib/other" },
      "/var/lib/steward",
    ],
    [{ STATE_DIRECTORY: "/var/lib/steward", STEWARD_STATE__DIRECTORY: "/mine" }, "/mine"],
  ])("find the state folder by %j", (environment, expected) => {
    expect(load(environment).config?.get(stateFolder)).toBe(expected);
  });

  it("say so when there is no location for state", () => {
    expect(load({ HOME: "" }).findings.map(formatFinding)).toEqual([
      "ERROR state.directory: is not known: neither STATE_DIRECTORY, XDG_STATE_HOME nor HOME is set — set STEWARD_STATE__DIRECTORY.",
    ]);
  });

  it("refuse a folder that only a shell would find", () => {
    expect(load({ STEWARD_STATE__DIRECTORY: "~/state" }).findings.map(formatFinding)[0]).toContain(
      "without ~",
    );
  });

  it.each(["0.0.0.0:8400", ":8400", "[::]:0", "10.0.0.7:1"])(
    "refuse to listen on %s without a token",
    (listen) => {
      expect(load({ STEWARD_GATEWAY__LISTEN: listen }).findings.map(formatFinding)).toEqual([
        `ERROR gateway.listen: ${listen} can be reached from other machines and there is no auth.token (STEWARD_GATEWAY__LISTEN) — set STEWARD_AUTH__TOKEN_FILE, or listen on 127.0.0.1.`,
      ]);
      expect(
        load({ STEWARD_GATEWAY__LISTEN: listen, STEWARD_AUTH__TOKEN_FILE: "/t" }).findings,
      ).toEqual([]);
    },
  );

  it("warn of a token that can be guessed and refuse hosts that are no names", () => {
    expect(load({ STEWARD_AUTH__TOKEN: "short" }).findings).toMatchObject([
      { severity: "warning", path: "auth.token" },
    ]);
    expect(load({ STEWARD_GATEWAY__ALLOWED_HOSTS: "http://proxy/" }).findings).toMatchObject([
      { severity: "error", path: "gateway.allowed_hosts" },
    ]);
  });

  it("take addresses and networks as trusted proxies, and nothing else", () => {
    expect(
      load({ STEWARD_GATEWAY__TRUSTED_PROXIES: "10.0.0.2,10.0.0.0/8,::1,fd00::/8" }).findings,
    ).toEqual([]);
    for (const wrong of [
      "proxy.lan",
      "10.0.0.0/33",
      "fd00::/129",
      "10.0.0.0/8/8",
      "10.0.0.0/",
      "fe80::1%eth0",
    ]) {
      expect(load({ STEWARD_GATEWAY__TRUSTED_PROXIES: wrong }).findings).toMatchObject([
        { severity: "error", path: "gateway.trusted_proxies" },
      ]);
    }
  });
});
