import { type Cause, forbidden, invalid, required, tooLong } from '@kruise/schema/field-error';
import { JsonSyntaxError, parseJson } from '@kruise/schema/json-text';
import { validateConfigMapKey } from '@kruise/values/names';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, refusals } from '../meta/value.validate.ts';
import { base64Length, immutableOnceSet, maxDataBytes } from './configmap.validate.ts';
import type { Secret } from './secret.ts';

const serviceAccountName = 'kubernetes.io/service-account.name';

/** Required content of each built-in type of Secret. */
const contents: { readonly [type: string]: (data: Data, annotations: Data) => Iterable<Cause> } = {
  *'kubernetes.io/service-account-token'(_, annotations) {
    if (!annotations[serviceAccountName]) yield required(`metadata.annotations[${serviceAccountName}]`);
  },
  'kubernetes.io/dockercfg': (data) => validateJsonEntry(data, '.dockercfg'),
  'kubernetes.io/dockerconfigjson': (data) => validateJsonEntry(data, '.dockerconfigjson'),
  *'kubernetes.io/basic-auth'(data) {
    if (Object.hasOwn(data, 'username') || Object.hasOwn(data, 'password')) return;
    yield required('data[username]');
    yield required('data[password]');
  },
  *'kubernetes.io/ssh-auth'(data) {
    if (!data['ssh-privatekey']) yield required('data[ssh-privatekey]');
  },
  *'kubernetes.io/tls'(data) {
    for (const key of ['tls.crt', 'tls.key']) if (!Object.hasOwn(data, key)) yield required(`data[${key}]`);
  },
};

type Data = { readonly [key: string]: string };

export function* validateSecret({ metadata, type = '', data = {} }: Secret): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  let totalBytes = 0;
  for (const key in data) {
    yield* refusals(`data[${key}]`, key, validateConfigMapKey(key));
    totalBytes += base64Length(data[key]);
  }
  if (totalBytes > maxDataBytes) yield tooLong('data', maxDataBytes);
  if (Object.hasOwn(contents, type)) yield* contents[type]!(data, metadata.annotations ?? {});
}

function* validateJsonEntry(data: Data, key: string): Generator<Cause> {
  const at = `data[${key}]`;
  if (!Object.hasOwn(data, key)) return yield required(at);
  const fault = jsonObjectFault(Buffer.from(data[key] ?? '', 'base64'));
  if (fault !== undefined) yield invalid(at, '<secret contents redacted>', fault);
}

function jsonObjectFault(bytes: Uint8Array): string | undefined {
  try {
    const value: unknown = parseJson(bytes);
    if (value === null || (typeof value === 'object' && !Array.isArray(value))) return undefined;
    const type = Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'bool' : typeof value;
    return `json: cannot unmarshal ${type} into Go value of type map[string]interface {}`;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}

export function* validateSecretUpdate(object: Secret, old: Secret): Generator<Cause> {
  yield* validateKindMetaUpdate(object.metadata, old.metadata);
  if ((object.type ?? '') !== (old.type ?? '')) yield invalid('type', object.type ?? '', isImmutable);
  if (old.immutable) {
    if (!object.immutable) yield forbidden('immutable', immutableOnceSet);
    if (!isSame(object.data ?? {}, old.data ?? {})) yield forbidden('data', immutableOnceSet);
  }
  yield* validateSecret(object);
}
