import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { formatFinding } from "../../../../src/kernel/config/findings.ts";
import { gatewayCorsOrigins, gatewayTls, gatewayKeys } from "../../../../gateway/config.ts";
import { loadConfig, type LoadResult } from "../../../../src/kernel/config/load.ts";

const { privateKey } = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
});

function load(environment: Record<string, string>, files: Record<string, string> = {}): LoadResult {
  const readFile = (name: string): string => {
    if (files[name] === undefined) throw new Error("gone");
    return files[name];
  };
  return loadConfig({
    environment: { HOME: "/", ...environment },
    schema: gatewayKeys,
    checks: [gatewayTls.check],
    readFile,
  });
}

const problems = (result: LoadResult): string[] => result.findings.map(formatFinding);

describe("certificate and key", () => {
  it.each([
    [
      { STEWARD_GATEWAY__TLS__CERT_FILE: "/c" },
      "ERROR gateway.tls.key_file: is missing, gateway.tls.cert_file is set — set both or neither.",
    ],
    [
      { STEWARD_GATEWAY__TLS__KEY_FILE: "/k" },
      "ERROR gateway.tls.cert_file: is missing, gateway.tls.key_file is set — set both or neither.",
    ],
    [
      { STEWARD_GATEWAY__TLS__CERT_FILE: "/c", STEWARD_GATEWAY__TLS__KEY_FILE: "/gone" },
      "ERROR gateway.tls.key_file: /gone cannot be read — check the path and its permissions.",
    ],
  ])("are both given or neither, and readable: %j", (environment, expected) => {
    expect(problems(load(environment, { "/c": "x", "/k": "x" }))).toEqual([expected]);
  });

  it("belong together", () => {
    const result = load(
      { STEWARD_GATEWAY__TLS__CERT_FILE: "/c", STEWARD_GATEWAY__TLS__KEY_FILE: "/k" },
      { "/c": "no certificate", "/k": privateKey },
    );
    expect(problems(result)).toEqual([
      "ERROR gateway.tls.cert_file: /c and /k are not a certificate and its key — use PEM files that belong together.",
    ]);
    expect(load({}).findings).toEqual([]);
  });
});

describe("origins", () => {
  it("are as a browser writes them, also by the variable that is honoured", () => {
    expect(
      load({ CORS_ALLOW_ORIGIN: "https://archive.example.org, http://localhost:3000" }).config?.get(
        gatewayCorsOrigins,
      ),
    ).toEqual(["https://archive.example.org", "http://localhost:3000"]);
    expect(load({ CORS_ALLOW_ORIGIN: "*" }).config?.get(gatewayCorsOrigins)).toEqual(["*"]);
  });

  it.each([
    "*,https://a.example.org",
    "https://a.example.org/",
    "https://A.example.org",
    "a.example.org",
    "ftp://a",
  ])("are refused: %s", (origins) => {
    expect(load({ CORS_ALLOW_ORIGIN: origins }).findings).toMatchObject([
      { severity: "error", path: "gateway.cors.allowed_origins" },
    ]);
  });
});
