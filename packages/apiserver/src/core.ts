import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Admission } from './admission/admission.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import type { Feed } from './cache/feed.ts';
import type { RequestContext } from './context.ts';
import type { RequestControls } from './pipeline/request.ts';
import type { ResourceRegistry } from './registry.ts';
import type { Store } from './store/store.ts';
import type { VirtualResource } from './virtual-resource.ts';

/** Feature gates beyond the defaults of Kubernetes v1.33. */
export type Features = {
  /** Enables watches that start with the initial state (`sendInitialEvents`). */
  readonly watchList: boolean;
};

/** Components of a server that the handlers share. */
export type Core = {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  /**
   * Returns the oldest revision that can be read. Older continue tokens have expired, even if nothing changed since.
   */
  readonly oldestRevision: () => number;
  readonly feed: Feed;
  readonly resources: ResourceRegistry;
  /** Virtual resources, which have no stored objects, by `group/version/plural`. */
  readonly virtual: ReadonlyMap<string, VirtualResource>;
  /** Returns a function that forwards a GET to an aggregated server, if one serves the group version. */
  readonly aggregatedReader: (context: RequestContext) => (() => Promise<unknown>) | undefined;
  readonly admission: Admission;
  readonly authorizer: Authorizer;
  readonly features: Features;
  /** Metrics, audit log, and priority and fairness of every request. */
  readonly controls: RequestControls;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
};
