/**
 * Finds every service of `proto/` in the code generated from it, so that none has to be listed
 * anywhere.
 */
import type { DescService } from "@bufbuild/protobuf";
import { globSync } from "node:fs";
import { join } from "node:path";

const generated = join(import.meta.dirname, "../src/gen");

/** All `steward.*` services, sorted by name. */
export async function declaredServices(): Promise<readonly DescService[]> {
  const files = globSync("steward/**/*_pb.ts", { cwd: generated });
  const modules = await Promise.all(
    files.map(async (file) => (await import(join(generated, file))) as Record<string, unknown>),
  );
  const services = modules.flatMap((exported) => Object.values(exported)).filter(isService);
  return services.sort((a, b) => (a.typeName < b.typeName ? -1 : 1));
}

function isService(value: unknown): value is DescService {
  return typeof value === "object" && value !== null && "kind" in value && value.kind === "service";
}
