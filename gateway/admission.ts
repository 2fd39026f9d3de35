/**
 * Classifies requests for the listener before admission: whose share of the capacity a request
 * uses, and whether its response is long-lived. Decided from the head alone; authorization is in
 * `access/authorize.ts`.
 */
import { type DescMethod } from "@bufbuild/protobuf";
import { Access } from "../src/gen/steward/options/v1/options_pb.ts";
import { isLoopback } from "../src/kernel/config/values/address.ts";
import type { ServerRequest } from "../src/kernel/listen/exchange.ts";
import { joinedHeader } from "../src/kernel/listen/headers/header.ts";
import type { Classification, RequestKind } from "../src/kernel/listen/admission/shares.ts";
import type { BoundService, RequestHeaders } from "../src/kernel/service.ts";
import type { AuthOptions } from "./access/authorize.ts";
import { countedAddress, isForwarded, type TrustedProxies } from "./access/client-address.ts";
import { isOperator } from "./access/operator.ts";
import type { MethodTable } from "./methods.ts";
import type { Head } from "./node-http.ts";
import { isProbe } from "./probe.ts";
import { ruleOf } from "./rpc-rules.ts";

export interface ClassifierDeps {
  readonly auth: Pick<AuthOptions, "token" | "adminToken">;
  /** Only the owner can connect; default false. */
  readonly isLocal?: boolean;
  readonly trusted: TrustedProxies;
  readonly table: Pick<MethodTable, "match">;
  /** Every rpc service, including health. */
  readonly services: readonly BoundService[];
  /** Methods whose requests and responses are both streams. */
  readonly conversations: readonly DescMethod[];
  /** The head of a request; undefined when it has no well-formed one. */
  readonly headOf: (request: ServerRequest) => Head | undefined;
}

interface Rule {
  readonly access: Access;
  readonly kind: RequestKind;
  hasCredential?(headers: RequestHeaders): boolean;
}

const UNKNOWN: Rule = { access: Access.PUBLIC, kind: "request" };
const MALFORMED: Classification = { share: "stranger", kind: "request", address: undefined };

/** Prepares the rules of all methods. */
export function createClassifier(deps: ClassifierDeps): (request: ServerRequest) => Classification {
  const methods = new Map([
    ...deps.services.flatMap((service) =>
      service.desc.methods.map((method) => [pathOf(method), methodRule(method, service)] as const),
    ),
    ...deps.conversations.map((method) => [pathOf(method), methodRule(method)] as const),
  ]);
  return (request) => {
    const head = deps.headOf(request);
    if (head === undefined) return MALFORMED;
    const address = countedAddress(head.remote.address, deps.trusted);
    if (isProbe(head)) return { share: "probe", kind: "request", address };
    const rule = methods.get(head.path) ?? routeRule(deps.table, head);
    return {
      share: isOwner(deps, rule, head) ? "owner" : "stranger",
      kind: rule.kind,
      address,
    };
  };
}

function methodRule(method: DescMethod, service?: BoundService): Rule {
  return {
    access: ruleOf(method).access,
    kind: kindOf(method),
    ...(service?.hasCredential === undefined
      ? {}
      : { hasCredential: (headers) => service.hasCredential?.(headers) ?? false }),
  };
}

/** A server stream that watches something is endless; any other ends with its data. */
function kindOf(method: DescMethod): RequestKind {
  if (method.methodKind === "bidi_streaming") return "conversation";
  return method.methodKind === "server_streaming" && method.name.startsWith("Watch")
    ? "stream"
    : "request";
}

function routeRule(table: Pick<MethodTable, "match">, { method, path }: Head): Rule {
  const match = table.match(method, path);
  if (match.kind !== "found") return UNKNOWN;
  const { route } = match;
  if (route.kind === "rpc") return { access: route.access, kind: "request" };
  const { plain } = route;
  return {
    access: route.access,
    kind: plain.longLived === true && method !== "HEAD" ? "stream" : "request",
    ...(plain.hasCredential === undefined
      ? {}
      : { hasCredential: (headers) => plain.hasCredential?.(headers) ?? false }),
  };
}

/**
 * Whether a request carries a valid credential for its route. Where none is required, local
 * programs are trusted, unless they forward somebody else's request.
 */
function isOwner(
  { auth, isLocal = false }: Pick<ClassifierDeps, "auth" | "isLocal">,
  rule: Rule,
  head: Head,
): boolean {
  if (isLocal) return true;
  const authorization = joinedHeader(head.headers["authorization"]);
  const asked = tokensFor(auth, rule.access);
  if (asked.length > 0)
    return authorization !== undefined && asked.some((token) => isOperator(token, authorization));
  if (auth.token === undefined && isLoopback(head.remote.address) && !isForwarded(head.headers))
    return true;
  return rule.access === Access.SELF && rule.hasCredential?.(head.headers) === true; // last: it hashes the token
}

function tokensFor(
  { token, adminToken }: ClassifierDeps["auth"],
  access: Access,
): readonly NonNullable<AuthOptions["token"]>[] {
  const tokens =
    access === Access.SELF
      ? []
      : access === Access.ADMIN
        ? [adminToken ?? token]
        : access === Access.OPERATOR
          ? [token]
          : token === undefined
            ? []
            : [token, adminToken];
  return tokens.filter((each) => each !== undefined);
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}
