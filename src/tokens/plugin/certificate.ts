/**
 * The plugin's key and self-signed certificate, made at each start and kept in memory. The host
 * trusts exactly this certificate, which it reads from the handshake line.
 */
import { generateKeyPair, sign } from "node:crypto";
import { promisify } from "node:util";
import { AsnConvert, OctetString } from "@peculiar/asn1-schema";
import {
  AlgorithmIdentifier,
  AttributeTypeAndValue,
  AttributeValue,
  BasicConstraints,
  Certificate,
  ExtendedKeyUsage,
  Extension,
  Extensions,
  GeneralName,
  id_ce_basicConstraints,
  id_ce_extKeyUsage,
  id_ce_keyUsage,
  id_ce_subjectAltName,
  id_kp_clientAuth,
  id_kp_serverAuth,
  KeyUsage,
  KeyUsageFlags,
  Name,
  RelativeDistinguishedName,
  SubjectAlternativeName,
  SubjectPublicKeyInfo,
  TBSCertificate,
  Validity,
  Version,
} from "@peculiar/asn1-x509";
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";

/** The name that both sides verify. */
export const TLS_NAME = "localhost";

const COMMON_NAME = "2.5.4.3";
const ECDSA_WITH_SHA256 = "1.2.840.10045.4.3.2";

/** The other side's clock is this one's, but may be set while the process starts. */
const BACKDATED_MS = 30_000;

/** A process may run for years, and cannot get another certificate. */
const LASTS_MS = 30 * 365 * 24 * 60 * 60 * 1_000;

export interface Identity {
  /** PEM, PKCS#8. */
  readonly privateKey: string;
  /** PEM. */
  readonly certificate: string;
  readonly der: Uint8Array;
}

/** P-256: made in a millisecond, and every TLS library takes it. */
export async function createIdentity({
  clock,
  ids,
}: {
  readonly clock: Clock;
  readonly ids: Ids;
}): Promise<Identity> {
  const { privateKey, publicKey } = await promisify(generateKeyPair)("ec", {
    namedCurve: "P-256",
  });
  const algorithm = new AlgorithmIdentifier({ algorithm: ECDSA_WITH_SHA256 });
  const name = new Name([
    new RelativeDistinguishedName([
      new AttributeTypeAndValue({
        type: COMMON_NAME,
        value: new AttributeValue({ utf8String: TLS_NAME }),
      }),
    ]),
  ]);
  const nowMs = clock.now();
  const tbsCertificate = new TBSCertificate({
    version: Version.v3,
    serialNumber: serialNumber(ids),
    signature: algorithm,
    issuer: name,
    subject: name,
    validity: new Validity({
      notBefore: new Date(nowMs - BACKDATED_MS),
      notAfter: new Date(nowMs + LASTS_MS),
    }),
    subjectPublicKeyInfo: AsnConvert.parse(
      publicKey.export({ type: "spki", format: "der" }),
      SubjectPublicKeyInfo,
    ),
    extensions: extensions(),
  });
  const signature = sign("sha256", Buffer.from(AsnConvert.serialize(tbsCertificate)), privateKey);
  const der = new Uint8Array(
    AsnConvert.serialize(
      new Certificate({
        tbsCertificate,
        signatureAlgorithm: algorithm,
        signatureValue: new Uint8Array(signature).buffer,
      }),
    ),
  );
  return {
    privateKey: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    certificate: `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString("base64").replaceAll(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
    der,
  };
}

/** 127 random bits: positive, and in the shortest form that DER demands. */
function serialNumber(ids: Ids): ArrayBuffer {
  const bytes = new Uint8Array(ids.bytes(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes.buffer;
}

/** It is its own authority, server towards the host and client towards the host's listeners. */
function extensions(): Extensions {
  const usage =
    KeyUsageFlags.digitalSignature |
    KeyUsageFlags.keyEncipherment |
    KeyUsageFlags.keyAgreement |
    KeyUsageFlags.keyCertSign;
  return new Extensions([
    extension(id_ce_basicConstraints, true, new BasicConstraints({ cA: true })),
    extension(id_ce_keyUsage, true, new KeyUsage(usage)),
    extension(id_ce_extKeyUsage, false, new ExtendedKeyUsage([id_kp_clientAuth, id_kp_serverAuth])),
    extension(
      id_ce_subjectAltName,
      false,
      new SubjectAlternativeName([new GeneralName({ dNSName: TLS_NAME })]),
    ),
  ]);
}

function extension(extnID: string, critical: boolean, value: object): Extension {
  return new Extension({
    extnID,
    critical,
    extnValue: new OctetString(AsnConvert.serialize(value)),
  });
}
