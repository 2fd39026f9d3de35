/**
 * A Paperless-ngx over real HTTP on loopback, in the answers of 3.0.5 or 2.20.15: the part of its
 * API that Steward uses, with its checks, permissions and oddities. It powers the demo and the
 * tests of the archive, which inject faults.
 */
import type { Ids } from "../../kernel/base/ids.ts";
import { Secret } from "../../kernel/base/secret.ts";
import type { Reply } from "../control-plane/reply.ts";
import { startControlPlane, type ControlPlane } from "../control-plane/server.ts";
import { detail, plain, serverError } from "./answers.ts";
import { createEstate } from "./estate.ts";
import { ROUTES, type Operation } from "./operations.ts";
import { perform, type Performing } from "./perform.ts";
import type { Estate, PaperlessOptions, User } from "./types.ts";

/** A running archive. */
export type Paperless = ControlPlane<Operation> & { readonly estate: Estate };

const HEADERS: Readonly<Record<string, string>> = {
  vary: "Accept, Accept-Language, origin, Cookie",
  "content-language": "en-us",
  server: "demo",
};

/** Listens on loopback when it resolves. Throws what the listener throws. */
export async function startPaperless(options: PaperlessOptions): Promise<Paperless> {
  const { clock, ids, log } = options;
  const estate = createEstate(
    { clock },
    options.release ?? "3.0.5",
    options.users ?? defaultUsers(ids),
  );
  options.fill?.(estate);
  const state: Performing = { estate, tokenRequests: [], busyUntilMs: 0 };
  const plane = await startControlPlane<Operation>(
    {
      name: "demo archive",
      routes: ROUTES,
      elsewhere: "unknown",
      headers: HEADERS,
      gzip: true,
      answer: (call) => perform(call, state),
      refuse,
      ...(options.port === undefined ? {} : { port: options.port }),
    },
    { clock, ids, log },
  );
  return Object.assign(plane, { estate });
}

/** Refusals with 400 are JSON; the text of one that begins with "Error" is that of a failure. */
function refuse(status: number, message: string): Reply {
  if (status === 500) return serverError();
  return status === 400 && !message.startsWith("Error")
    ? detail(status, message)
    : plain(status, message);
}

function defaultUsers(ids: Ids): User[] {
  const user = (
    id: number,
    username: string,
    rights: Pick<User, "superuser" | "mayView" | "mayChange">,
  ): User => ({
    id,
    username,
    password: Secret.of(ids.base62(20), "demo"),
    token: Secret.of(Buffer.from(ids.bytes(20)).toString("hex"), "demo"),
    ...rights,
  });
  return [
    user(2, "archivist", { superuser: true, mayView: true, mayChange: true }),
    user(3, "viewer", { superuser: false, mayView: true, mayChange: false }),
    user(4, "nobody", { superuser: false, mayView: false, mayChange: false }),
  ];
}
