/** Calls that read and validate the policy file of the hosted control plane. */
import { createHash } from "node:crypto";
import { malformed } from "../read.ts";
import { fields } from "../decode/fields.ts";
import type { Policy, PolicyFindings } from "../model.ts";
import type { ControlPlane } from "./control-plane.ts";
import { findingsOf } from "./network.ts";

const HUJSON = "application/hujson";

export const policyCalls = {
  /** Verbatim, comments included; undefined when there is none. */
  policy: (plane: ControlPlane, signal: AbortSignal): Promise<Policy | undefined> =>
    readPolicy(plane, signal),
  /** Changes nothing. */
  validatePolicy,
};

async function readPolicy({ client, path }: ControlPlane, signal: AbortSignal): Promise<Policy> {
  // Accepts only HuJSON, so that the server does not convert to JSON; servers label it with several
  // media types.
  const reply = await client.call(
    {
      operation: "acl",
      method: "GET",
      path: path("acl"),
      read: "bytes",
      headers: { accept: HUJSON },
      accept: `${HUJSON}, application/json, text/plain`,
      idempotent: true,
    },
    signal,
  );
  const text = Buffer.from(reply.body).toString("utf8");
  return {
    text,
    etag: reply.headers["etag"] ?? createHash("sha256").update(reply.body).digest("hex"),
    updatedMs: undefined,
  };
}

async function validatePolicy(
  { name, client, path }: ControlPlane,
  text: string,
  signal: AbortSignal,
): Promise<PolicyFindings> {
  const { value } = await client.call(
    {
      operation: "acl/validate",
      method: "POST",
      path: path("acl/validate"),
      body: { type: HUJSON, bytes: text },
      idempotent: true,
    },
    signal,
  );
  const json = value === undefined ? {} : fields(value);
  if (json === undefined)
    throw malformed(name, "acl/validate", "another thing instead of an object");
  return findingsOf(json);
}
