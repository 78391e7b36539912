/** Image pre-download settings of workloads that have annotations instead of fields for them. */
import type { InPlaceUpdateStrategy } from '@kruise/api/kruise/in-place-update';
import {
  imagePreDownloadMinUpdatedReadyPodsAnnotation,
  imagePreDownloadParallelismAnnotation,
  imagePreDownloadTimeoutSecondsAnnotation,
} from '@kruise/api/kruise/well-known';
import { tryParseInteger } from '@kruise/values/go-integer';
import { ParseError } from '@kruise/values/parse-error';
import { scaledValue } from '../percent.ts';

type Annotations = { readonly [key: string]: string } | undefined;

/** Returns the settings in annotations. Values that cannot be parsed are ignored. */
export function annotatedStrategy(annotations: Annotations): InPlaceUpdateStrategy {
  const parallelism = integerOf(annotations?.[imagePreDownloadParallelismAnnotation]);
  const timeout = integerOf(annotations?.[imagePreDownloadTimeoutSecondsAnnotation]);
  return {
    ...(parallelism === undefined ? {} : { imagePreDownloadParallelism: parallelism }),
    ...(timeout === undefined ? {} : { imagePreDownloadTimeoutSeconds: timeout }),
  };
}

/**
 * Returns how many updated Pods must be ready before images are pre-downloaded: a number, or a percentage of the Pods.
 */
export function minUpdatedReadyPods(annotations: Annotations, replicas: number): number {
  const text = annotations?.[imagePreDownloadMinUpdatedReadyPodsAnnotation];
  if (text === undefined) return 0;
  try {
    return scaledValue(integerOf(text) ?? text, replicas, Math.ceil);
  } catch (error) {
    if (error instanceof ParseError) return 0;
    throw error;
  }
}

function integerOf(text: string | undefined): number | undefined {
  const value = text === undefined ? undefined : tryParseInteger(text);
  return value === undefined ? undefined : Number(value);
}
