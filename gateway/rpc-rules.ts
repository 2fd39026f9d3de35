/** Who may call an rpc, and in whose style its errors are. */
import type { DescMethod } from "@bufbuild/protobuf";
import { Access } from "../src/gen/steward/options/v1/options_pb.ts";
import { styleOf, type DialectName } from "../src/kernel/wire/style.ts";
import { accessOf } from "./methods.ts";

/** Access and dialect of one rpc method. */
export interface MethodRule {
  readonly access: Access;
  readonly dialect: DialectName;
}

/**
 * Throws when the method does not say who may call it. Health must answer without a credential;
 * reflection shows everything there is.
 */
export function ruleOf(method: DescMethod): MethodRule {
  const { typeName, file } = method.parent;
  if (typeName.startsWith("grpc.health.")) return { access: Access.PUBLIC, dialect: "monitor" };
  if (typeName.startsWith("grpc.")) return { access: Access.OPERATOR, dialect: "monitor" };
  return { access: accessOf(method), dialect: styleOf(file).dialect };
}
