/** Target namespaces of a distribution. */
import type { Namespace } from '@kruise/api/core/namespace';
import type { ResourceDistributionTargets } from '@kruise/api/kruise/resourcedistribution';
import { selectorOf } from '@kruise/machinery/label-selector';
import { compareStrings } from '@kruise/values/go-syntax';

const systemNamespaces = new Set(['kube-system', 'kube-public']);

/** Returns the sorted names of the target namespaces, existing or not. */
export function targetedNames(
  targets: ResourceDistributionTargets,
  namespaces: readonly Namespace[],
): readonly string[] {
  const listed = targets.allNamespaces ? [] : namesIn(targets.includedNamespaces);
  const found = namespaces.filter((namespace) => isChosen(targets, namespace)).map(nameOf);
  const excluded = new Set(namesIn(targets.excludedNamespaces));
  const names = new Set([...listed, ...found].filter((name) => !systemNamespaces.has(name) && !excluded.has(name)));
  return [...names].sort(compareStrings);
}

/** Reports whether a namespace is a target. */
export function isTargeted(targets: ResourceDistributionTargets, namespace: Namespace): boolean {
  return targetedNames(targets, [namespace]).includes(nameOf(namespace));
}

function isChosen({ allNamespaces, namespaceSelector }: ResourceDistributionTargets, { metadata }: Namespace): boolean {
  if (allNamespaces) return true;
  const { matchLabels = {}, matchExpressions = [] } = namespaceSelector ?? {};
  // An empty selector selects nothing here, unlike elsewhere.
  if (Object.keys(matchLabels).length === 0 && matchExpressions.length === 0) return false;
  return selectorOf(namespaceSelector).matches(metadata.labels);
}

type Names = ResourceDistributionTargets['includedNamespaces'];

export function namesIn(names: Names): readonly string[] {
  return (names?.list ?? []).map(({ name = '' }) => name);
}

export function nameOf({ metadata }: Namespace): string {
  return metadata.name ?? '';
}
