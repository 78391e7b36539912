import type { Draft } from '@kruise/schema/draft';
import { validateLabelValue } from '@kruise/values/names';
import type { Namespace } from './namespace.ts';

export const nameLabel = 'kubernetes.io/metadata.name';

/** A namespace carries its name as a label, for selectors that know nothing else. */
export function defaultNamespace(namespace: Draft<Namespace>): void {
  labelWithName(namespace);
  const status = (namespace.status ??= {});
  status.phase ||= 'Active';
}

/** Names made up by the server are known only after everything else. One that is refused is not refused as a label too. */
export function labelWithMadeUpName(namespace: Draft<Namespace>): void {
  if (validateLabelValue(namespace.metadata.name ?? '').length === 0) labelWithName(namespace);
}

function labelWithName({ metadata }: Draft<Namespace>): void {
  if (!metadata.name) return;
  const labels = (metadata.labels ??= {});
  labels[nameLabel] = metadata.name;
}
