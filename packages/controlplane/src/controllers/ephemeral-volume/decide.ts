import type { PersistentVolumeClaim } from '@kruise/api/core/persistentvolumeclaim';
import type { Pod } from '@kruise/api/core/pod';
import { type Action, create, isBeingDeleted, record, withOutcomeEvents } from '@kruise/client/actions';
import type { Decision } from '@kruise/client/controller';
import { controllerReference } from '@kruise/machinery/owner-references';
import { ephemeralVolumeClaimName, validateEphemeralVolumeClaim } from '@kruise/machinery/pod-volume-claims';

export type Observed = {
  readonly pod: Pod;
  /** Returns a PVC of the Pod's namespace by name. */
  readonly claimOf: (name: string) => PersistentVolumeClaim | undefined;
};

/** Requeue delay while the PVC name is taken by another owner. */
const requeueSeconds = 15;

/** Creates a PVC, owned by the Pod, for every generic ephemeral volume of the Pod. */
export function decide({ pod, claimOf }: Observed): Decision<never> {
  const actions: Action[] = [];
  if (isBeingDeleted(pod)) return { actions };
  for (const { name: volume, ephemeral } of pod.spec?.volumes ?? []) {
    if (!ephemeral) continue;
    const name = ephemeralVolumeClaimName(pod, volume);
    const claim = claimOf(name);
    const fault = claim && validateEphemeralVolumeClaim(pod, claim);
    if (fault !== undefined) {
      const message = `ephemeral volume ${volume}: ${fault}`;
      const failureEvent = record({ about: pod, type: 'Warning', reason: 'FailedBinding', message });
      // The remaining volumes follow when the conflict is resolved.
      return { actions: [...actions, failureEvent], requeueAfterSeconds: requeueSeconds };
    }
    if (claim) continue;
    const message = `ephemeral volume ${volume}: create PVC ${name}: {error}`;
    const made = create(claimFor(pod, name, ephemeral.volumeClaimTemplate ?? {}));
    actions.push(withOutcomeEvents(made, { about: pod, failed: { reason: 'FailedBinding', message } }));
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
