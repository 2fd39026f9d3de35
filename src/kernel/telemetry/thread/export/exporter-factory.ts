/**
 * Creates the exporter of each signal: over the network, renewed when its credentials change, or to
 * standard output.
 */
import { AggregationTemporality } from "@opentelemetry/sdk-metrics";
import type { PushMetricExporter } from "@opentelemetry/sdk-metrics";
import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Clock } from "../../../base/clock.ts";
import type { Concealment } from "../../../base/log/concealment.ts";
import type { Log } from "../../../base/log.ts";
import type { Signal } from "../../status.ts";
import { type Exporter, logExporter, metricExporter, traceExporter } from "./exporters.ts";
import type { WireTarget } from "../options.ts";
import type { EncodedLog } from "./otlp-logs.ts";
import { logOutput, metricOutput, spanOutput } from "./output.ts";
import type { Output, OutputOptions } from "./output.ts";
import { Renewing } from "./renewing.ts";
import { logSize, metricSize, spanSize } from "./sized.ts";
import type { SizeCheck } from "./sized.ts";

export interface ExporterDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly output: Output;
  /** Receives the credentials of every target, also renewed ones. */
  readonly concealment: Concealment;
}

export function createMetricExporter(target: WireTarget, deps: ExporterDeps): PushMetricExporter {
  if (target.protocol === "stdout") return metricOutput(outputOptions(target, deps));
  return {
    ...networked("metrics", target, {
      ...deps,
      make: metricExporter,
      tooLarge: metricSize(target.maxRequestBytes),
    }),
    selectAggregationTemporality: () => AggregationTemporality.CUMULATIVE,
  };
}

export function createLogExporter(target: WireTarget, deps: ExporterDeps): Exporter<EncodedLog[]> {
  if (target.protocol === "stdout") return logOutput(outputOptions(target, deps));
  return networked("logs", target, {
    ...deps,
    make: logExporter,
    tooLarge: logSize(target.maxRequestBytes),
  });
}

export function createTraceExporter(target: WireTarget, deps: ExporterDeps): SpanExporter {
  if (target.protocol === "stdout") return spanOutput(outputOptions(target, deps));
  return networked("traces", target, {
    ...deps,
    make: traceExporter,
    tooLarge: spanSize(target.maxRequestBytes),
  });
}

interface NetworkExporter<T> extends ExporterDeps {
  readonly make: (target: WireTarget) => Exporter<T>;
  readonly tooLarge: SizeCheck<T> | undefined;
}

function networked<T>(
  signal: Signal,
  target: WireTarget,
  { clock, log, make, tooLarge, concealment }: NetworkExporter<T>,
): Exporter<T> {
  const open = (used: WireTarget): Exporter<T> => {
    concealment.add([
      ...Object.values(used.headers),
      ...(used.tls.key === undefined ? [] : [used.tls.key]),
    ]);
    return make(used);
  };
  const renewing = new Renewing(target, { clock, log, signal, make: open });
  return {
    export(items, done) {
      const error = tooLarge?.(items);
      if (error) done({ code: 1, error });
      else renewing.current().export(items, done);
    },
    forceFlush: () => renewing.current().forceFlush(),
    shutdown() {
      renewing.stop();
      return renewing.current().shutdown();
    },
  };
}

function outputOptions({ pretty, timeoutMs }: WireTarget, { output }: ExporterDeps): OutputOptions {
  return { output, pretty, timeoutMs };
}
