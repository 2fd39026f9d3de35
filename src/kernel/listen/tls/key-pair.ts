/** A certificate chain with its private key, read from two files and validated before use. */
import { createPrivateKey, X509Certificate, type KeyObject } from "node:crypto";
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import { StewardError } from "../../base/errors.ts";

/** Either may be a symlink. */
export interface TlsFiles {
  /** PEM, leaf first. */
  readonly certFile: string;
  /** PEM, not encrypted. */
  readonly keyFile: string;
}

export interface PairTexts {
  readonly cert: string;
  readonly key: string;
}

/** A validated pair. */
export interface KeyPair {
  readonly texts: PairTexts;
  readonly leaf: X509Certificate;
}

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * Both texts. Throws `invalid`, naming the file, for what cannot be read, is not a regular file or
 * is larger than 1 MiB.
 */
export async function readPair(files: TlsFiles): Promise<PairTexts> {
  const [cert, key] = await Promise.all([
    readPlainFile(files.certFile),
    readPlainFile(files.keyFile),
  ]);
  return { cert, key };
}

/**
 * Throws `invalid` unless every certificate is complete and the key belongs to the first. OpenSSL's
 * message is omitted: it may quote the key.
 */
export function parsePair(texts: PairTexts, files: TlsFiles): KeyPair {
  const leaf = parseChain(texts.cert, files.certFile);
  if (!leaf.checkPrivateKey(parseKey(texts.key, files.keyFile)))
    throw refused(`${files.keyFile} does not belong to the certificate of ${files.certFile}`);
  try {
    createSecureContext({ ...texts, minVersion: "TLSv1.2" });
    return { leaf, texts };
  } catch {
    throw refused(
      `${files.certFile} and ${files.keyFile} are too weak, or of a type that TLS does not support`,
    );
  }
}

// A file truncated between two lines of a certificate still begins with a good one: every block
// must be complete.
function parseChain(text: string, file: string): X509Certificate {
  const begun = text.match(/-----BEGIN (?:X509 )?CERTIFICATE-----/g)?.length ?? 0;
  const blocks =
    text.match(/-----BEGIN (X509 )?CERTIFICATE-----[^-]*-----END \1?CERTIFICATE-----/g) ?? [];
  const chain = blocks.length === begun ? blocks.map(parseCertificate) : [undefined];
  const [leaf] = chain;
  if (leaf === undefined || chain.includes(undefined))
    throw refused(`${file} contains no complete certificate`);
  return leaf;
}

function parseCertificate(block: string): X509Certificate | undefined {
  try {
    return new X509Certificate(block);
  } catch {
    return undefined;
  }
}

function parseKey(text: string, file: string): KeyObject {
  try {
    return createPrivateKey(text);
  } catch {
    throw refused(`${file} contains no private key that is readable without a passphrase`);
  }
}

/**
 * The text of a regular file of at most 1 MiB. Throws `invalid`, naming the file. Opens without
 * blocking: a FIFO would block a thread for ever.
 */
export async function readPlainFile(path: string): Promise<string> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const { size } = await file.stat().then((stat) => (stat.isFile() ? stat : { size: Infinity }));
    if (size > MAX_FILE_BYTES) throw refused(`${path} is not a regular file of at most 1 MiB`);
    return await file.readFile("utf8");
  } catch (error) {
    if (error instanceof StewardError) throw error;
    throw refused(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
}

function refused(message: string): StewardError {
  const remedy = "put a PEM certificate chain and its unencrypted key there, readable by Steward";
  return new StewardError("invalid", `${message}; ${remedy}`, { rule: "tls_pair", remedy });
}
