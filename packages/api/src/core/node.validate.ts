import type { Draft } from '@kruise/schema/draft';
import { type Cause, forbidden, internal, invalid, required } from '@kruise/schema/field-error';
import { quote } from '@kruise/values/go-syntax';
import {
  validateConfigMapKey,
  validateDns1123Label,
  validateDns1123Subdomain,
  validateLabelValue,
} from '@kruise/values/names';
import { cidrWarnings, legacyPrefixOf, validateLegacyCIDR } from '../meta/address.validate.ts';
import { choice } from '../meta/choice.validate.ts';
import { duplicateBare, invalidStructure } from '../meta/go-value.ts';
import { validateLabelKey } from '../meta/labels.validate.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { positive, refusals } from '../meta/value.validate.ts';
import type { ConfigMapNodeConfigSource, Node, NodeConfigSource, Taint } from './node.ts';
import { validateResourceQuantity } from './resources.validate.ts';
import { taintEffects } from './toleration.validate.ts';

/**
 * Drops the configuration of kubelets through Node objects, which Kubernetes has removed. Stored configurations are
 * kept.
 */
export function prepareNodeForCreate({ spec, status }: Draft<Node>): void {
  delete spec?.configSource;
  delete status?.config;
}

export function prepareNodeForUpdate({ spec }: Draft<Node>, old: Node): void {
  if (old.spec?.configSource === undefined) delete spec?.configSource;
}

export function prepareNodeStatusUpdate({ status }: Draft<Node>, old: Node): void {
  if (old.status?.config === undefined) delete status?.config;
}

export function* validateNode(node: Node): Generator<Cause> {
  const { metadata, spec = {}, status = {} } = node;
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  // Kubernetes reports this path, although taints are in the spec.
  yield* validateTaints(spec.taints ?? [], 'metadata.taints');
  yield* validateAmounts(node);
  const swap = status.nodeInfo?.swap?.capacity;
  if (swap !== undefined) yield* positive('metadata.nodeSwapStatus.capacity', Number(swap));
  const blocks = spec.podCIDRs ?? [];
  for (const [index, block] of blocks.entries()) yield* validateLegacyCIDR(block, `spec.podCIDRs[${index}]`);
  if (blocks.length < 2) return;
  const families = blocks.map((block) => legacyPrefixOf(block)?.address.family);
  const broken = blocks.find((_, index) => families[index] === undefined);
  if (broken !== undefined) {
    yield internal(
      'spec.podCIDRs',
      `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${blocks.indexOf(broken)}]: <nil> (invalid CIDR address: ${broken})`,
    );
  }
  if (broken !== undefined || blocks.length > 2 || families[0] === families[1]) {
    yield invalid('spec.podCIDRs', blocks, 'may specify no more than one CIDR for each IP family');
  }
}

function* validateAmounts({ status = {} }: Node): Generator<Cause> {
  for (const field of ['capacity', 'allocatable'] as const) {
    const list = status[field];
    for (const name in list) yield* validateResourceQuantity(name, list[name]!, `status.${field}.${name}`);
  }
}

function* validateTaints(taints: readonly Taint[], path: string): Generator<Cause> {
  const seen = new Set<string>();
  for (const [index, taint] of taints.entries()) {
    const at = `${path}[${index}]`;
    const { key, value = '', effect } = taint;
    yield* validateLabelKey(key, `${at}.key`);
    const faults = validateLabelValue(value);
    if (faults.length > 0) yield invalid(`${at}.value`, value, faults.join(';'));
    yield* choice(`${at}.effect`, effect, taintEffects);
    const identity = `${effect}/${key}`;
    if (seen.has(identity)) {
      const shown = `core.Taint{Key:${quote(key)}, Value:${quote(value)}, Effect:${quote(effect)}, TimeAdded:<nil>}`;
      yield duplicateBare(at, `${shown}: taints must be unique by key and effect pair`);
    }
    seen.add(identity);
  }
}

export function* validateNodeUpdate(node: Node, old: Node): Generator<Cause> {
  yield* validateNode(node);
  yield* validateNodeStatusUpdate(node, old);
}

const onlyOnce = (field: string) => `node updates may not change ${field} except from "" to valid`;

export function* validateNodeStatusUpdate(node: Node, old: Node): Generator<Cause> {
  const { metadata, spec = {}, status = {} } = node;
  const before = old.spec ?? {};
  yield* validateKindMetaUpdate(metadata, old.metadata);
  yield* validateAmounts(node);
  const seen = new Set<string>();
  for (const [index, address] of (status.addresses ?? []).entries()) {
    const shown = `core.NodeAddress{Type:${quote(address.type)}, Address:${quote(address.address)}}`;
    if (seen.has(shown)) yield duplicateBare(`status.addresses[${index}]`, shown);
    seen.add(shown);
  }
  const [blocks, blocksBefore] = [spec.podCIDRs ?? [], before.podCIDRs ?? []];
  if (blocksBefore.length > 0 && !isSame(blocks, blocksBefore)) yield forbidden('spec.podCIDRs', onlyOnce('podCIDR'));
  if (before.providerID && before.providerID !== spec.providerID) {
    yield forbidden('spec.providerID', onlyOnce('providerID'));
  }
  if (spec.configSource) yield* validateConfigSource(spec.configSource, 'spec', 'spec.configSource');
  for (const field of ['assigned', 'active', 'lastKnownGood'] as const) {
    const source = status.config?.[field];
    if (source) yield* validateConfigSource(source, 'status', `status.config.${field}`);
  }
  yield* validateTaints(spec.taints ?? [], 'metadata.taints');
  if ((spec.externalID ?? '') !== (before.externalID ?? '')) yield forbidden('spec.externalID', 'may not be updated');
}

function* validateConfigSource(source: NodeConfigSource, part: 'spec' | 'status', path: string): Generator<Cause> {
  if (source.configMap) yield* validateConfigMapSource(source.configMap, part, `${path}.configMap`);
  else yield invalidStructure(path, 'core.NodeConfigSource', source, 'exactly one reference subfield must be non-nil');
}

function* validateConfigMapSource(
  source: ConfigMapNodeConfigSource,
  part: 'spec' | 'status',
  path: string,
): Generator<Cause> {
  for (const field of ['uid', 'resourceVersion'] as const) {
    if (part === 'spec' && source[field]) yield forbidden(`${path}.${field}`, `${field} must not be set in spec`);
    if (part === 'status' && !source[field]) yield required(`${path}.${field}`, `${field} must be set in status`);
  }
  const rules = {
    namespace: validateDns1123Label,
    name: validateDns1123Subdomain,
    kubeletConfigKey: validateConfigMapKey,
  };
  for (const field of ['namespace', 'name', 'kubeletConfigKey'] as const) {
    if (!source[field]) yield required(`${path}.${field}`, `${field} must be set`);
    else yield* refusals(`${path}.${field}`, source[field], rules[field](source[field]));
  }
}

export function* nodeWarnings({ spec = {} }: Node): Generator<string> {
  if (spec.configSource) yield 'spec.configSource: the feature is removed';
  if (spec.externalID) yield 'spec.externalID: this field is deprecated, and is unused by Kubernetes';
  for (const [index, block] of (spec.podCIDRs ?? []).entries()) yield* cidrWarnings(block, `spec.podCIDRs[${index}]`);
}
