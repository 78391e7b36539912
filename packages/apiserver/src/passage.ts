import type { AuditLog, AuditOrigin, AuditRecord } from './audit/audit.ts';
import type { RequestContext } from './context.ts';
import type { Background } from './flow-control/background.ts';
import type { Admitted, FlowControl } from './flow-control/flow-control.ts';
import { isLongRunning, type ServerMetrics } from './metrics/server-metrics.ts';
import type { User } from './user.ts';

export type PassageParts = {
  readonly flow: FlowControl;
  readonly background: Background;
  readonly metrics: ServerMetrics;
  /** Absent if nothing is recorded. */
  readonly audit?: AuditLog | undefined;
};

/** A request, and who sent it where they stand for someone else. */
export type Arrival = {
  readonly context: RequestContext;
  readonly sender: User;
  /** Asked for only if the request is recorded. */
  readonly origin: () => AuditOrigin;
  /** Nobody waits for what comes of it: it lets others go first. */
  readonly isBackground?: boolean;
};

/** The way of one request through the server. */
export type Passage = {
  readonly record: AuditRecord | undefined;
  /** Gives it a seat, at once if there is room. A TooManyRequestsError says that there is none in time. */
  enter(): Admitted | Promise<Admitted>;
  /** Gives its seat to the next, where what follows is only waiting. */
  leave(): void;
  /** It is over, with this code, or 0 if nobody was there to be answered. */
  end(code: number): void;
};

export type Passages = {
  begin(arrival: Arrival): Passage;
  /** Counts the events that watchers of a kind are sent. */
  readonly watchEvents: ServerMetrics['watchEvents'];
};

/** What is done about every request, whichever way it came: it is counted, recorded, and given a seat. */
export function createPassages({ flow, background, metrics, audit }: PassageParts): Passages {
  return {
    watchEvents: metrics.watchEvents,
    begin({ context, sender, origin, isBackground = false }) {
      const { info, query } = context;
      const done = metrics.begin(info, query);
      const record = audit?.begin({ context, sender, origin });
      let seat: Admitted | undefined;
      let letOthersGo: (() => void) | undefined;
      const seated = (admitted: Admitted): Admitted => (seat = admitted);
      const leave = (): void => {
        seat?.leave();
        letOthersGo?.();
        letOthersGo = undefined;
      };
      return {
        record,
        enter() {
          if (isBackground) {
            return background.turn().then((isOver) => {
              letOthersGo = isOver;
              return Promise.resolve(flow.admit(context)).then(seated);
            });
          }
          if (!isLongRunning(info)) letOthersGo = background.somebodyWaits();
          const entering = flow.admit(context);
          return entering instanceof Promise ? entering.then(seated) : seated(entering);
        },
        leave,
        end(code) {
          leave();
          done(code);
          record?.complete(code);
        },
      };
    },
  };
}
