/**
 * The failures of an operation in OpenAPI: statuses and codes come from the table of error codes,
 * only the texts are kept here.
 */
import { StewardError, type Code } from "../../src/kernel/base/errors.ts";
import type { DialectName } from "../../src/kernel/wire/style.ts";
import { dedupCode, httpStatus } from "../codes.ts";

/** Properties of an operation that select its failure responses. */
export interface OperationFacts {
  readonly dialect: DialectName;
  /** Has path variables. */
  readonly hasVariables: boolean;
  /** Takes parameters or a body. */
  readonly hasInput: boolean;
  readonly hasBody: boolean;
  readonly needsToken: boolean;
  /** May change something: any verb but GET. */
  readonly isWrite: boolean;
  /** Statuses that answer with the message of a success, so that they mean no failure. */
  readonly answered: readonly number[];
}

interface Reason {
  /** Part of a component's name; unique. */
  readonly name: string;
  readonly code: Code;
  readonly applies: (facts: OperationFacts) => boolean;
  readonly text: string;
}

const REASONS: readonly Reason[] = [
  {
    name: "invalid",
    code: "invalid",
    applies: ({ hasInput }) => hasInput,
    text: "a parameter or a field of the body is missing, malformed, of the wrong type or out of range, or the body has an unknown field.",
  },
  {
    name: "unauthenticated",
    code: "unauthenticated",
    applies: ({ needsToken }) => needsToken,
    text: "the token is missing or not valid.",
  },
  {
    name: "policy",
    code: "denied",
    applies: ({ dialect, needsToken }) => dialect === "vault" && needsToken,
    text: "the token's policies do not allow the request.",
  },
  {
    name: "origin",
    code: "denied",
    applies: () => true,
    text: "the `Host` is not an allowed name while no token is set, or a page of another site tries to change something.",
  },
  {
    name: "not_found",
    code: "not_found",
    applies: ({ hasVariables }) => hasVariables,
    text: "nothing exists under this path.",
  },
  {
    name: "conflict",
    code: "conflict",
    applies: ({ dialect, isWrite }) => dialect === "dedup" && isWrite,
    text: "the present state does not allow it.",
  },
  {
    name: "already_running",
    code: "already_running",
    applies: ({ dialect, isWrite }) => dialect === "dedup" && isWrite,
    text: "a job of the same operation is pending or running; the message has its id.",
  },
  {
    name: "too_large",
    code: "too_large",
    applies: ({ hasBody }) => hasBody,
    text: "the body is larger than the method takes.",
  },
  {
    name: "exhausted",
    code: "exhausted",
    applies: () => true,
    text: "more requests at once than can be served; Retry-After says when to try again.",
  },
  {
    name: "internal",
    code: "internal",
    applies: () => true,
    text: "an error of Steward itself; the log has it under the request id.",
  },
  {
    name: "not_ready",
    code: "not_ready",
    applies: () => true,
    text: "the service starts, stops or cannot use its store.",
  },
  {
    name: "sealed",
    code: "sealed",
    applies: ({ dialect, needsToken }) => dialect === "vault" && needsToken,
    text: "the tokens service is sealed.",
  },
  {
    name: "disk_full",
    code: "disk_full",
    applies: ({ isWrite }) => isWrite,
    text: "the disk is full; reading still works.",
  },
];

const CONTENT: Readonly<Record<DialectName, object>> = {
  monitor: { "text/plain": { schema: { type: "string" } } },
  dedup: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
  vault: { "application/json": { schema: { $ref: "#/components/schemas/VaultErrors" } } },
};

/** Collects the failures of all operations: those that are the same become one component. */
export interface FailureDescriber {
  /** The responses of an operation by status, `default` included. */
  failuresOf(facts: OperationFacts): Readonly<Record<string, unknown>>;
  /** The response components that `failuresOf` referred to, by name. */
  components(): Readonly<Record<string, unknown>>;
}

/** Creates an empty collection. */
export function createFailureDescriber(): FailureDescriber {
  const found = new Map<string, unknown>();
  return {
    failuresOf(facts) {
      const { dialect } = facts;
      const byStatus = Map.groupBy(
        REASONS.filter(({ applies }) => applies(facts)),
        ({ code }) => httpStatus(errorOf(code), dialect),
      );
      const responses = [...byStatus]
        .filter(([status]) => !facts.answered.includes(status))
        .map(([status, reasons]) => ({
          status,
          reasons,
          name: `${dialect}.${reasons.map(({ name }) => name).join("-")}`,
        }));
      for (const { name, reasons } of responses) {
        found.set(name, {
          description: describeReasons(reasons, dialect),
          content: CONTENT[dialect],
        });
      }
      return {
        ...Object.fromEntries(
          responses.map(({ status, name }) => [status, { $ref: `#/components/responses/${name}` }]),
        ),
        default: { description: "Any other failure, in the same form.", content: CONTENT[dialect] },
      };
    },
    components: () => Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function errorOf(code: Code): StewardError {
  return new StewardError(code, "");
}

function describeReasons(reasons: readonly Reason[], dialect: DialectName): string {
  return reasons
    .map(({ code, text }) => {
      return dialect === "dedup"
        ? `\`${dedupCode(errorOf(code))}\`: ${text}`
        : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
    })
    .join(" ");
}
