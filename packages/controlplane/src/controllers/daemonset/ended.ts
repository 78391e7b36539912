/** Pods that have ended though they should run for as long as their node: what is told of them, and noted. */
import { type Action, effect, record } from '@kruise/client/actions';
import type { BackOff } from '@kruise/client/back-off';
import type { Effect } from '@kruise/client/execute';
import type { Instant } from '@kruise/values/time';
import type { NodeSet } from './situation.ts';
import type { Tending } from './tend.ts';

/** What has failed, for the effect that takes note of it. */
type Failure = { readonly key: string; readonly now: Instant };

/** Takes note of failures, which leave no trace once their Pods are deleted. */
export function failureEffects(backOff: BackOff): { readonly [name: string]: Effect } {
  return {
    async noteFailure(input) {
      // It is what `tellOfEnded` has put there.
      const { key, now } = input as Failure;
      backOff.begin(key, now);
    },
  };
}

/** A new template gets a new chance on every node. */
export function backOffKey({ metadata, status }: NodeSet, node: string): string {
  return `${metadata.uid}/${status?.observedGeneration ?? 0}/${node}`;
}

/** Says what was found on nodes, and takes note of failures before anything is done about them. */
export function tellOfEnded(set: NodeSet, { ended }: Tending, now: Instant): readonly Action[] {
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
