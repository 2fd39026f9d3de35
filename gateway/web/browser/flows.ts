/** The island of `/flows`. */
import type { FlowReport } from "../../../src/gen/flows-json.ts";
import {
  factsOf,
  FLOW_PARAMS,
  FLOW_SIZES,
  withNewer,
  withOlder,
  type FlowFacts,
} from "../flows/flow-facts.ts";
import { flowsPage } from "../flows/flows-page.ts";
import { startLiveList } from "./live-list.ts";

startLiveList<FlowReport, FlowFacts>({
  path: "/api/flows.json",
  params: FLOW_PARAMS,
  fixed: FLOW_SIZES,
  factsOf,
  withNewer,
  withOlder,
  view: flowsPage,
});
