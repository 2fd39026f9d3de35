/** Builds a backend from its declared paths and secret types. */
import { StewardError } from "../../kernel/base/errors.ts";
import { takeFields } from "./fields.ts";
import { backendHelp, pathHelp } from "./help.ts";
import { occurred, unsupportedOperation, unsupportedPath } from "./occurred.ts";
import { pageOf, takePage } from "./list-page.ts";
import { mountPaths, openApiDocument } from "./openapi.ts";
import { createRouter, type Route } from "./router.ts";
import type {
  Backend,
  LogicalRequest,
  LogicalResponse,
  Operation,
  Path,
  PathHandler,
  PathProof,
  RequestProof,
  SecretType,
} from "./types.ts";

export interface BackendSpec {
  readonly type: string;
  readonly paths: readonly Path[];
  readonly secrets?: readonly SecretType[];
  /** Help text of the backend. */
  readonly help: string;
  readonly invalidate?: (key: string) => void;
  /** See `Backend.cached`. */
  readonly cached?: () => number | undefined;
  readonly close?: () => Promise<void>;
}

const LIST_READ_DELETE: ReadonlySet<Operation> = new Set<Operation>(["read", "list", "delete"]);

export function createBackend(spec: BackendSpec): Backend {
  const router = createRouter(spec.paths);
  const secrets = Object.fromEntries((spec.secrets ?? []).map((type) => [type.name, type]));

  async function answer(request: LogicalRequest): Promise<LogicalResponse | undefined> {
    const route = router.route(request.path, request.operation);
    if (route === undefined) throw unsupportedPath();
    const handler = (route.path.operations as Partial<Record<Operation, PathHandler>>)[
      request.operation
    ];
    if (handler === undefined) throw unsupportedOperation();
    const prefix = LIST_READ_DELETE.has(request.operation) ? "Field validation failed: " : "";
    const { page, rest } =
      request.operation === "list"
        ? takePage(request.data, prefix)
        : { page: undefined, rest: request.data };
    const { fields, warnings } = takeFields({
      kinds: route.kinds,
      data: rest,
      fromPath: route.variables,
      unknown: route.path.unknown,
      prefix,
    });
    const asked = { ...request, data: rest, fields };
    const response =
      page === undefined ? await handler(asked) : pageOf(await handler({ ...asked, page }), page);
    return warnings.length === 0
      ? response
      : { ...response, warnings: [...(response?.warnings ?? []), ...warnings] };
  }

  return {
    type: spec.type,
    paths: spec.paths,
    secrets,
    help: spec.help,
    async handle(request) {
      if (request.operation === "help") return helpOn(spec, router.find(request.path), request);
      if (request.operation === "revoke") return revoke(secrets, request);
      if (request.operation === "renew")
        throw new StewardError("invalid", occurred("lease is not renewable"), {
          rule: "renewable",
        });
      // Vault may poll for unfinished work; there never is any.
      if (request.operation === "rollback") return undefined;
      return answer(request);
    },
    async exists(request) {
      const route = router.route(request.path, "create");
      if (route?.path.exists === undefined) return undefined;
      // The body is not parsed before the policy decision.
      const { fields } = takeFields({
        kinds: route.kinds,
        data: {},
        fromPath: route.variables,
        unknown: "keep",
        prefix: "",
      });
      return route.path.exists({ ...request, fields });
    },
    proof(request) {
      const route = router.route(request.path, request.operation);
      const proof = route?.path.proof;
      if (
        route === undefined ||
        proof === undefined ||
        !(request.operation in route.path.operations)
      )
        return undefined;
      return proofIn(route, proof, request);
    },
    find: (path) => router.find(path)?.path,
    ...(spec.cached === undefined ? {} : { cached: spec.cached }),
    invalidate: (key) => spec.invalidate?.(key),
    close: () => spec.close?.() ?? Promise.resolve(),
  };
}

/** If fields cannot be decoded there is no proof; verifying throws their error. */
function proofIn(
  { kinds, variables, path: { unknown } }: Route,
  proof: PathProof,
  request: LogicalRequest,
): RequestProof {
  try {
    const { fields } = takeFields({
      kinds,
      data: request.data,
      fromPath: variables,
      unknown,
      prefix: "",
    });
    return {
      subject: proof.subject({ ...request, fields }),
      verify: () => proof.verify({ ...request, fields }),
    };
  } catch (error) {
    return { subject: undefined, verify: () => Promise.reject(error) };
  }
}

function helpOn(
  spec: BackendSpec,
  route: Route | undefined,
  request: LogicalRequest,
): LogicalResponse {
  const whole = request.path === "";
  if (!whole && route === undefined) throw unsupportedPath();
  const paths = whole || route === undefined ? spec.paths : [route.path];
  const help =
    whole || route === undefined
      ? backendHelp(spec.help, spec.paths)
      : pathHelp(request.path, route.path);
  const items = mountPaths({
    point: request.mountPoint,
    backend: { type: spec.type, paths },
    tag: "secrets",
  });
  const openapi = {
    ...openApiDocument([], { title: spec.type, version: "1", description: spec.help.trim() }),
    paths: items,
  };
  return { data: { help, see_also: null, openapi } };
}

async function revoke(
  secrets: Readonly<Record<string, SecretType>>,
  request: LogicalRequest,
): Promise<undefined> {
  const name = request.secret?.internalData["secret_type"];
  const type = typeof name === "string" && Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  if (type === undefined)
    throw new StewardError(
      "invalid",
      "the lease has no secret type, or one that this backend does not know",
      { rule: "secret_type" },
    );
  await type.revoke(request);
}
