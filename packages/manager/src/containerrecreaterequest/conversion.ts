import {
  type ContainerRecreateRequest,
  containerRecreateRequest,
  containerRecreateRequestV1alpha1,
} from '@kruise/api/kruise/containerrecreaterequest';
import {
  recreateSyncContainerStatusesAnnotation as syncContainerStatusesAnnotation,
  recreateUnreadyAcquired as unreadyAcquiredAnnotation,
} from '@kruise/api/kruise/well-known';
import { stringify } from '@kruise/values/go-json';
import { ParseError } from '@kruise/values/parse-error';
import { formatTime, parseTime } from '@kruise/values/time';
import { conversionOf } from '../conversion/conversion.ts';

type Status = NonNullable<ContainerRecreateRequest['status']>;
type Snapshot = NonNullable<Status['containerStatusSnapshot']>;
type Annotations = { readonly [key: string]: string };

const graceCondition = 'PreRecreateGrace';

/** v1beta1 has status fields for values that v1alpha1 keeps in annotations. The annotations stay. */
export const containerRecreateRequestConversion = conversionOf(
  containerRecreateRequestV1alpha1,
  containerRecreateRequest,
  {
    toStored({ metadata, spec, status }) {
      const { annotations = {} } = metadata;
      const snapshot = snapshotIn(annotations);
      const acquired = timeIn(annotations);
      const condition = acquired && {
        type: graceCondition,
        status: 'True' as const,
        lastTransitionTime: acquired,
        reason: graceCondition,
        message: 'Pod has been forced to not-ready for unreadyGracePeriodSeconds drain',
      };
      return {
        metadata,
        spec: spec as ContainerRecreateRequest['spec'],
        ...(status || snapshot || condition
          ? {
              status: {
                ...(status as Status),
                ...(snapshot ? { containerStatusSnapshot: snapshot } : {}),
                ...(condition ? { conditions: [condition] } : {}),
              },
            }
          : {}),
      };
    },

    toOlder({ metadata, spec, status }) {
      const { containerStatusSnapshot: snapshot = [], conditions = [], ...rest } = status ?? ({} as Status);
      const grace = conditions.find((each) => each.type === graceCondition && each.status === 'True');
      const annotations: Annotations = {
        ...metadata.annotations,
        ...(snapshot.length > 0 ? { [syncContainerStatusesAnnotation]: stringify(snapshot) } : {}),
        ...(grace?.lastTransitionTime ? { [unreadyAcquiredAnnotation]: inUtc(grace.lastTransitionTime) } : {}),
      };
      return {
        metadata: { ...metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
        spec,
        ...(status ? { status: rest } : {}),
      };
    },
  },
);

function snapshotIn(annotations: Annotations): Snapshot | undefined {
  const text = annotations[syncContainerStatusesAnnotation];
  if (!text) return undefined;
  try {
    const snapshot: unknown = JSON.parse(text);
    return Array.isArray(snapshot) ? (snapshot as Snapshot) : undefined;
  } catch {
    // An unreadable annotation is ignored and kept.
    return undefined;
  }
}

function timeIn(annotations: Annotations): string | undefined {
  const text = annotations[unreadyAcquiredAnnotation];
  try {
    return text ? inUtc(text) : undefined;
  } catch (error) {
    if (error instanceof ParseError) return undefined;
    throw error;
  }
}

function inUtc(time: string): string {
  return formatTime(parseTime(time));
}
