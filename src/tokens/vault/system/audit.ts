/**
 * The audit's devices, which the configuration declares, and the hash by which a value is found in
 * their records.
 */
import {
  AuditHashFieldsSchema,
  MountFieldsSchema,
  EmptyFieldsSchema,
} from "../../../gen/steward/tokens/v1/sys_fields_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { definePath } from "../../logical/define-path.ts";
import type { Path } from "../../logical/types.ts";
import type { SystemDeps } from "./deps.ts";

export function auditPaths({ audit }: SystemDeps): readonly Path[] {
  const declared = (): Promise<never> =>
    Promise.reject(
      new StewardError(
        "invalid",
        "audit devices are declared in the configuration file; change tokens.audit and restart",
        { rule: "declared" },
      ),
    );
  return [
    definePath({
      pattern: "audit",
      also: ["audit/"],
      fields: EmptyFieldsSchema,
      sudo: true,
      operations: {
        read: async () => ({
          data: Object.fromEntries(
            audit.devices().map(({ path, ...device }) => [path, { ...device, local: false, path }]),
          ),
        }),
      },
      synopsis: "The audit devices.",
      description: "Needs sudo.",
    }),
    definePath({
      pattern: "audit/:path*",
      fields: MountFieldsSchema,
      coerce: { config: "any" },
      unknown: "warn",
      sudo: true,
      operations: { write: declared, delete: declared },
      synopsis: "Devices come from the configuration file.",
      description: "A request that could switch the audit off would make it worthless.",
    }),
    definePath({
      pattern: "audit-hash/:path*",
      fields: AuditHashFieldsSchema,
      operations: {
        write: async ({ fields }) => {
          const [device, input] = [
            (fields.text("path") ?? "").replace(/\/$/, ""),
            fields.text("input") ?? "",
          ];
          if (input === "")
            throw new StewardError("invalid", 'the "input" parameter is empty', { field: "input" });
          const hash = await audit.hash(`${device}/`, input);
          if (hash === undefined)
            throw new StewardError("invalid", `unknown audit backend ${device.slice(0, 100)}`, {
              field: "path",
            });
          return { data: { hash } };
        },
      },
      synopsis: "The HMAC of a text, as audit records have it.",
      description: "To find who used a token.",
    }),
  ];
}
