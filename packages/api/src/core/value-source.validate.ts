/** Validation of value sources: a field of the Pod, a container's resources, a key of a ConfigMap or Secret. */
import { type Cause, invalid, notSupported, required } from '@kruise/schema/field-error';
import { validateConfigMapKey, validateDns1123Subdomain, validateQualifiedName } from '@kruise/values/names';
import { refusals } from '../meta/value.validate.ts';
import type {
  ConfigMapKeySelector,
  ObjectFieldSelector,
  ResourceFieldSelector,
  SecretKeySelector,
} from './value-source.ts';

/** The destination of a value, which determines the permitted fields. */
export type Destination = 'environment' | 'volume';

const selectableFields: Readonly<Record<Destination, readonly string[]>> = {
  environment: [
    'metadata.name',
    'metadata.namespace',
    'metadata.uid',
    'spec.nodeName',
    'spec.serviceAccountName',
    'status.hostIP',
    'status.hostIPs',
    'status.podIP',
    'status.podIPs',
  ],
  volume: ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid'],
};
const knownFields: ReadonlySet<string> = new Set([
  ...selectableFields.environment,
  ...selectableFields.volume,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
]);
// The name of spec.nodeName before v1.
const formerNames: ReadonlyMap<string, string> = new Map([['spec.host', 'spec.nodeName']]);

export function* validateFieldRef(
  { apiVersion, fieldPath }: ObjectFieldSelector,
  destination: Destination,
  path: string,
): Generator<Cause> {
  if (!apiVersion) yield required(`${path}.apiVersion`);
  else if (!fieldPath) yield required(`${path}.fieldPath`);
  else if (apiVersion !== 'v1') {
    const detail = `error converting fieldPath: unsupported pod version: ${apiVersion}`;
    yield invalid(`${path}.fieldPath`, fieldPath, detail);
  } else yield* validateFieldPath(fieldPath, destination, path);
}

/** Splits `metadata.labels['app']` into the field and the key; undefined if the path has no subscript. */
export function splitSubscript(fieldPath: string): readonly [field: string, key: string] | undefined {
  const opening = fieldPath.indexOf("['", 1);
  const closing = fieldPath.length - 2;
  if (opening < 0 || opening + 2 > closing || !fieldPath.endsWith("']")) return undefined;
  return [fieldPath.slice(0, opening), fieldPath.slice(opening + 2, closing)];
}

function* validateFieldPath(fieldPath: string, destination: Destination, path: string): Generator<Cause> {
  const [field, subscript = ''] = splitSubscript(fieldPath) ?? [];
  if (field === 'metadata.annotations' || field === 'metadata.labels') {
    const key = field === 'metadata.annotations' ? subscript.toLowerCase() : subscript;
    yield* refusals(path, key, validateQualifiedName(key));
  } else if (field !== undefined) {
    const detail = `error converting fieldPath: field label does not support subscript: ${fieldPath}`;
    yield invalid(`${path}.fieldPath`, fieldPath, detail);
  } else {
    const name = formerNames.get(fieldPath) ?? fieldPath;
    if (!knownFields.has(name)) {
      const detail = `error converting fieldPath: field label not supported: ${fieldPath}`;
      yield invalid(`${path}.fieldPath`, fieldPath, detail);
    } else if (!selectableFields[destination].includes(name)) {
      yield notSupported(`${path}.fieldPath`, name, selectableFields[destination]);
    }
  }
}

const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const hugePagesField = /^(?:requests|limits)\.hugepages-/;
const byteDivisors = ['1', '1k', '1M', '1G', '1T', '1P', '1E', '1Ki', '1Mi', '1Gi', '1Ti', '1Pi', '1Ei'];

export function* validateResourceFieldRef(
  { containerName, resource, divisor = '0' }: ResourceFieldSelector,
  destination: Destination,
  path: string,
): Generator<Cause> {
  if (destination === 'volume' && !containerName) yield required(`${path}.containerName`);
  else if (!resource) yield required(`${path}.resource`);
  else if (!resourceFields.includes(resource) && !hugePagesField.test(resource)) {
    yield notSupported(`${path}.resource`, resource, resourceFields);
  }
  if (divisor !== '0') yield* validateDivisor(resource, divisor, `${path}.divisor`);
}

function* validateDivisor(resource: string, divisor: string, path: string): Generator<Cause> {
  const name = resource.slice(resource.indexOf('.') + 1);
  if (name === 'cpu') {
    if (divisor === '1' || divisor === '1m') return;
    yield invalid(path, resource, "only divisor's values 1m and 1 are supported with the cpu resource");
    return;
  }
  const isBytes = resourceFields.includes(resource) || hugePagesField.test(resource);
  if (!isBytes || byteDivisors.includes(divisor)) return;
  const called = name === 'memory' ? 'memory' : name === 'ephemeral-storage' ? 'local ephemeral storage' : 'hugepages';
  yield invalid(
    path,
    resource,
    `only divisor's values ${byteDivisors.join(', ')} are supported with the ${called} resource`,
  );
}

export function* validateKeyRef(
  { name = '', key }: ConfigMapKeySelector | SecretKeySelector,
  path: string,
): Generator<Cause> {
  yield* refusals(`${path}.name`, name, validateDns1123Subdomain(name));
  if (key) yield* refusals(`${path}.key`, key, validateConfigMapKey(key));
  else yield required(`${path}.key`);
}
