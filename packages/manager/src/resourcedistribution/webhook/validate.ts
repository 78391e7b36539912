/** Validation of ResourceDistributions, as far as it needs no request to the server. */
import type { ResourceDistribution, ResourceDistributionTargets } from '@kruise/api/kruise/resourcedistribution';
import { invalidStructure } from '@kruise/api/meta/go-value';
import { validateObjectMeta } from '@kruise/api/meta/object-meta.validate';
import { selectorOf } from '@kruise/machinery/label-selector';
import { type Cause, invalid } from '@kruise/schema/field-error';
import { validateDns1123Label } from '@kruise/values/names';
import { ParseError } from '@kruise/values/parse-error';
import { namesIn } from '../targets.ts';

export function validateDistributionMeta({ metadata }: ResourceDistribution): Iterable<Cause> {
  return validateObjectMeta(metadata, { namespaced: false });
}

/** Returns an error of the kind of the resource; undefined if it is valid. */
export function faultOfKind({ spec: { resource } }: ResourceDistribution): Cause | undefined {
  const [group, version] = resource.apiVersion.includes('/')
    ? resource.apiVersion.split('/')
    : ['', resource.apiVersion];
  if (group === '' && version !== '' && (resource.kind === 'Secret' || resource.kind === 'ConfigMap')) return undefined;
  const printed = group ? `${resource.kind}.${group}` : resource.kind;
  const message = `Invalid value: ${printed}: unknown or unsupported resource GroupKind, only support [Secret ConfigMap]`;
  return { reason: 'FieldValueInvalid', message, field: 'spec.resource' };
}

export function* validateChange({ spec }: ResourceDistribution, old: ResourceDistribution): Generator<Cause> {
  const [now, before] = [spec.resource, old.spec.resource];
  const isSameOne =
    now.apiVersion === before.apiVersion && now.kind === before.kind && now.metadata?.name === before.metadata?.name;
  if (!isSameOne) yield invalid('spec.resource', null, 'resource apiVersion, kind, and name are immutable');
}

export function* validateTargets(targets: ResourceDistributionTargets): Generator<Cause> {
  const { includedNamespaces, excludedNamespaces, namespaceSelector } = targets;
  yield* validateNames(namesIn(includedNamespaces), 'spec.targets.includedNamespaces');
  yield* validateNames(namesIn(excludedNamespaces), 'spec.targets.excludedNamespaces');
  const excluded = new Set(namesIn(excludedNamespaces));
  const both = namesIn(includedNamespaces).filter((name) => excluded.has(name));
  if (both.length > 0) {
    const lists = 'IncludedNamespaces.List and ExcludedNamespaces.List';
    yield invalidStructure(
      'spec.targets',
      'v1beta1.ResourceDistributionTargets',
      targets,
      `ambiguous targets because namespace [${both.join(' ')}] is in both ${lists}`,
    );
  }
  try {
    selectorOf(namespaceSelector);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    const why = `labelSelectorAsSelector error: ${error.message}`;
    yield invalidStructure('spec.targets.namespaceSelector', 'v1.LabelSelector', namespaceSelector, why);
  }
}

function* validateNames(names: readonly string[], path: string): Generator<Cause> {
  for (const name of names) for (const fault of validateDns1123Label(name)) yield invalid(path, name, fault);
}
