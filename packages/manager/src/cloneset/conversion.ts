import { type CloneSet, cloneSet, cloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import type { InPlaceUpdateStrategy } from '@kruise/api/kruise/in-place-update';
import {
  cloneSetExcludePreparingDeleteLabel,
  imagePreDownloadMinUpdatedReadyPodsAnnotation as minReadyAnnotation,
  imagePreDownloadParallelismAnnotation as parallelismAnnotation,
  imagePreDownloadTimeoutSecondsAnnotation as timeoutAnnotation,
} from '@kruise/api/kruise/well-known';
import { parseIntOrString } from '@kruise/values/int-or-string';
import { conversionOf } from '../conversion/conversion.ts';

const policies = ['ReCreate', 'InPlaceIfPossible', 'InPlaceOnly'] as const;

/** v1beta1 groups all fields of rolling updates in one block, and inverts the setting for PVCs. */
export const cloneSetConversion = conversionOf(cloneSetV1alpha1, cloneSet, {
  toStored({ metadata, spec, status }) {
    const { scaleStrategy = {}, updateStrategy = {}, ...rest } = spec;
    const { disablePVCReuse = false, ...scaling } = scaleStrategy;
    const { type, inPlaceUpdateStrategy, ...rolling } = updateStrategy;
    const excludes = metadata.labels?.[cloneSetExcludePreparingDeleteLabel] === 'true';
    const inPlace = inPlaceWith(inPlaceUpdateStrategy, metadata.annotations ?? {});
    const updating: CloneSet['spec']['updateStrategy'] =
      (type as string) === 'OnDelete'
        ? { type: 'OnDelete' }
        : {
            type: 'RollingUpdate',
            rollingUpdate: {
              ...rolling,
              podUpdatePolicy: policies.find((policy) => policy === type) ?? 'ReCreate',
              ...(inPlace ? { inPlaceUpdateStrategy: inPlace } : {}),
            },
          };
    return {
      metadata,
      spec: {
        ...rest,
        scaleStrategy: {
          ...scaling,
          enablePVCReuse: !disablePVCReuse,
          ...(excludes ? { excludePreparingDelete: true } : {}),
        },
        updateStrategy: updating,
      },
      ...(status ? { status } : {}),
    };
  },

  toOlder({ metadata, spec, status }) {
    const { scaleStrategy, updateStrategy, ...rest } = spec;
    const { enablePVCReuse = false, excludePreparingDelete: _, ...scaling } = scaleStrategy ?? {};
    const { podUpdatePolicy, inPlaceUpdateStrategy, ...rolling } = updateStrategy?.rollingUpdate ?? {};
    const policy = policies.find((each) => each === podUpdatePolicy) ?? 'ReCreate';
    const annotations = { ...metadata.annotations, ...preDownloadAnnotations(inPlaceUpdateStrategy) };
    const { gracePeriodSeconds } = inPlaceUpdateStrategy ?? {};
    return {
      metadata: { ...metadata, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
      spec: {
        ...rest,
        scaleStrategy: { ...scaling, disablePVCReuse: !enablePVCReuse },
        updateStrategy: {
          ...rolling,
          // v1alpha1 can store OnDelete, a type of v1beta1, although it defines no behaviour for it.
          type: updateStrategy?.type === 'OnDelete' ? ('OnDelete' as typeof policy) : policy,
          ...(hasAny(inPlaceUpdateStrategy)
            ? { inPlaceUpdateStrategy: gracePeriodSeconds ? { gracePeriodSeconds } : {} }
            : {}),
        },
      },
      ...(status ? { status } : {}),
    };
  },
});

/** Reads the settings that v1alpha1 keeps in annotations, because its own fields for them are ignored. */
function inPlaceWith(
  strategy: InPlaceUpdateStrategy | undefined,
  annotations: { readonly [key: string]: string },
): InPlaceUpdateStrategy | undefined {
  const parallelism = annotations[parallelismAnnotation];
  const timeout = annotations[timeoutAnnotation];
  const minReady = annotations[minReadyAnnotation];
  if (!strategy && !parallelism && !timeout && !minReady) return undefined;
  const seconds = int32Of(timeout);
  const pods = int32Of(minReady);
  const { gracePeriodSeconds } = strategy ?? {};
  return {
    ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
    ...(parallelism ? { imagePreDownloadParallelism: parseIntOrString(parallelism) } : {}),
    ...(seconds === undefined ? {} : { imagePreDownloadTimeoutSeconds: seconds }),
    ...(pods === undefined ? {} : { imagePreDownloadMinUpdatedReadyPods: pods }),
  };
}

function int32Of(text: string | undefined): number | undefined {
  const value = text ? parseIntOrString(text) : undefined;
  return typeof value === 'number' ? value : undefined;
}

function preDownloadAnnotations(strategy: InPlaceUpdateStrategy = {}): { readonly [key: string]: string } {
  const values = [
    [parallelismAnnotation, strategy.imagePreDownloadParallelism],
    [timeoutAnnotation, strategy.imagePreDownloadTimeoutSeconds],
    [minReadyAnnotation, strategy.imagePreDownloadMinUpdatedReadyPods],
  ] as const;
  return Object.fromEntries(values.flatMap(([key, value]) => (value === undefined ? [] : [[key, String(value)]])));
}

function hasAny(strategy: InPlaceUpdateStrategy = {}): boolean {
  const { gracePeriodSeconds = 0, ...preDownload } = strategy;
  return gracePeriodSeconds !== 0 || Object.keys(preDownload).length > 0;
}
