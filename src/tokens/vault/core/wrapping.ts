/**
 * Response wrapping: the envelope is stored sealed under a single-use token and deleted with it.
 */
import { create } from "@bufbuild/protobuf";
import { WrappedRowSchema } from "../../../gen/steward/state/v1/tokens_mounts_pb.ts";
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Secret } from "../../../kernel/base/secret.ts";
import type { Env, Tx } from "../../../kernel/state/types.ts";
import { wrappedAnswers } from "../mounts/tables.ts";
import { WRAPPING_POLICY } from "../policies/built-in.ts";
import { isLongerThan } from "../../logical/json.ts";
import type { CreatedToken, Leases, Tokens } from "../types.ts";
import type { CoreAnswer, WrappedInfo, WrapInfo, Wrapping } from "./types.ts";

/** Largest envelope, since each is stored in one transaction. */
const ENVELOPE_BYTES = 512 * 1024;

const GONE = "wrapping token is not valid or does not exist";

/** `envelope` serializes a response as it would have been sent. */
export interface WrappingDeps {
  readonly env: Env;
  readonly tokens: Tokens;
  readonly leases: Pick<Leases, "endIn">;
  readonly clock: Clock;
  readonly envelope: (answer: CoreAnswer) => Promise<string>;
}

/** Metadata of a wrapped response. */
interface About {
  readonly path: string;
  readonly ttlMs: number;
  /** Lease in the response; empty for none. */
  readonly leaseId: string;
}

/**
 * One per environment. A response is deleted with its token; a lease in an unfetched response is
 * then revoked, since nobody holds its secret.
 */
export function createWrapping({ env, tokens, leases, clock, envelope }: WrappingDeps): Wrapping {
  tokens.onEnd((tx, { key }) => {
    const unfetched = tx.get(wrappedAnswers, key);
    if (unfetched === undefined) return;
    tx.delete(wrappedAnswers, key);
    if (unfetched.leaseId !== "") leases.endIn(tx, unfetched.leaseId);
  });
  const find = (token: Secret): { key: string; info: WrappedInfo; text: string } => {
    const entry = tokens.lookup(token);
    const row =
      entry === undefined
        ? undefined
        : env.read((snapshot) => snapshot.get(wrappedAnswers, entry.key));
    if (entry === undefined || row === undefined)
      throw new StewardError("invalid", GONE, { rule: "wrapping_token" });
    return {
      key: entry.key,
      text: row.envelope,
      info: { creationPath: row.creationPath, createdAtMs: row.createdAtMs, ttlMs: row.ttlMs },
    };
  };
  const put = (tx: Tx, text: string, { path, ttlMs, leaseId }: About): CreatedToken => {
    const token = tokens.createIn(tx, {
      type: "service",
      policies: [WRAPPING_POLICY],
      path,
      displayName: "response-wrapping",
      numUses: 0,
      parent: undefined,
      ttlMs,
      explicitMaxTtlMs: ttlMs,
      periodMs: 0,
      renewable: false,
    });
    tx.put(
      wrappedAnswers,
      token.entry.key,
      create(WrappedRowSchema, {
        envelope: text,
        creationPath: path,
        createdAtMs: clock.now(),
        ttlMs,
        leaseId,
      }),
    );
    return token;
  };
  const shown = (
    made: CreatedToken,
    { path, ttlMs }: { readonly path: string; readonly ttlMs: number },
  ): WrapInfo => ({
    token: made.id.use((value) => value),
    accessor: made.entry.accessor,
    ttl: Math.round(ttlMs / 1000),
    creation_time: new Date(clock.now()).toISOString(),
    creation_path: path,
  });
  return {
    async wrap(answer, about) {
      const tooLong = isLongerThan(answer.response?.data, ENVELOPE_BYTES);
      const text = tooLong ? "" : await envelope(answer);
      if (tooLong || Buffer.byteLength(text) > ENVELOPE_BYTES)
        throw new StewardError(
          "too_large",
          `a response of more than ${ENVELOPE_BYTES} bytes cannot be wrapped; send the request without X-Vault-Wrap-TTL`,
        );
      const made = await env.write((tx) =>
        put(tx, text, { ...about, leaseId: answer.lease?.id ?? "" }),
      );
      return {
        token: made.id,
        info: {
          ...shown(made, about),
          ...(answer.auth === undefined ? {} : { wrapped_accessor: answer.auth.entry.accessor }),
        },
      };
    },
    async rewrap(token) {
      const { key, info } = find(token);
      const about = { path: info.creationPath, ttlMs: info.ttlMs };
      // One transaction, so that the response is always under exactly one token.
      const made = await env.write((tx) => {
        const row = tx.get(wrappedAnswers, key);
        if (row === undefined) throw new StewardError("invalid", GONE, { rule: "wrapping_token" });
        tx.delete(wrappedAnswers, key);
        return put(tx, row.envelope, { ...about, leaseId: row.leaseId });
      });
      await tokens.revoke(key);
      return shown(made, about);
    },
    async unwrap(token) {
      const { key, info } = find(token);
      // Read and delete in one transaction: only one of two callers succeeds.
      const text = await env.write((tx) => {
        const row = tx.get(wrappedAnswers, key);
        tx.delete(wrappedAnswers, key);
        return row?.envelope;
      });
      if (text === undefined) throw new StewardError("invalid", GONE, { rule: "wrapping_token" });
      await tokens.revoke(key);
      return { envelope: text, info };
    },
    lookup: (token) => find(token).info,
  };
}
