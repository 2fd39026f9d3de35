/** Everything that can be configured of the monitor, and every rule over several of its keys. */
import type { Schema } from "../../kernel/config/key.ts";
import type { Check } from "../../kernel/config/load.ts";
import { annotationSchema } from "./annotation-keys.ts";
import { cardinalitySchema } from "./cardinality-keys.ts";
import { credentialsSound } from "./checks/credentials.ts";
import {
  annotationsSound,
  collectorsUsed,
  networksTellable,
  versionsUsed,
} from "./checks/inert.ts";
import { feedsSound, windowsSound } from "./checks/logs.ts";
import { cardinalitySound, nodesSound } from "./checks/series.ts";
import { stateCollectorSchema } from "./collector-keys.ts";
import { logSchema } from "./log-keys.ts";
import { networks } from "./network-keys.ts";
import { nodeSchema } from "./node-keys.ts";
import { privacySchema } from "./privacy-keys.ts";
import { providerKeys } from "./provider-keys.ts";
import { upkeepSchema } from "./upkeep-keys.ts";

/** The keys. They stand at the root of the file. */
export const monitorKeys: Schema = [
  ...providerKeys,
  networks,
  ...stateCollectorSchema,
  ...logSchema,
  ...nodeSchema,
  ...cardinalitySchema,
  ...privacySchema,
  ...annotationSchema,
  ...upkeepSchema,
];

/** The rules. */
export const monitorChecks: readonly Check[] = [
  credentialsSound,
  windowsSound,
  feedsSound,
  cardinalitySound,
  nodesSound,
  collectorsUsed,
  versionsUsed,
  networksTellable,
  annotationsSound,
];
