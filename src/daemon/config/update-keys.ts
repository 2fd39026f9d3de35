/**
 * Keys of the check for newer Steward releases. Its interval and timeout are those of
 * `version_checks`.
 */
import { defineKeyGroup, keysOf } from "../../kernel/config/key-group.ts";
import type { Schema } from "../../kernel/config/key.ts";
import { httpUrl, optionally } from "../../kernel/config/checks/rules.ts";
import { boolean, text } from "../../kernel/config/values/types.ts";

interface SelfVersionSection {
  readonly enabled: boolean;
  readonly url: string;
}

export const selfVersions = defineKeyGroup<SelfVersionSection>("version_checks.self", {
  enabled: {
    type: boolean,
    default: true,
    help: "Checks url for newer releases of Steward. The demo never checks.",
  },
  url: {
    type: text,
    default: "",
    rule: optionally(httpUrl),
    help: "A release API that answers JSON with tag_name, e.g. https://api.github.com/repos/OWNER/NAME/releases/latest. Empty: no request is sent.",
  },
});

export const updateKeys: Schema = keysOf(selfVersions);
