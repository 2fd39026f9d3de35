/** Access and error style of rpcs. */
import type { DescMethod } from "@bufbuild/protobuf";
import { Access } from "../src/gen/steward/options/v1/options_pb.ts";
import { styleOf, type DialectName } from "../src/kernel/wire/style.ts";
import { accessOf } from "./methods.ts";

export interface MethodRule {
  readonly access: Access;
  readonly dialect: DialectName;
}

/**
 * Throws when the method declares no access. Health must answer without a credential; reflection
 * shows the whole API.
 */
export function ruleOf(method: DescMethod): MethodRule {
  const { typeName, file } = method.parent;
  if (typeName.startsWith("grpc.health.")) return { access: Access.PUBLIC, dialect: "monitor" };
  if (typeName.startsWith("grpc.")) return { access: Access.OPERATOR, dialect: "monitor" };
  return { access: accessOf(method), dialect: styleOf(file).dialect };
}
