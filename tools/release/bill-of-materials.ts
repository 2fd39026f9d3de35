/** The software bill of materials (CycloneDX): every package of the lock file that a release can hold. */
import { createHash } from "node:crypto";
import { npm, type Commit } from "./source.ts";

interface Bill {
  serialNumber: string;
  metadata: { timestamp: string; tools?: unknown; component: { name: string } };
}

/**
 * npm's own bill without what differs from run to run: the time is that of the commit, the serial
 * number is derived from its hash, and npm's version is left out.
 */
export function billOfMaterials(folder: string, { hash, time }: Commit): string {
  const bill = JSON.parse(
    npm(
      folder,
      "sbom",
      "--sbom-format=cyclonedx",
      "--sbom-type=application",
      "--omit=dev",
      "--package-lock-only",
    ),
  ) as Bill;
  bill.serialNumber = `urn:uuid:${uuidOf(hash)}`;
  bill.metadata.timestamp = new Date(time * 1000).toISOString();
  bill.metadata.component.name = "steward";
  delete bill.metadata.tools;
  return `${JSON.stringify(bill, undefined, 2)}\n`;
}

/** Version 8 of RFC 9562: bits of one's own choice, here a digest. */
function uuidOf(text: string): string {
  const digest = createHash("sha256").update(text).digest("hex");
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `8${digest.slice(13, 16)}`,
    `8${digest.slice(17, 20)}`,
    digest.slice(20, 32),
  ].join("-");
}
