/**
 * Certificates for tests, made by the openssl command; without it such tests are skipped, and say
 * so.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { TlsFiles } from "../../../src/kernel/listen/tls/key-pair.ts";

/** Whether openssl can be run here. */
export const hasOpenssl: boolean = spawnSync("openssl", ["version"]).status === 0;

/** A pair as its texts. */
export interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** A folder that goes when the test ends. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "steward-tls-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A self-signed pair for localhost and 127.0.0.1. */
export function makePair(name: string): Pair {
  return makePairIn(testFolder(), name);
}

/** The same, made in a folder of the caller's. */
export function makePairIn(folder: string, name: string): Pair {
  const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-days",
      "2",
      "-subj",
      `/CN=${name}`,
      "-addext",
      "subjectAltName=DNS:localhost,IP:127.0.0.1",
      "-keyout",
      key,
      "-out",
      cert,
    ],
    { stdio: "ignore" },
  );
  return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
}

/** Writes a pair as two plain files of `folder`. */
export function writePair(folder: string, pair: Pair): TlsFiles {
  const files = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key") };
  writeFileSync(files.certFile, pair.cert);
  writeFileSync(files.keyFile, pair.key);
  return files;
}

/** Points `folder/current` at another folder in one step, as Kubernetes does with its secrets. */
export function swapLink(folder: string, target: string): void {
  symlinkSync(target, join(folder, "next"));
  renameSync(join(folder, "next"), join(folder, "current"));
}

/** Replaces a file in one step: a reader sees the old text or the new one, never an empty file. */
export function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.next`, text);
  renameSync(`${path}.next`, path);
}
