/** Describes the settings that can be changed while the process runs. */
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { SettingSchema } from "../../gen/steward/dedup/v1/config_pb.ts";
import type { Key } from "../../kernel/config/key.ts";
import type { Settings } from "../../kernel/settings/types.ts";
import { aiSettings } from "../ai/keys.ts";
import { planBands } from "../analysis/band-plan.ts";
import type { AnalysisParameters } from "../analysis/parameters.ts";
import { analysisKeys } from "../analysis/settings.ts";

type Setting = MessageInitShape<typeof SettingSchema>;

export interface SettingListDeps {
  readonly settings: Pick<Settings, "pinned">;
  /** As they are set now. */
  readonly parameters: () => AnalysisParameters;
}

/** The number of bands is chosen from the other settings unless it was set. */
function describeBands(bands: Setting, parameters: AnalysisParameters): Setting {
  return {
    ...bands,
    defaultValue: String(planBands(parameters)),
    help: "Number of bands of a signature; texts that agree in one band are compared. More bands find more pairs and compare more. The default is the fewest that find 99.9 % of the pairs that can just reach the threshold.",
    expects: `a whole number from 1 to ${bands.maximum}`,
    minimum: 1,
  };
}

/** `values` are those of `GET /api/v1/config`, by name. */
export function listSettings(
  { settings, parameters }: SettingListDeps,
  values: Readonly<Record<string, string>>,
): readonly Setting[] {
  const describe =
    (prefix: string) =>
    ([name, key]: readonly [string, Key<unknown>]): Setting => ({
      name: `${prefix}${name}`,
      value: values[`${prefix}${name}`] ?? "",
      defaultValue: textOf(key.type.show(key.default)),
      help: key.help,
      expects: key.type.expects,
      fixed: settings.pinned(key),
      ...boundsOf(key),
    });
  return [
    ...Object.entries<Key<unknown>>(analysisKeys)
      .map(describe("dedup."))
      .map((each) => (each.name === "dedup.numBands" ? describeBands(each, parameters()) : each)),
    ...Object.entries(aiSettings as Readonly<Record<string, Key<unknown>>>).map(describe("ai.")),
  ];
}

function textOf(shown: ReturnType<Key<unknown>["type"]["show"]>): string {
  return typeof shown === "object" ? JSON.stringify(shown) : String(shown);
}

function boundsOf({ type }: Key<unknown>): Pick<Setting, "minimum" | "maximum" | "choices"> {
  const { minimum, maximum, enum: choices } = type.accepts;
  return {
    ...(typeof minimum === "number" ? { minimum } : {}),
    ...(typeof maximum === "number" ? { maximum } : {}),
    ...(Array.isArray(choices) ? { choices: choices.map(String) } : {}),
  };
}
