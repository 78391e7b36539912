/** Validation of image pull jobs: reports the first error, in the words of OpenKruise. */
import { imageReferenceFault } from '@kruise/api/core/image-reference';
import type { CompletionPolicy } from '@kruise/api/kruise/completion-policy';
import type { ImagePullJobSpec } from '@kruise/api/kruise/imagepulljob';
import { type LabelSelector, selectorOf } from '@kruise/machinery/label-selector';
import { ParseError } from '@kruise/values/parse-error';
import type { FeatureGates } from '../../configuration/feature-gates.ts';

/** Returns the reason why a disabled feature gate refuses all jobs. */
export function pullGateFault(gates: FeatureGates): string | undefined {
  const closed = (['KruiseDaemon', 'ImagePullJobGate'] as const).find((gate) => !gates[gate]);
  return closed && `feature-gate ${closed} is not enabled`;
}

export function nodesFault({ selector, podSelector }: Pick<ImagePullJobSpec, 'selector' | 'podSelector'>) {
  const { names, matchLabels, matchExpressions } = selector ?? {};
  if (selector && (matchLabels || matchExpressions)) {
    if (names) return 'can not set both names and labelSelector in this spec.selector';
    const fault = selectorFault(selector);
    if (fault) return `invalid selector: ${fault}`;
  }
  if (names && new Set(names).size < names.length) return 'duplicated name in selector names';
  if (!podSelector) return undefined;
  if (selector) return 'can not set both selector and podSelector';
  const fault = selectorFault(podSelector);
  return fault && `invalid podSelector: ${fault}`;
}

export function imageFault(image: string): string | undefined {
  const fault = imageReferenceFault(image);
  return fault && `invalid image ${image}: ${fault}`;
}

const maxImages = 255;

export function imagesFault(images: readonly string[]): string | undefined {
  if (images.length === 0) return 'image can not be empty';
  if (new Set(images).size < images.length) return 'images cannot have duplicate values';
  if (images.length > maxImages) return `the maximum number of images cannot > ${maxImages}`;
  return images.map(imageFault).find((fault) => fault !== undefined);
}

/** Returns an error if a job that never ends has fields that only ending jobs may have. */
export function completionFault(policy: CompletionPolicy): string | undefined {
  const { type = '', activeDeadlineSeconds, ttlSecondsAfterFinished } = policy;
  if (type === 'Always') return undefined;
  if (type !== 'Never') return `unknown type of completionPolicy: ${type}`;
  return activeDeadlineSeconds === undefined && ttlSecondsAfterFinished === undefined
    ? undefined
    : 'activeDeadlineSeconds and ttlSecondsAfterFinished can only work with Always CompletionPolicyType';
}

function selectorFault(selector: LabelSelector): string | undefined {
  try {
    selectorOf(selector);
    return undefined;
  } catch (error) {
    if (error instanceof ParseError) return error.message;
    throw error;
  }
}
