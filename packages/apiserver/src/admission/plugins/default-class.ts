import type { ObjectMeta } from '@kruise/api/meta/object-meta';
import { derived, type Objects } from '../lookup.ts';

type Named = { readonly metadata: ObjectMeta };

/** The name of the class that an annotation makes the default: the newest, and of two as old the first by name. */
export function defaultClassOf<T extends Named>(
  classes: Objects<T>,
  annotations: readonly string[],
): () => string | undefined {
  return derived(classes, (all) => {
    const marked = all.filter(({ metadata }) => annotations.some((name) => metadata.annotations?.[name] === 'true'));
    // The list is in the order of names, so only a newer one takes the place of the first.
    const [first, ...others] = marked;
    return others.reduce((best, each) => (bornAt(each) > bornAt(best) ? each : best), first!)?.metadata.name;
  });
}

function bornAt({ metadata }: Named): string {
  return metadata.creationTimestamp ?? '';
}
