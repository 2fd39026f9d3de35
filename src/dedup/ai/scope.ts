/** Scopes of requests: a type, and the one part beside it that the type takes. */
import { toBinary } from "@bufbuild/protobuf";
import { AiResultFilterSchema, type AiResultFilter } from "../../gen/steward/dedup/v1/ai_pb.ts";
import { StewardError } from "../../kernel/base/errors.ts";

/** The types there are, each with the name of the part that it takes. */
type ScopeTypes<Type extends string> = Readonly<Record<Type, string | undefined>>;

/**
 * The type of a scope. Throws `invalid` for an unknown one, and for a part that the type would
 * ignore: a request with it would take more than was asked for.
 */
export function scopeTypeOf<Type extends string>(
  type: string,
  given: Readonly<Record<string, boolean>>,
  partOf: ScopeTypes<Type>,
): Type {
  const types = Object.keys(partOf) as Type[];
  const known = types.find((one) => one === type);
  if (known === undefined)
    throw new StewardError(
      "invalid",
      `scope.type must be ${types.slice(0, -1).join(", ")} or ${types.at(-1)}`,
      { field: "scope.type" },
    );
  for (const [part, isGiven] of Object.entries(given)) {
    const owner = types.find((one) => partOf[one] === part);
    if (!isGiven || owner === known) continue;
    const message = `scope.${part} goes with scope.type ${owner}, and ${known} would ignore it`;
    throw new StewardError("invalid", message, {
      field: `scope.${part}`,
      remedy: `set scope.type to ${owner}, or leave scope.${part} out`,
    });
  }
  return known;
}

/** Whether a filter leaves anything out; an empty one is no more than none. */
export function isNarrowing(filters: AiResultFilter | undefined): boolean {
  return filters !== undefined && toBinary(AiResultFilterSchema, filters).byteLength > 0;
}
