import { describe, expect, it } from "vitest";
import { handshakeLine, readHostSettings } from "../../../src/tokens/plugin/handshake.ts";

const host = {
  VAULT_BACKEND_PLUGIN: "6669da05-b1c8-4f49-97d9-c8e5bed98e20",
  PLUGIN_PROTOCOL_VERSIONS: "5",
  PLUGIN_CLIENT_CERT: "-----BEGIN CERTIFICATE-----",
};

describe("the host's environment", () => {
  it("is read in the spelling of Vault, or of OpenBao, which wins", () => {
    expect(readHostSettings({ ...host, VAULT_VERSION: "1.21.0" }).version).toBe("1.21.0");
    expect(readHostSettings({ ...host, BAO_VERSION: "2.6.0" }).version).toBe("2.6.0");
    expect(
      readHostSettings({ ...host, BAO_VERSION: "2.6.0", VAULT_VERSION: "1.21.0" }).version,
    ).toBe("2.6.0");
  });

  it("gives the level of the log: debug for trace, info for anything unknown", () => {
    const level = (text: string | undefined): string =>
      readHostSettings({ ...host, VAULT_LOG_LEVEL: text }).logLevel;
    expect([undefined, "trace", "DEBUG", "warn", "error", "loud"].map(level)).toEqual([
      "info",
      "debug",
      "debug",
      "warn",
      "error",
      "info",
    ]);
  });

  it("may offer the protocol among others", () => {
    expect(() => readHostSettings({ ...host, PLUGIN_PROTOCOL_VERSIONS: "4,5,6" })).not.toThrow();
    for (const versions of ["3,4", "55", "", undefined])
      expect(() => readHostSettings({ ...host, PLUGIN_PROTOCOL_VERSIONS: versions })).toThrow(
        /speaks 5/,
      );
  });

  it("is refused without a certificate, or when it says that AutoMTLS is off", () => {
    for (const more of [
      { PLUGIN_CLIENT_CERT: "" },
      { BAO_PLUGIN_AUTOMTLS_ENABLED: "false" },
      { VAULT_PLUGIN_AUTOMTLS_ENABLED: "false" },
    ])
      expect(() => readHostSettings({ ...host, ...more })).toThrow(/AutoMTLS/);
  });
});

describe("the handshake line", () => {
  const certificate = new Uint8Array(50).fill(1);

  it("has six fields; the certificate is base64 without padding", () => {
    const line = handshakeLine("/tmp/x.sock", certificate, { asksBrokerMultiplexing: false });
    const encoded = Buffer.from(certificate).toString("base64");
    expect(encoded).toMatch(/=$/);
    expect(line).toBe(`1|5|unix|/tmp/x.sock|grpc|${encoded.replace(/=+$/, "")}\n`);
  });

  it("says that broker connections are not multiplexed to a host that asks", () => {
    expect(handshakeLine("/x", certificate, { asksBrokerMultiplexing: true })).toMatch(
      /\|false\n$/,
    );
  });
});
