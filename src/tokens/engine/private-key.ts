/**
 * Parses the app's private key: repairs common paste damage, verifies that it signs, and normalises
 * it.
 */
import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import type { StewardError } from "../../kernel/base/errors.ts";
import { logicalError, occurred } from "../logical/occurred.ts";

const MIN_BITS = 1024;
const USUAL_BITS = 2048;

/** Far above a key of 16,384 bits. */
const MAX_TEXT_LENGTH = 65_536;

/** A key that can sign. */
export interface AppKey {
  readonly object: KeyObject;
  /** PKCS#1, which every reader of the store understands. */
  readonly pem: string;
  readonly bits: number;
  readonly warnings: readonly string[];
}

/** Throws `invalid` with the cause, never quoting the key. */
export function readPrivateKey(text: string): AppKey {
  const object = parse(repair(text));
  if (object.asymmetricKeyType !== "rsa")
    throw refused(
      "unable to parse private key: it is not an RSA key; the platform's apps have RSA keys, generate one in the app's settings",
    );
  const bits = object.asymmetricKeyDetails?.modulusLength ?? 0;
  if (bits < MIN_BITS)
    throw refused(
      `unable to parse private key: it has ${bits} bits, at least ${MIN_BITS} are needed; generate a new one in the app's settings`,
    );
  assertCanSign(object);
  const warnings =
    bits < USUAL_BITS
      ? [
          `the private key has ${bits} bits; generate one of at least ${USUAL_BITS} in the app's settings`,
        ]
      : [];
  return { object, pem: String(object.export({ type: "pkcs1", format: "pem" })), bits, warnings };
}

// The first PEM block, with newlines that may have become `\n`, spaces or nothing.
function repair(text: string): string {
  if (text.length > MAX_TEXT_LENGTH) throw notPem(`it has more than ${MAX_TEXT_LENGTH} characters`);
  const lines = text.replaceAll(String.raw`\r`, "").replaceAll(String.raw`\n`, "\n");
  const begin = /-----BEGIN ([A-Z0-9 ]{1,40})-----/.exec(lines);
  const rest = begin === null ? "" : lines.slice(begin.index + begin[0].length);
  const end = /-----END ([A-Z0-9 ]{1,40})-----/.exec(rest);
  const label = begin?.[1];
  if (end === null || label === undefined || label !== end[1])
    throw notPem("there is no complete block from -----BEGIN to -----END");
  if (label !== "RSA PRIVATE KEY" && label !== "PRIVATE KEY")
    throw notPem(`the block is a ${label}`);
  const body = rest.slice(0, end.index);
  if (body.includes(":")) throw notPem("it is encrypted with a passphrase");
  const base64 = body.replaceAll(/\s+/g, "");
  return `-----BEGIN ${label}-----\n${base64.replaceAll(/.{64}(?=.)/g, "$&\n")}\n-----END ${label}-----\n`;
}

function parse(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    // The library's message does not help and might quote the key.
    throw refused(
      "unable to parse private key: the block is damaged or incomplete; paste the complete file from the platform",
    );
  }
}

function assertCanSign(key: KeyObject): void {
  const probe = Buffer.from("probe");
  try {
    if (verify("RSA-SHA256", probe, createPublicKey(key), sign("RSA-SHA256", probe, key))) return;
  } catch {
    // Handled below: inconsistent key numbers may fail in either place.
  }
  throw refused(
    "unable to parse private key: it cannot sign; paste the complete file from the platform",
  );
}

function notPem(why: string): StewardError {
  return refused(
    `key is not a PEM formatted RSA private key: ${why}; give the unencrypted file that the platform gave, PKCS#1 or PKCS#8`,
  );
}

function refused(text: string): StewardError {
  return logicalError(occurred(text), { field: "prv_key", rule: "private_key" });
}
