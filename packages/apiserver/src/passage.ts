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
  /** Audit log; absent if auditing is disabled. */
  readonly audit?: AuditLog | undefined;
};

/** Incoming request, with its authenticated user if it impersonates another. */
export type Arrival = {
  readonly context: RequestContext;
  readonly sender: User;
  /** Returns the origin; called only if the request is audited. */
  readonly origin: () => AuditOrigin;
  /** Background request: no client waits for the result, so other requests run first. */
  readonly isBackground?: boolean;
};

/** One request in the filter chain. */
export type Passage = {
  readonly record: AuditRecord | undefined;
  /** Assigns seats, at once if possible. Throws a TooManyRequestsError if no seat becomes free in time. */
  enter(): Admitted | Promise<Admitted>;
  /** Releases the seats early, when the request only waits from now on. */
  leave(): void;
  /** Ends the request with a status code, or 0 if the client disconnected. */
  end(code: number): void;
};

export type Passages = {
  begin(arrival: Arrival): Passage;
  /** Returns a counter of watch events of a kind. */
  readonly watchEvents: ServerMetrics['watchEvents'];
};

/**
 * Creates the filter chain of every request, from the network and in process: metrics, audit, and priority and
 * fairness.
 */
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
