import { type Cause, required } from '@kruise/schema/field-error';
import { validateAddress } from '@kruise/values/address';
import { validateDns1123Subdomain, validatePathSegment } from '@kruise/values/names';
import { invalidStructure } from '../meta/go-value.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, refusals } from '../meta/value.validate.ts';
import type { IPAddress } from './ipaddress.ts';

/** The name is the address, so that no address can be allocated twice. */
const addressName = { whole: validateAddress, prefix: validateAddress };

export function* validateIPAddress({ metadata, spec }: IPAddress): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: addressName });
  const parent = spec?.parentRef;
  const path = 'spec.parentRef';
  if (!parent) return yield required(path);
  if (parent.group) yield* refusals(`${path}.group`, parent.group, validateDns1123Subdomain(parent.group));
  for (const field of ['resource', 'name'] as const) {
    const value = parent[field];
    if (!value) yield required(`${path}.${field}`);
    else yield* refusals(`${path}.${field}`, value, validatePathSegment(value));
  }
  const { namespace } = parent;
  if (namespace) yield* refusals(`${path}.namespace`, namespace, validatePathSegment(namespace));
}

export function* validateIPAddressUpdate({ metadata, spec }: IPAddress, old: IPAddress): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  if (!isSame(spec?.parentRef, old.spec?.parentRef)) {
    yield invalidStructure('spec.parentRef', 'networking.ParentReference', spec?.parentRef, isImmutable);
  }
}
