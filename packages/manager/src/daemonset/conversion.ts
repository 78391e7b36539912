import { type DaemonSet, type DaemonSetV1alpha1, daemonSet, daemonSetV1alpha1 } from '@kruise/api/kruise/daemonset';
import { daemonSetProgressiveCreateAnnotation as progressiveAnnotation } from '@kruise/api/kruise/well-known';
import { conversionOf } from '../conversion/conversion.ts';

/** v1beta1 has a field for a value that v1alpha1 keeps in an annotation, and renames a hash and an update type. */
export const daemonSetConversion = conversionOf(daemonSetV1alpha1, daemonSet, {
  toStored({ metadata, spec, status }) {
    const isProgressive = metadata.annotations?.[progressiveAnnotation] === 'true';
    const { updateStrategy, ...rest } = spec;
    return {
      metadata,
      spec: {
        ...rest,
        ...(updateStrategy ? { updateStrategy: withoutSurging(updateStrategy) } : {}),
        ...(isProgressive ? { scaleStrategy: { partitionedScaling: true } } : {}),
      },
      ...(status ? { status: storedStatus(status) } : {}),
    };
  },

  toOlder({ metadata, spec, status }) {
    const { scaleStrategy, ...rest } = spec;
    const annotations = { ...metadata.annotations, [progressiveAnnotation]: 'true' };
    return {
      metadata: scaleStrategy?.partitionedScaling ? { ...metadata, annotations } : metadata,
      spec: rest,
      ...(status ? { status: olderStatus(status) } : {}),
    };
  },
});

type OlderStrategy = NonNullable<DaemonSetV1alpha1['spec']['updateStrategy']>;

/** Converts the type Surging to Standard with a maxSurge. */
function withoutSurging({
  rollingUpdate,
  ...strategy
}: OlderStrategy): NonNullable<DaemonSet['spec']['updateStrategy']> {
  if (!rollingUpdate) return strategy;
  const { rollingUpdateType: type, ...rest } = rollingUpdate;
  const kept = type === undefined ? {} : { rollingUpdateType: type === 'Surging' ? ('Standard' as const) : type };
  return { ...strategy, rollingUpdate: { ...rest, ...kept } };
}

function storedStatus({ daemonSetHash, ...status }: NonNullable<DaemonSetV1alpha1['status']>) {
  return { ...status, ...(daemonSetHash === undefined ? {} : { updateRevision: daemonSetHash }) };
}

function olderStatus({ updateRevision, ...status }: NonNullable<DaemonSet['status']>) {
  return { ...status, ...(updateRevision === undefined ? {} : { daemonSetHash: updateRevision }) };
}
