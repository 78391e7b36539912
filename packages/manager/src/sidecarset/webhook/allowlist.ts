/** Allowlist of annotations that SidecarSets may patch on Pods, from a ConfigMap. */
import type { SidecarSet } from '@kruise/api/kruise/sidecarset';
import { isObject } from '@kruise/machinery/json-value';
import { type LabelSelector, selectorOf } from '@kruise/machinery/label-selector';
import { ParseError } from '@kruise/values/parse-error';
import { RE2JS, RE2JSSyntaxException } from 're2js';

type Rule = { readonly selector?: LabelSelector; readonly allowedAnnotationKeyExprs?: readonly string[] };

/**
 * Returns the reason why a SidecarSet may not patch its annotations; undefined if it may. Without rules,
 * `allowsByDefault` decides.
 */
export function metadataFault(
  { metadata, spec }: SidecarSet,
  text: string | undefined,
  { allowsByDefault }: { readonly allowsByDefault: boolean },
): string | undefined {
  const patches = spec.patchPodMetadata ?? [];
  if (patches.length === 0) return undefined;
  if (text === undefined) return allowsByDefault ? undefined : 'SidecarSet patch metadata whitelist not found';
  try {
    const patterns = rulesIn(text)
      .filter(({ selector }) => !selector || selectorOf(selector).matches(metadata.labels))
      .flatMap(({ allowedAnnotationKeyExprs = [] }) => allowedAnnotationKeyExprs.map((each) => RE2JS.compile(each)));
    if (patterns.length === 0)
      return allowsByDefault ? undefined : 'sidecarSet patch metadata annotation is not allowed';
    const keys = patches.flatMap(({ annotations = {} }) => Object.keys(annotations));
    const forbidden = keys.find((key) => !patterns.some((pattern) => pattern.matcher(key).find()));
    return forbidden === undefined ? undefined : `sidecarSet patch metadata annotation(${forbidden}) is not allowed`;
  } catch (error) {
    const isFault = [SyntaxError, ParseError, RE2JSSyntaxException].some((type) => error instanceof type);
    if (!isFault) throw error;
    return (error as Error).message;
  }
}

function rulesIn(text: string): readonly Rule[] {
  const read: unknown = JSON.parse(text);
  // This key has only rules.
  return isObject(read) && Array.isArray(read['rules']) ? (read['rules'] as unknown as readonly Rule[]) : [];
}
