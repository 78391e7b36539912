import { type Cause, invalid, required } from '@kruise/schema/field-error';
import { validatePrefixText } from '@kruise/values/address';
import { legacyPrefixOf } from '../meta/address.validate.ts';
import { invalidBare, invalidStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isImmutable, refusals } from '../meta/value.validate.ts';
import type { ServiceCIDR, ServiceCIDRSpec } from './servicecidr.ts';

const path = 'spec.cidrs';

export function* validateServiceCIDR({ metadata, spec = {} }: ServiceCIDR): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  yield* validateSpec(spec);
}

function* validateSpec(spec: ServiceCIDRSpec): Generator<Cause> {
  const { cidrs = [] } = spec;
  if (cidrs.length === 0) return yield required(path, 'at least one CIDR required');
  if (cidrs.length > 2) {
    return yield invalidStructure(path, 'networking.ServiceCIDRSpec', spec, 'may only hold up to 2 values');
  }
  for (const [index, cidr] of cidrs.entries()) yield* refusals(`${path}[${index}]`, cidr, validatePrefixText(cidr));
  const [first, second] = cidrs.map((cidr) => legacyPrefixOf(cidr)?.address.family);
  if (cidrs.length === 2 && first !== undefined && first === second) {
    const detail = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64';
    yield invalid(path, cidrs, detail);
  }
}

/** A range of the other family may be added. Existing ranges are immutable. */
export function* validateServiceCIDRUpdate({ metadata, spec = {} }: ServiceCIDR, old: ServiceCIDR): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  const [now, before] = [spec.cidrs ?? [], old.spec?.cidrs ?? []];
  const isExtended = before.length === 1 && now.length === 2;
  if (now.length !== before.length && !isExtended) {
    return yield now.length === 0 ? invalidBare(path, '[]string(nil)', isImmutable) : invalid(path, now, isImmutable);
  }
  for (const [index, cidr] of before.entries()) {
    if (cidr !== now[index]) yield invalid(`${path}[${index}]`, now[index], isImmutable);
  }
  if (isExtended) yield* validateSpec(spec);
}
