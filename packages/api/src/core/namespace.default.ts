import type { Draft } from '@kruise/schema/draft';
import { validateLabelValue } from '@kruise/values/names';
import type { Namespace } from './namespace.ts';

export const nameLabel = 'kubernetes.io/metadata.name';

/** Adds the label with the name of the namespace, for selectors. */
export function defaultNamespace(namespace: Draft<Namespace>): void {
  labelWithName(namespace);
  const status = (namespace.status ??= {});
  status.phase ||= 'Active';
}

/**
 * Adds the name label after the server has generated the name. An invalid name is not reported a second time as a
 * label.
 */
export function labelWithGeneratedName(namespace: Draft<Namespace>): void {
  if (validateLabelValue(namespace.metadata.name ?? '').length === 0) labelWithName(namespace);
}

function labelWithName({ metadata }: Draft<Namespace>): void {
  if (!metadata.name) return;
  const labels = (metadata.labels ??= {});
  labels[nameLabel] = metadata.name;
}
