import type { AuditLog, AuditOrigin, AuditRecord } from './audit/audit.ts';
import type { RequestContext } from './context.ts';
import type { BackgroundScheduler } from './flow-control/background.ts';
import type { Admitted, FlowControl } from './flow-control/flow-control.ts';
import { isLongRunning, type ServerMetrics } from './metrics/server-metrics.ts';
import type { User } from './user.ts';

export type FilterChainOptions = {
  readonly flow: FlowControl;
  readonly background: BackgroundScheduler;
  readonly metrics: ServerMetrics;
  /** Audit log; absent if auditing is disabled. */
  readonly audit?: AuditLog | undefined;
};

/** Incoming request, with its authenticated user if it impersonates another. */
export type IncomingRequest = {
  readonly context: RequestContext;
  readonly sender: User;
  /** Returns the origin; called only if the request is audited. */
  readonly origin: () => AuditOrigin;
  /** Background request: no client waits for the result, so other requests run first. */
  readonly isBackground?: boolean;
};

/** One request in the filter chain. */
export type FilteredRequest = {
  readonly record: AuditRecord | undefined;
  /** Assigns seats, at once if possible. Throws a TooManyRequestsError if no seat becomes free in time. */
  admit(): Admitted | Promise<Admitted>;
  /** Releases the seats early, when the request only waits from now on. */
  release(): void;
  /** Ends the request with a status code, or 0 if the client disconnected. */
  end(code: number): void;
};

export type FilterChain = {
  begin(incoming: IncomingRequest): FilteredRequest;
  /** Returns a counter of watch events of a kind. */
  readonly watchEvents: ServerMetrics['watchEvents'];
};

/**
 * Creates the filter chain of every request, from the network and in process: metrics, audit, and priority and
 * fairness.
 */
export function createFilterChain({ flow, background, metrics, audit }: FilterChainOptions): FilterChain {
  return {
    watchEvents: metrics.watchEvents,
    begin({ context, sender, origin, isBackground = false }) {
      const { info, query } = context;
      const done = metrics.begin(info, query);
      const record = audit?.begin({ context, sender, origin });
      let admission: Admitted | undefined;
      let unregister: (() => void) | undefined;
      const keepAdmitted = (admitted: Admitted): Admitted => (admission = admitted);
      const release = (): void => {
        admission?.leave();
        unregister?.();
        unregister = undefined;
      };
      return {
        record,
        admit() {
          if (isBackground) {
            return background.beginBackground().then((endBackground) => {
              unregister = endBackground;
              return Promise.resolve(flow.admit(context)).then(keepAdmitted);
            });
          }
          if (!isLongRunning(info)) unregister = background.beginForeground();
          const pending = flow.admit(context);
          return pending instanceof Promise ? pending.then(keepAdmitted) : keepAdmitted(pending);
        },
        release,
        end(code) {
          release();
          done(code);
          record?.complete(code);
        },
      };
    },
  };
}
