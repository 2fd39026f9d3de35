/**
 * Sums the figures of all writers but the host's own. Drops of a writer stay counted after its
 * thread is gone.
 */
import type { WriterFigures } from "../messages.ts";
import type { OutboxStatus } from "../writer/outbox.ts";
import { noOtherWriters, type OtherWriters } from "../status.ts";

export class WriterFiguresByPort {
  readonly #current = new Map<object, WriterFigures>();
  #gone: Pick<OtherWriters, "logs" | "traces"> = noOtherWriters;

  /** `port` identifies the writer. */
  set(port: object, figures: WriterFigures): void {
    this.#current.set(port, figures);
  }

  close(port: object): void {
    const figures = this.#current.get(port);
    if (figures === undefined) return;
    this.#current.delete(port);
    this.#gone = {
      logs: sum([this.#gone.logs, losses(figures.logs)]),
      traces: sum([this.#gone.traces, losses(figures.spans)]),
    };
  }

  view(): OtherWriters {
    const all = [...this.#current.values()];
    return {
      logs: sum([this.#gone.logs, ...all.map(({ logs }) => logs)]),
      traces: sum([this.#gone.traces, ...all.map(({ spans }) => spans)]),
      series: all.flatMap(({ series }) => series),
    };
  }
}

function losses({ dropped, lost }: OutboxStatus): OutboxStatus {
  return { held: 0, capacity: 0, dropped, lost };
}

function sum(all: readonly OutboxStatus[]): OutboxStatus {
  const of = (name: keyof OutboxStatus): number =>
    all.reduce((total, each) => total + each[name], 0);
  return { held: of("held"), capacity: of("capacity"), dropped: of("dropped"), lost: of("lost") };
}
