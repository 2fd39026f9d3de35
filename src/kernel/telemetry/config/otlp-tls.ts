/** Validates the exporters' certificate files at the start instead of at the first export. */
import { X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Finding } from "../../config/findings.ts";

/** The files of one exporter with the keys that name them; an empty path is unset. */
export interface ExporterFiles {
  readonly ca: NamedFile;
  readonly cert: NamedFile;
  readonly key: NamedFile;
}

/** A file and the path of the key that names it. */
export interface NamedFile {
  readonly key: string;
  readonly file: string;
}

/** Findings; never any file content. */
export function checkExporterFiles(
  { ca, cert, key }: ExporterFiles,
  readFile: (path: string) => string,
): Finding[] {
  const findings: Finding[] = [];
  const read = ({ key: path, file }: NamedFile): string | undefined => {
    if (file === "") return undefined;
    try {
      return readFile(file);
    } catch {
      findings.push(wrong(path, `${file} cannot be read`, "check the path and its permissions."));
      return undefined;
    }
  };
  const [caText, certText, keyText] = [read(ca), read(cert), read(key)];
  if (caText !== undefined && !isCertificate(caText))
    findings.push(
      wrong(
        ca.key,
        `${ca.file} holds no certificate`,
        "use a PEM file of the authority that signed the receiver's.",
      ),
    );
  if (cert.file !== "" && key.file === "")
    findings.push(wrong(key.key, `is missing, ${cert.key} is set`, "set both or neither."));
  if (key.file !== "" && cert.file === "")
    findings.push(wrong(cert.key, `is missing, ${key.key} is set`, "set both or neither."));
  if (certText !== undefined && keyText !== undefined && !isPair(certText, keyText))
    findings.push(
      wrong(
        cert.key,
        `${cert.file} and ${key.file} are not a certificate and its key`,
        "use PEM files that belong together.",
      ),
    );
  return findings;
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== undefined;
  } catch {
    return false;
  }
}

function isPair(cert: string, key: string): boolean {
  try {
    createSecureContext({ cert, key });
    return true;
  } catch {
    // OpenSSL's message is omitted: it may quote the key.
    return false;
  }
}

function wrong(path: string, rule: string, remedy: string): Finding {
  return { severity: "error", path, rule, remedy };
}
