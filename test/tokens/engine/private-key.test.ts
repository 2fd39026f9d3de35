import { generateKeyPairSync } from "node:crypto";
import { describe, expect, it } from "vitest";
import { readPrivateKey } from "../../../src/tokens/engine/private-key.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pkcs1 = privateKey.export({ type: "pkcs1", format: "pem" }).toString();
const pkcs8 = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

describe("the private key", () => {
  it.each<readonly [string, string]>([
    ["PKCS#1", pkcs1],
    ["PKCS#8", pkcs8],
    ["blanks around it", `\n  ${pkcs1}\n\n`],
    ["literal line ends", pkcs1.replaceAll("\n", String.raw`\n`)],
    ["line ends of Windows", pkcs1.replaceAll("\n", "\r\n")],
    ["literal line ends of Windows", pkcs1.replaceAll("\n", String.raw`\r\n`)],
    ["line ends that became blanks", pkcs8.replaceAll("\n", " ")],
    ["no line ends at all", pkcs8.replaceAll("\n", "")],
    ["indented lines", pkcs1.replaceAll("\n", "\n    ")],
    ["something behind it", `${pkcs1}trailing data`],
    ["a second block behind it", pkcs1 + pkcs8],
  ])("may have %s", (_, text) => {
    const key = readPrivateKey(text);
    expect([key.pem, key.bits, key.warnings]).toEqual([pkcs1, 2048, []]);
  });

  it.each<readonly [string, string, RegExp]>([
    ["nothing", "", /key is not a PEM formatted RSA private key/],
    ["no PEM", "secret-material", /key is not a PEM/],
    [
      "a certificate",
      pkcs1.replaceAll("RSA PRIVATE KEY", "CERTIFICATE"),
      /the block is a CERTIFICATE/,
    ],
    [
      "a passphrase",
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----",
      /encrypted with a passphrase/,
    ],
    [
      "an encrypted PKCS#8",
      pkcs8.replaceAll("PRIVATE KEY", "ENCRYPTED PRIVATE KEY"),
      /the block is a ENCRYPTED/,
    ],
    ["no end", pkcs1.slice(0, 500), /no complete block/],
    ["other ends", pkcs1.replace("END RSA", "END"), /no complete block/],
    [
      "a cut body",
      `${pkcs1.slice(0, 300)}\n-----END RSA PRIVATE KEY-----`,
      /unable to parse private key: the block is damaged/,
    ],
    [
      "another kind",
      generateKeyPairSync("ec", { namedCurve: "P-256" })
        .privateKey.export({ type: "pkcs8", format: "pem" })
        .toString(),
      /not an RSA key/,
    ],
    ["no end of text", "-----BEGIN ".repeat(10_000), /more than 65536 characters/],
  ])("is refused with %s, without being quoted", (_, text, message) => {
    expect(() => readPrivateKey(text)).toThrow(
      expect.objectContaining({
        code: "invalid",
        field: "prv_key",
        message: expect.stringMatching(message) as string,
      }) as Error,
    );
    expect(() => readPrivateKey(text)).not.toThrow(/secret-material|MII/);
  });

  it("is refused below 1024 bits and warned of below 2048", () => {
    const weak = (modulusLength: number): string =>
      generateKeyPairSync("rsa", { modulusLength })
        .privateKey.export({ type: "pkcs1", format: "pem" })
        .toString();
    expect(() => readPrivateKey(weak(768))).toThrow("it has 768 bits, at least 1024 are needed");
    expect(readPrivateKey(weak(1024)).warnings).toEqual([
      "the private key has 1024 bits; generate one of at least 2048 in the app's settings",
    ]);
  });

  it("is refused when its numbers do not fit each other", () => {
    const jwk = privateKey.export({ format: "jwk" });
    const der = Buffer.from(pkcs1.replaceAll(/-----.*-----|\s/g, ""), "base64");
    // One bit of the private exponent, found by its bytes.
    const at = der.indexOf(Buffer.from(String(jwk.d), "base64url").subarray(10, 40));
    der[at] = (der[at] ?? 0) ^ 1;
    const dp = der.indexOf(Buffer.from(String(jwk.dp), "base64url").subarray(10, 40));
    der[dp] = (der[dp] ?? 0) ^ 1;
    expect(() =>
      readPrivateKey(
        `-----BEGIN RSA PRIVATE KEY-----\n${der.toString("base64")}\n-----END RSA PRIVATE KEY-----`,
      ),
    ).toThrow("unable to parse private key");
  });
});
