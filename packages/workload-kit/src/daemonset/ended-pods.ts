/** Finished daemon Pods: events and backoff for Pods that ended although they should run as long as their node. */
import { type Action, effect, record } from '@kruise/client/actions';
import type { Backoff } from '@kruise/client/backoff';
import type { Effect } from '@kruise/client/execute';
import type { Instant } from '@kruise/values/time';
import type { PlacementResult } from './placement.ts';
import type { NodeSet } from './state.ts';

/** A failure to record in the backoff. */
type Failure = { readonly key: string; readonly now: Instant };

/** Records failures in the backoff, because deleted Pods leave no trace. */
export function failureEffects(backOff: Backoff): { readonly [name: string]: Effect } {
  return {
    async noteFailure(input) {
      // `reportEndedPods` sets the input.
      const { key, now } = input as Failure;
      backOff.next(key, now);
    },
  };
}

/** The backoff key contains the generation, so that a new template starts without backoff on every node. */
export function backOffKey({ metadata, status }: NodeSet, node: string): string {
  return `${metadata.uid}/${status?.observedGeneration ?? 0}/${node}`;
}

/** Emits events for ended Pods and records failures before the Pods are deleted. */
export function reportEndedPods(set: NodeSet, { ended }: PlacementResult, now: Instant): readonly Action[] {
  return ended.flatMap(({ pod: { metadata, status }, node }) => {
    const hasFailed = status?.phase === 'Failed';
    const what = `${metadata.namespace}/${metadata.name} on node ${node}`;
    const failure: Failure = { key: backOffKey(set, node), now };
    return hasFailed
      ? [
          effect('noteFailure', failure),
          record({
            about: set,
            type: 'Warning',
            reason: 'FailedDaemonPod',
            message: `Found failed daemon pod ${what}, will try to kill it`,
          }),
        ]
      : [
          record({
            about: set,
            type: 'Normal',
            reason: 'SucceededDaemonPod',
            message: `Found succeeded daemon pod ${what}, will try to delete it`,
          }),
        ];
  });
}
