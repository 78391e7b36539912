import { type Cause, forbidden, invalid, required } from '@kruise/schema/field-error';
import { validateDns1123Label, validateDns1123Subdomain, validateLabelValue } from '@kruise/values/names';
import type { LabelSelector } from '../meta/label-selector.ts';
import { validateLabelSelector } from '../meta/label-selector.validate.ts';
import { validateLabelKey } from '../meta/labels.validate.ts';
import { refusals } from '../meta/value.validate.ts';
import type {
  Affinity,
  NodeSelector,
  NodeSelectorRequirement,
  NodeSelectorTerm,
  PodAffinity,
  PodAffinityTerm,
  PreferredSchedulingTerm,
} from './affinity.ts';

const requiredTerms = 'requiredDuringSchedulingIgnoredDuringExecution';
const preferredTerms = 'preferredDuringSchedulingIgnoredDuringExecution';

export function* validateAffinity(
  { nodeAffinity, podAffinity, podAntiAffinity }: Affinity,
  path: string,
): Generator<Cause> {
  if (nodeAffinity?.[requiredTerms]) {
    yield* validateNodeSelector(nodeAffinity[requiredTerms], `${path}.nodeAffinity.${requiredTerms}`);
  }
  yield* validatePreferredTerms(nodeAffinity?.[preferredTerms] ?? [], `${path}.nodeAffinity.${preferredTerms}`);
  if (podAffinity) yield* validatePodAffinity(podAffinity, `${path}.podAffinity`);
  if (podAntiAffinity) yield* validatePodAffinity(podAntiAffinity, `${path}.podAntiAffinity`);
}

/** Validates preferred node selector terms. */
export function* validatePreferredTerms(terms: readonly PreferredSchedulingTerm[], path: string): Generator<Cause> {
  for (const [index, { weight, preference }] of terms.entries()) {
    const at = `${path}[${index}]`;
    yield* validateWeight(weight, at);
    // Values of preferred terms were never validated as label values.
    yield* validateNodeSelectorTerm(preference, 'any', `${at}.preference`);
  }
}

/** Validates a required node selector. */
export function* validateNodeSelector({ nodeSelectorTerms }: NodeSelector, path: string): Generator<Cause> {
  const terms = nodeSelectorTerms ?? [];
  if (terms.length === 0) yield required(`${path}.nodeSelectorTerms`, 'must have at least one node selector term');
  for (const [index, term] of terms.entries()) {
    yield* validateNodeSelectorTerm(term, 'label', `${path}.nodeSelectorTerms[${index}]`);
  }
}

type Values = 'label' | 'any';

export function* validateNodeSelectorTerm(
  { matchExpressions, matchFields }: NodeSelectorTerm,
  values: Values,
  path: string,
): Generator<Cause> {
  for (const [index, requirement] of (matchExpressions ?? []).entries()) {
    yield* validateLabelRequirement(requirement, values, `${path}.matchExpressions[${index}]`);
  }
  for (const [index, requirement] of (matchFields ?? []).entries()) {
    yield* validateFieldRequirement(requirement, `${path}.matchFields[${index}]`);
  }
}

function* validateLabelRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  kind: Values,
  path: string,
): Generator<Cause> {
  switch (operator) {
    case 'In':
    case 'NotIn':
      if (values.length === 0) yield required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'");
      break;
    case 'Exists':
    case 'DoesNotExist':
      if (values.length > 0) {
        yield forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
      }
      break;
    case 'Gt':
    case 'Lt':
      if (values.length !== 1) {
        yield required(`${path}.values`, "must be specified single value when `operator` is 'Lt' or 'Gt'");
      }
      break;
    default:
      yield invalid(`${path}.operator`, operator, 'not a valid selector operator');
  }
  yield* validateLabelKey(key, `${path}.key`);
  if (kind === 'any') return;
  for (const [index, value] of values.entries()) {
    yield* refusals(`${path}.values[${index}]`, value, validateLabelValue(value));
  }
}

function* validateFieldRequirement(
  { key, operator, values = [] }: NodeSelectorRequirement,
  path: string,
): Generator<Cause> {
  if (operator !== 'In' && operator !== 'NotIn') {
    yield invalid(`${path}.operator`, operator, 'not a valid selector operator');
  } else if (values.length !== 1) {
    const detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
    yield required(`${path}.values`, detail);
  }
  if (key !== 'metadata.name') {
    yield invalid(`${path}.key`, key, 'not a valid field selector key');
    return;
  }
  for (const [index, value] of values.entries()) {
    yield* refusals(`${path}.values[${index}]`, value, validateDns1123Subdomain(value));
  }
}

function* validatePodAffinity(affinity: PodAffinity, path: string): Generator<Cause> {
  for (const [index, term] of (affinity[requiredTerms] ?? []).entries()) {
    yield* validatePodAffinityTerm(term, `${path}.${requiredTerms}[${index}]`);
  }
  for (const [index, { weight, podAffinityTerm }] of (affinity[preferredTerms] ?? []).entries()) {
    const at = `${path}.${preferredTerms}[${index}]`;
    yield* validateWeight(weight, at);
    yield* validatePodAffinityTerm(podAffinityTerm, `${at}.podAffinityTerm`);
  }
}

function* validateWeight(weight: number, path: string): Generator<Cause> {
  if (weight <= 0 || weight > 100) yield invalid(`${path}.weight`, weight, 'must be in the range 1-100');
}

function* validatePodAffinityTerm(term: PodAffinityTerm, path: string): Generator<Cause> {
  yield* validateLabelSelector(term.labelSelector, `${path}.labelSelector`);
  yield* validateLabelSelector(term.namespaceSelector, `${path}.namespaceSelector`);
  for (const namespace of term.namespaces ?? []) {
    yield* refusals(`${path}.namespace`, namespace, validateDns1123Label(namespace));
  }
  yield* validateLabelKeys(term, path);
  if (!term.topologyKey) yield required(`${path}.topologyKey`, 'can not be empty');
  yield* validateLabelKey(term.topologyKey, `${path}.topologyKey`);
}

function* validateLabelKeys(term: PodAffinityTerm, path: string): Generator<Cause> {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term;
  yield* validateKeys(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`);
  yield* validateKeys(mismatchLabelKeys, labelSelector, `${path}.mismatchLabelKeys`);
  const seen = new Set(Object.keys(labelSelector?.matchLabels ?? {}));
  for (const { key } of labelSelector?.matchExpressions ?? []) {
    const index = matchLabelKeys.lastIndexOf(key);
    // The server itself adds an expression for each key, so only an expression before that one is the user's.
    if (index >= 0 && seen.has(key)) {
      yield invalid(`${path}[${index}]`, key, 'exists in both matchLabelKeys and labelSelector');
    }
    seen.add(key);
  }
  for (const [index, key] of matchLabelKeys.entries()) {
    if (!mismatchLabelKeys.includes(key)) continue;
    yield invalid(`${path}.matchLabelKeys[${index}]`, key, 'exists in both matchLabelKeys and mismatchLabelKeys');
  }
}

function* validateKeys(keys: readonly string[], selector: LabelSelector | undefined, path: string): Generator<Cause> {
  if (keys.length === 0) return;
  if (selector === undefined) yield forbidden(path, 'must not be specified when labelSelector is not set');
  else for (const [index, key] of keys.entries()) yield* validateLabelKey(key, `${path}[${index}]`);
}
