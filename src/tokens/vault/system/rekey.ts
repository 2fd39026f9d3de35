/** `sys/rekey/*`: new key shares. Whoever gives enough of the present ones needs no token. */
import {
  EmptyFieldsSchema,
  RekeyFieldsSchema,
  ShareFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Fields, LogicalResponse, Path } from "../../logical/types.ts";
import type { Rekey, Rekeyed } from "../seal/rekey.ts";
import type { ShareTerms } from "../seal/types.ts";
import { bare } from "./bare.ts";
import type { SystemDeps } from "./deps.ts";
import { openByShares, type ShareChecks } from "./share-proof.ts";
import { refusePgp, shareIn, shareTexts, termsIn } from "./share-texts.ts";

export function rekeyPaths({ shared }: Pick<SystemDeps, "shared">): readonly Path[] {
  const rekey = (): Rekey => {
    if (shared === undefined) throw needsShares();
    return shared.rekey;
  };
  // With a key file there is nothing to prove.
  const open = (name: string, checks: ShareChecks): ReturnType<typeof openByShares> =>
    shared === undefined ? {} : openByShares(name, checks);
  const status = (): LogicalResponse => bare(statusOf(rekey()));
  const verification = (): LogicalResponse => {
    const { nonce, started, threshold, shares, progress } = rekey().verification();
    return bare({ nonce, started, t: threshold, n: shares, progress });
  };
  return [
    definePath({
      pattern: "rekey/init",
      fields: RekeyFieldsSchema,
      unknown: "warn",
      ...open("rekey/init", { write: (fields) => rekey().checkStart(newTerms(fields)) }),
      operations: {
        read: async () => status(),
        write: async ({ fields }) => {
          const verify = fields.boolean("require_verification") === true;
          rekey().start(newTerms(fields), { verify });
          return status();
        },
        delete: async () => {
          rekey().cancel();
          return undefined;
        },
      },
      synopsis: "Start, show or cancel a rekey.",
      description: "New key shares replace the present ones. Needs tokens.seal.type shamir.",
    }),
    definePath({
      pattern: "rekey/update",
      fields: ShareFieldsSchema,
      unknown: "warn",
      ...open("rekey/update", {
        write: (fields) => {
          const { key, nonce } = shareIn(fields);
          rekey().checkUpdate(key, nonce);
        },
      }),
      operations: {
        write: async ({ fields }) => {
          const { key, nonce } = shareIn(fields);
          const made = await rekey().update(key, nonce);
          return made === undefined ? status() : madeAnswer(made);
        },
      },
      synopsis: "Give a present key share to the rekey.",
      description: "The answer to the last one has the new shares, once.",
    }),
    definePath({
      pattern: "rekey/verify",
      fields: ShareFieldsSchema,
      unknown: "warn",
      ...open("rekey/verify", {
        write: (fields) => {
          const { key, nonce } = shareIn(fields);
          rekey().checkVerify(key, nonce);
        },
        others: verification,
      }),
      operations: {
        read: async () => verification(),
        write: async ({ fields }) => {
          const { key, nonce } = shareIn(fields);
          const verified = await rekey().verify(key, nonce);
          return verified === undefined
            ? verification()
            : bare({ nonce: verified, complete: true });
        },
        delete: async () => {
          rekey().restartVerification();
          return verification();
        },
      },
      synopsis: "Give a new key share back, so that the new ones become valid.",
      description: "For a rekey with require_verification.",
    }),
    definePath({
      pattern: "rekey/backup",
      also: ["rekey/recovery-key-backup"],
      fields: EmptyFieldsSchema,
      unknown: "warn",
      sudo: true,
      operations: {
        read: () => Promise.reject(new StewardError("invalid", "no backed-up keys found")),
        delete: async () => undefined,
      },
      synopsis: "Key shares that were kept encrypted.",
      description: "There are none: Steward keeps no shares. Needs sudo.",
    }),
    definePath({
      pattern: "rekey-recovery-key/init",
      also: ["rekey-recovery-key/update", "rekey-recovery-key/verify"],
      fields: EmptyFieldsSchema,
      unknown: "keep",
      ...open("rekey-recovery-key", { write: noRecovery, others: noRecovery }),
      operations: { read: noRecovery, write: noRecovery, delete: noRecovery },
      synopsis: "Not supported.",
      description: "There are no recovery keys.",
    }),
  ];
}

/** Throws `invalid` for fields that a start cannot have. */
function newTerms(fields: Fields): ShareTerms {
  if (fields.boolean("backup") === true && (fields.texts("pgp_keys") ?? []).length === 0)
    throw new StewardError(
      "invalid",
      "cannot request a backup of the new keys without providing PGP keys for encryption",
      { field: "backup" },
    );
  refusePgp("pgp_keys", fields.texts("pgp_keys"));
  return termsIn(fields);
}

function statusOf(rekey: Rekey): Record<string, unknown> {
  const { nonce, started, threshold, shares, progress, required, ...verification } = rekey.status();
  return {
    nonce,
    started,
    t: threshold ?? 0,
    n: shares ?? 0,
    progress,
    required,
    pgp_fingerprints: null,
    backup: false,
    verification_required: verification.verificationRequired,
    ...nonceOf(verification.verificationNonce),
  };
}

function madeAnswer({ nonce, shares, verificationNonce, sent }: Rekeyed): LogicalResponse {
  return bare(
    {
      nonce,
      complete: true,
      ...shareTexts(shares),
      pgp_fingerprints: null,
      backup: false,
      verification_required: verificationNonce !== undefined,
      ...nonceOf(verificationNonce),
    },
    { sent },
  );
}

function nonceOf(nonce: string | undefined): Record<string, string> {
  return nonce === undefined ? {} : { verification_nonce: nonce };
}

function noRecovery(): Promise<never> {
  return Promise.reject(
    new StewardError("invalid", "recovery rekeying not supported", { rule: "recovery keys" }),
  );
}

function needsShares(): StewardError {
  return new StewardError(
    "invalid",
    "rekey needs tokens.seal.type shamir; the key file of this store is replaced by steward rotate-key (docs/key-rotation.md)",
    { rule: "seal type" },
  );
}
