/**
 * The table of all methods and routes, built from the descriptors: who may call them, and which of
 * them matches a REST request. A wrong declaration fails the start, never a request.
 */
import { getOption, hasOption, type DescMessage, type DescMethod } from "@bufbuild/protobuf";
import { http as httpOption } from "../src/gen/google/api/annotations_pb.ts";
import type { HttpRule } from "../src/gen/google/api/http_pb.ts";
import { Access, method as methodOption } from "../src/gen/steward/options/v1/options_pb.ts";
import { assert, type StewardError } from "../src/kernel/base/errors.ts";
import type {
  BoundService,
  JsonHandler,
  PlainRoute,
  StreamHandler,
  UnaryHandler,
} from "../src/kernel/service.ts";
import { createBinder, type Binder } from "../src/kernel/wire/bind.ts";
import { restMessage } from "../src/kernel/wire/rest-json.ts";
import { styleOf, type DialectName } from "../src/kernel/wire/style.ts";
import { prepareWriter } from "../src/kernel/wire/write.ts";
import { dialectOf } from "./dialects/by-name.ts";
import {
  createPathTree,
  parseTemplate,
  splitPath,
  type PathTemplate,
  type PathTree,
} from "./template.ts";

/** An rpc with the values of its options. */
export interface Method {
  readonly rpc: DescMethod;
  readonly access: Access;
  readonly dialect: DialectName;
  readonly handler:
    | UnaryHandler<DescMessage, DescMessage>
    | StreamHandler<DescMessage, DescMessage>;
  /** Writes the response itself, in the service's own thread; undefined where REST does. */
  readonly json: JsonHandler | undefined;
  /** Why it is refused, whatever the request is. */
  readonly refusal: StewardError | undefined;
  /** REST status of a success. */
  readonly httpStatus: number;
  /** Other REST statuses with the same response message. */
  readonly otherStatuses: readonly number[];
  /** With `Access.SELF`: the service answers without a credential. */
  readonly noToken: boolean;
  readonly raw: boolean;
  readonly attachment: string;
  readonly bodyBytes: number;
  /** REST refuses a body without a JSON content type. */
  readonly requireJson: boolean;
  /** JSON text of an example body; empty when it is made from the fields. */
  readonly example: string;
}

/** A route that answers with a message. */
export interface RpcRoute {
  readonly kind: "rpc";
  readonly verb: string;
  readonly template: PathTemplate;
  readonly access: Access;
  readonly dialect: DialectName;
  readonly method: Method;
  readonly binder: Binder;
  /** The part of a request that is the body: `*`, a field's name, or empty for none. */
  readonly body: string;
}

/** A route whose response is not a message. */
export interface OtherRoute {
  readonly kind: "plain";
  readonly verb: string;
  readonly template: PathTemplate;
  readonly access: Access;
  readonly dialect: DialectName;
  readonly plain: PlainRoute;
}

export type Route = RpcRoute | OtherRoute;

type Match =
  | {
      readonly kind: "found";
      readonly route: Route;
      /** Path variables, decoded. */ readonly params: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: "wrong_method";
      readonly allow: readonly string[];
      readonly dialect: DialectName;
    }
  | { readonly kind: "malformed" }
  | { readonly kind: "unknown" };

export interface MethodTable {
  /** Every rpc, including streaming ones. */
  readonly methods: readonly Method[];
  /** Also those below a prefix that a plain route owns: they document what it serves. */
  readonly routes: readonly Route[];
  /** HEAD matches GET. A trailing slash is another path. */
  match(verb: string, path: string): Match;
}

/** The verb of a route for all verbs. */
const ANY = "*";

type Leaf = Map<string, Route>;

/**
 * Builds the table of the routes that `keep` accepts, by default all. Throws when a method has no
 * access, two routes collide, or a rule names an unknown field.
 */
export function methodTable(
  services: readonly BoundService[],
  plain: readonly PlainRoute[],
  keep: (route: Route) => boolean = () => true,
): MethodTable {
  const methods = services.flatMap((service) =>
    service.desc.methods.map((rpc) => describeMethod(service, rpc)),
  );
  const routes: readonly Route[] = [
    ...methods.flatMap(restRoutes),
    ...plain.map(plainRoute),
  ].filter(keep);
  const owners = routes
    .filter(ownsPrefix)
    .map(ownerOf)
    .sort((a, b) => b.prefix.length - a.prefix.length);
  const [tree, described] = [createPathTree<Leaf>(), createPathTree<Leaf>()];
  for (const route of routes)
    addRoute(
      owners.some((owner) => route !== owner.route && route.template.text.startsWith(owner.prefix))
        ? described
        : tree,
      route,
    );
  // One request is looked up for its share, its metrics and its response, usually with no other in
  // between.
  let last: { readonly verb: string; readonly path: string; readonly match: Match } | undefined;
  return {
    methods,
    routes,
    match(verb, path) {
      if (last?.verb !== verb || last.path !== path)
        last = { verb, path, match: matchOwner(owners, path) ?? matchPath(tree, verb, path) };
      return last.match;
    },
  };
}

