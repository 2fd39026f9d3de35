/**
 * A certificate authority of its own for a test, made by the openssl command; without that such
 * tests are skipped, and say so.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Whether openssl can be run here. */
export const hasOpenssl: boolean = spawnSync("openssl", ["version"]).status === 0;

/** A certificate with its key, as PEM texts. */
export interface Signed {
  readonly cert: string;
  readonly key: string;
}

/** An authority that signs. */
export interface Authority extends Disposable {
  /** PEM text. */
  readonly cert: string;
  /** For 127.0.0.1 and localhost as a server, or as a client of that name. */
  sign(name: string, use: "server" | "client"): Signed;
}

const EC: readonly string[] = [
  "-newkey",
  "ec",
  "-pkeyopt",
  "ec_paramgen_curve:prime256v1",
  "-nodes",
];

/** Makes an authority in a folder that goes with it. */
export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), "steward-ca-"));
  const at = (name: string): string => join(folder, name);
  const openssl = (...args: string[]): void =>
    void execFileSync("openssl", args, { stdio: "ignore" });
  openssl(
    "req",
    "-x509",
    ...EC,
    "-days",
    "2",
    "-subj",
    "/CN=Test authority",
    "-keyout",
    at("ca.key"),
    "-out",
    at("ca.pem"),
  );
  return {
    cert: readFileSync(at("ca.pem"), "utf8"),
    sign(name, use) {
      writeFileSync(
        at("ext"),
        use === "server"
          ? "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n"
          : "extendedKeyUsage=clientAuth\n",
      );
      openssl(
        "req",
        "-new",
        ...EC,
        "-subj",
        `/CN=${name}`,
        "-keyout",
        at("key"),
        "-out",
        at("csr"),
      );
      openssl(
        "x509",
        "-req",
        "-in",
        at("csr"),
        "-CA",
        at("ca.pem"),
        "-CAkey",
        at("ca.key"),
        "-CAcreateserial",
        "-days",
        "2",
        "-extfile",
        at("ext"),
        "-out",
        at("cert"),
      );
      return { cert: readFileSync(at("cert"), "utf8"), key: readFileSync(at("key"), "utf8") };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
