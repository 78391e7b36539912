import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { type Action, announced, create, isBeingDeleted, record } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { controllerReference } from '@kruise/machinery/owner-references';
import { ephemeralClaimName, faultOfEphemeralClaim } from '@kruise/machinery/pod-claims';

export type Observed = {
  readonly pod: Pod;
  /** Claims of the Pod's namespace by name. */
  readonly claimOf: (name: string) => PersistentVolumeClaim | undefined;
};

/** How long until a name that somebody else's claim has is looked at again. */
const lookAgainSeconds = 15;

/** Every volume of a Pod that is to have a claim of its own has one, which goes with the Pod. */
export function decide({ pod, claimOf }: Observed): Decision<never> {
  const actions: Action[] = [];
  if (isBeingDeleted(pod)) return { actions };
  for (const { name: volume, ephemeral } of pod.spec?.volumes ?? []) {
    if (!ephemeral) continue;
    const name = ephemeralClaimName(pod, volume);
    const claim = claimOf(name);
    const fault = claim && faultOfEphemeralClaim(pod, claim);
    if (fault !== undefined) {
      const message = `ephemeral volume ${volume}: ${fault}`;
      const told = record({ about: pod, type: 'Warning', reason: 'FailedBinding', message });
      // The volumes after it come when this one can be had.
      return { actions: [...actions, told], requeueAfterSeconds: lookAgainSeconds };
    }
    if (claim) continue;
    const message = `ephemeral volume ${volume}: create PVC ${name}: {error}`;
    const made = create(claimFor(pod, name, ephemeral.volumeClaimTemplate ?? {}));
    actions.push(announced(made, { about: pod, failed: { reason: 'FailedBinding', message } }));
  }
  return { actions };
}

type Template = NonNullable<
  NonNullable<NonNullable<NonNullable<Pod['spec']>['volumes']>[number]['ephemeral']>['volumeClaimTemplate']
>;

function claimFor(pod: Pod, name: string, { metadata, spec }: Partial<Template>): PersistentVolumeClaim {
  const { labels, annotations } = metadata ?? {};
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name,
      namespace: pod.metadata.namespace ?? '',
      ownerReferences: [controllerReference(pod)],
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
    },
    ...(spec ? { spec } : {}),
  };
}