/** Throws when the rpc declares no access. */
export function accessOf(rpc: DescMethod): Access {
  const access =
    rpc.proto.options === undefined ? Access.UNSPECIFIED : getOption(rpc, methodOption).access;
  assert(
    access !== Access.UNSPECIFIED,
    `${rpc.parent.typeName}.${rpc.name} does not say who may call it; set access in option (steward.options.v1.method)`,
  );
  return access;
}

function describeMethod(service: BoundService, rpc: DescMethod): Method {
  const access = accessOf(rpc);
  const style = getOption(rpc, methodOption);
  const dialect = styleOf(rpc.parent.file).dialect;
  return {
    rpc,
    access,
    dialect,
    handler: service.handler(rpc),
    json: service.json?.(rpc),
    refusal: service.refusal,
    raw: style.raw,
    attachment: style.attachment,
    httpStatus: style.httpStatus === 0 ? 200 : style.httpStatus,
    otherStatuses: style.otherStatus,
    noToken: style.noToken,
    bodyBytes: style.bodyBytes === 0n ? dialectOf(dialect).bodyBytes : Number(style.bodyBytes),
    requireJson: style.requireJson,
    example: style.example,
  };
}

/** A stream has no REST route: its counterpart is a plain one. */
function restRoutes(method: Method): RpcRoute[] {
  const { rpc } = method;
  if (rpc.methodKind !== "unary" || !hasOption(rpc, httpOption)) return [];
  prepareWriter(restMessage(rpc));
  const rule = getOption(rpc, httpOption);
  const ignoreUnknown = getOption(rpc, methodOption).ignoreUnknown;
  return [rule, ...rule.additionalBindings].map((binding) => {
    const [verb, path] = verbAndPath(rpc, binding);
    const template = parseTemplate(path);
    const binder = createBinder({
      input: rpc.input,
      variables: template.variables,
      body: binding.body,
      ignoreUnknown,
    });
    return {
      kind: "rpc",
      verb,
      template,
      access: method.access,
      dialect: method.dialect,
      method,
      binder,
      body: binding.body,
    };
  });
}

function verbAndPath(rpc: DescMethod, rule: HttpRule): readonly [string, string] {
  const { pattern } = rule;
  assert(
    pattern.case !== undefined,
    `${rpc.parent.typeName}.${rpc.name} has an http rule without a path`,
  );
  return pattern.case === "custom"
    ? [pattern.value.kind, pattern.value.path]
    : [pattern.case.toUpperCase(), pattern.value];
}

function plainRoute(plain: PlainRoute): OtherRoute {
  assert(
    plain.access !== Access.UNSPECIFIED,
    `${plain.verb} ${plain.template} does not say who may call it`,
  );
  return {
    kind: "plain",
    verb: plain.verb,
    template: parseTemplate(plain.template),
    access: plain.access,
    dialect: plain.dialect,
    plain,
  };
}

/** A plain route for a whole prefix (see `PlainRoute.template`). */
function ownsPrefix({ kind, verb, template }: Route): boolean {
  return (
    kind === "plain" &&
    verb === ANY &&
    template.variables.length === 1 &&
    template.segments.at(-1)?.kind === "rest"
  );
}

interface Owner {
  readonly route: Route;
  /** `/v1/` of `/v1/{rest=**}`. */
  readonly prefix: string;
  readonly variable: string;
}

function ownerOf(route: Route): Owner {
  const { text, variables } = route.template;
  return { route, prefix: text.slice(0, text.lastIndexOf("/") + 1), variable: variables[0] ?? "" };
}

/** Longest prefix first. The rest of the path stays as sent: only its owner decodes it. */
function matchOwner(owners: readonly Owner[], path: string): Match | undefined {
  const owner = owners.find(({ prefix }) => path.startsWith(prefix));
  return owner === undefined
    ? undefined
    : {
        kind: "found",
        route: owner.route,
        params: { [owner.variable]: path.slice(owner.prefix.length) },
      };
}

function addRoute(tree: PathTree<Leaf>, route: Route): void {
  const leaf = tree.leaf(route.template, () => new Map());
  const before = leaf.get(route.verb);
  assert(
    before === undefined,
    `${route.verb} ${route.template.text} collides with ${before?.template.text ?? ""}`,
  );
  leaf.set(route.verb, route);
}

function matchPath(tree: PathTree<Leaf>, verb: string, path: string): Match {
  const segments = splitPath(path);
  if (segments === undefined) return { kind: "malformed" };
  const found = tree.find(segments);
  if (found === undefined) return { kind: "unknown" };
  const route = found.leaf.get(verb === "HEAD" ? "GET" : verb) ?? found.leaf.get(ANY);
  if (route === undefined) return wrongMethod(found.leaf);
  return {
    kind: "found",
    route,
    params: Object.fromEntries(
      route.template.variables.map((name, index) => [name, found.values[index] ?? ""]),
    ),
  };
}

function wrongMethod(leaf: Leaf): Match {
  const allow = [...leaf.keys()].flatMap((verb) => (verb === "GET" ? ["GET", "HEAD"] : [verb]));
  const [first] = leaf.values();
  return { kind: "wrong_method", allow, dialect: first?.dialect ?? "monitor" };
}
