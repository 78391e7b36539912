import type { Clock } from '@kruise/values/clock';
import type { Random } from '@kruise/values/random';
import type { Admission } from './admission/admission.ts';
import type { Authorizer } from './authorization/authorizer.ts';
import type { Feed } from './cache/feed.ts';
import type { RequestContext } from './context.ts';
import type { Passages } from './passage.ts';
import type { ResourceRegistry } from './registry.ts';
import type { Store } from './store/store.ts';
import type { VirtualResource } from './virtual-resource.ts';

/** What may be switched on beyond what Kubernetes v1.33 has on. */
export type Features = {
  /** A watch may send the state it starts from (`sendInitialEvents`). */
  readonly watchList: boolean;
};

/** What every handler works with: the parts of one server. */
export type Core = {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  /** The oldest revision that can still be read; tokens from before it have expired, even where nothing changed since. */
  readonly oldestRevision: () => number;
  readonly feed: Feed;
  readonly resources: ResourceRegistry;
  /** Resources without objects, by `group/version/plural`. */
  readonly virtual: ReadonlyMap<string, VirtualResource>;
  /** Asks a server behind this one what a GET is about, if one answers for its group and version. */
  readonly readerElsewhere: (context: RequestContext) => (() => Promise<unknown>) | undefined;
  readonly admission: Admission;
  readonly authorizer: Authorizer;
  readonly features: Features;
  /** What is done about every request. */
  readonly passages: Passages;
  /** Aborted when the server stops. */
  readonly signal: AbortSignal;
};
