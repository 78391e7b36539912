/** Validation of UnitedDeployments. */
import { validateNodeSelectorTerm } from '@kruise/api/core/affinity.validate';
import { validateTolerations } from '@kruise/api/core/toleration.validate';
import type {
  Subset,
  Topology,
  UnitedDeployment,
  UnitedDeploymentSpec,
  UnitedDeploymentUpdateStrategy,
} from '@kruise/api/kruise/uniteddeployment';
import { invalidBare, invalidStructure } from '@kruise/api/meta/go-value';
import { isEmptySelector, validateLabelSelector } from '@kruise/api/meta/label-selector.validate';
import { subdomainName } from '@kruise/api/meta/name-rules';
import { validateObjectMeta, validateObjectMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { isSame } from '@kruise/api/meta/same';
import { nonNegative } from '@kruise/api/meta/value.validate';
import { type Cause, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { compareStrings, quote } from '@kruise/values/go-syntax';
import { validateDns1123Label } from '@kruise/values/names';
import type { FeatureGates } from '../../configuration/feature-gates.ts';
import { isAdaptive, isReserving } from '../strategy.ts';
import { validateSubsetReplicas } from './subset-replicas.validate.ts';
import { validateTemplate, validateTemplateUpdate } from './template.validate.ts';

export function* validateUnitedDeployment({ metadata, spec }: UnitedDeployment, gates: FeatureGates): Generator<Cause> {
  yield* validateObjectMeta(metadata, { namespaced: true, name: subdomainName });
  yield* nonNegative('spec.replicas', spec.replicas);
  const isSelectorValid = yield* validateSelector(spec);
  const { subsets = [] } = spec.topology ?? {};
  if (isSelectorValid) yield* validateTemplate(spec, gates);
  yield* validateSubsetReplicas(spec.replicas, subsets);
  yield* validateSubsets(spec);
  yield* validateUpdateStrategy(spec.updateStrategy ?? {}, subsets);
}

export function* validateUnitedDeploymentUpdate(
  { metadata, spec }: UnitedDeployment,
  old: UnitedDeployment,
): Generator<Cause> {
  yield* validateObjectMetaUpdate(metadata, old.metadata);
  yield* validateTemplateUpdate(spec, old.spec);
  yield* validateTopologyUpdate(spec.topology ?? {}, old.spec.topology ?? {});
}

/** Validates the selector. Returns whether it can be matched against labels. */
function* validateSelector({ selector, topology, template = {} }: UnitedDeploymentSpec): Generator<Cause, boolean> {
  const path = 'spec.selector';
  const faults = [...validateLabelSelector(selector, path)];
  yield* faults;
  if (!selector) yield required(path);
  else if (isEmptySelector(selector)) {
    yield invalidStructure(path, 'v1.LabelSelector', selector, 'empty selector is invalid for statefulset');
  }
  const { scheduleStrategy } = topology ?? {};
  if (isReserving(scheduleStrategy) && (template.advancedStatefulSetTemplate || template.statefulSetTemplate)) {
    yield invalidStructure(
      'spec.topology.scheduleStrategy',
      'v1beta1.UnitedDeploymentScheduleStrategy',
      scheduleStrategy,
      'only stateless workloads (Deployment and CloneSet) are supported by reserved rescheduling',
    );
  }
  if (faults.length > 0) yield invalidStructure(path, 'v1.LabelSelector', selector, '');
  return faults.length === 0;
}

function* validateSubsets({ topology }: UnitedDeploymentSpec): Generator<Cause> {
  const { subsets = [], scheduleStrategy } = topology ?? {};
  const names = new Set<string>();
  for (const [index, subset] of subsets.entries()) {
    const path = `spec.topology.subsets[${index}]`;
    const { name, nodeSelectorTerm, tolerations } = subset;
    if (!name) yield required(`${path}.name`);
    if (names.has(name)) yield invalid(`${path}.name`, name, `duplicated subset name ${name}`);
    names.add(name);
    const faults = validateDns1123Label(name);
    if (faults.length > 0) yield invalid(`${path}.name`, name, `invalid subset name ${faults.join(', ')}`);
    if (nodeSelectorTerm) yield* validateNodeSelectorTerm(nodeSelectorTerm, 'any', `${path}.nodeSelectorTerm`);
    if (tolerations) yield* validateTolerations(tolerations, `${path}.tolerations`);
    if (subset.replicas !== undefined && isAdaptive(scheduleStrategy)) {
      const detail = 'specify replicas use minReplicas/maxReplicas to enable adaptive strategy';
      yield forbidden(`${path}.replicas`, detail);
    }
  }
}

function* validateUpdateStrategy(
  { type = '', manualUpdate }: UnitedDeploymentUpdateStrategy,
  subsets: readonly Subset[],
): Generator<Cause> {
  const path = 'spec.updateStrategy';
  if (type !== '' && type !== 'Manual') {
    yield notSupported(`${path}.type`, type, ['Manual', '']);
    return;
  }
  const partitions = Object.entries(manualUpdate?.partitions ?? {}).sort(([a], [b]) => compareStrings(a, b));
  const names = new Set(subsets.map(({ name }) => name));
  const text = `map[string]int32{${partitions.map(([name, count]) => `${quote(name)}:${count}`).join(', ')}}`;
  for (const [name] of partitions) {
    if (names.has(name)) continue;
    yield invalidBare(`${path}.manualUpdate.partitions`, text, `subset ${name} does not exist`);
  }
}

/** The node selector of a subset is immutable, because its Pods would have to move. */
function* validateTopologyUpdate({ subsets = [] }: Topology, old: Topology): Generator<Cause> {
  const former = new Map((old.subsets ?? []).map((subset) => [subset.name, subset]));
  for (const [index, subset] of subsets.entries()) {
    const before = former.get(subset.name);
    if (!before) continue;
    for (const field of ['nodeSelectorTerm', 'tolerations'] as const) {
      if (isSame(orEmpty(subset[field]), orEmpty(before[field]))) continue;
      yield forbidden(`spec.topology.subsets[${index}].${field}`, 'may not be changed in an update');
    }
  }
}

/** Treats an empty object like a missing one. */
function orEmpty(value: object | undefined): object | undefined {
  return value && Object.keys(value).length === 0 ? undefined : value;
}
