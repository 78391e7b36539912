/** Annotations that SidecarSets patch on Pods. */
import type { SidecarSetSpec } from '@kruise/api/kruise/sidecarset';
import { isObject } from '@kruise/machinery/json-value';
import { applyMergePatch, asMergePatch } from '@kruise/machinery/merge-patch';
import { stringifySorted } from '@kruise/values/go-json';
import { ParseError } from '@kruise/values/parse-error';

type Annotations = { readonly [key: string]: string };
type Patch = NonNullable<SidecarSetSpec['patchPodMetadata']>[number];

/** Returns the annotations of a Pod after all patches. Throws `ParseError` if JSON cannot be merged. */
export function patchedAnnotations(annotations: Annotations, patches: readonly Patch[] = []): Annotations {
  let present = annotations;
  for (const patch of patches) present = patched(present, patch);
  return present;
}

function patched(present: Annotations, { annotations: wanted = {}, patchPolicy }: Patch): Annotations {
  switch (patchPolicy || 'Retain') {
    case 'Retain':
      return { ...wanted, ...present };
    case 'Overwrite':
      return { ...present, ...wanted };
    case 'MergePatchJson':
      return { ...present, ...merged(present, wanted) };
    default:
      return present;
  }
}

function merged(present: Annotations, wanted: Annotations): Annotations {
  return Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => [key, present[key] ? mergedText(present[key], value) : value]),
  );
}

function mergedText(text: string, patchText: string): string {
  const document = valueIn(text, 'Invalid JSON Document');
  if (document === null) throw new ParseError('Invalid JSON Document');
  const patch = asMergePatch(valueIn(patchText, 'Invalid JSON Patch'));
  return stringifySorted(applyMergePatch(isObject(patch) ? document : null, patch));
}

function valueIn(text: string, fault: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) throw new ParseError(fault);
    throw error;
  }
}
