import type { Service, ServiceSpec } from '@kruise/api/core/service';
import { familyOf, validateServiceAddresses } from '@kruise/api/core/service.validate';
import { isSame } from '@kruise/machinery/json-value';
import type { Draft } from '@kruise/schema/draft';
import { type Cause, invalid } from '@kruise/schema/field-error';
import type { Family } from './cluster-ips.ts';

const policyPath = 'spec.ipFamilyPolicy';

/**
 * Completes the IP families of a Service. Unset fields are derived from the previous state, the given addresses, or the
 * families of the cluster. Returns errors for families that the cluster does not support.
 */
export function fillInFamilies(
  service: Draft<Service>,
  old: Service | undefined,
  families: readonly Family[],
): readonly Cause[] {
  const spec = (service.spec ??= {});
  const before = old?.spec;
  if (spec.type === 'ExternalName' || keepsPreferred(spec, before)) return [];
  const isBare = spec.clusterIP === 'None' && Object.keys(spec.selector ?? {}).length === 0;
  spec.ipFamilyPolicy ??= before?.ipFamilyPolicy ?? (isBare ? 'RequireDualStack' : 'SingleStack');
  const early = [...validateServiceAddresses(service as Service, old)];
  if (early.length > 0) return early;
  const faults = before ? [...settleReduction(spec, before)] : [];
  faults.push(...policyFaults(spec), ...inferFamilies(spec, families));
  if (faults.length > 0) return faults;
  // The client that writes the endpoints of a headless Service without selector decides their families.
  if (isBare) {
    fill(spec, families, true);
    return [];
  }
  if (spec.ipFamilyPolicy === 'RequireDualStack' && families.length < 2) {
    faults.push(invalid(policyPath, spec.ipFamilyPolicy, 'this cluster is not configured for dual-stack services'));
  }
  for (const [index, family] of (spec.ipFamilies ?? []).entries()) {
    if (families.includes(family as Family)) continue;
    faults.push(invalid(`spec.ipFamilies[${index}]`, family, 'not configured on this cluster'));
  }
  if (faults.length === 0) fill(spec, families, families.length === 2);
  return faults;
}

/** A PreferDualStack Service keeps its families even if the families of the cluster change. */
function keepsPreferred(spec: ServiceSpec, before: ServiceSpec | undefined): boolean {
  if (spec.ipFamilyPolicy !== 'PreferDualStack' || before?.ipFamilyPolicy !== 'PreferDualStack') return false;
  return (
    spec.type !== 'ExternalName' &&
    before.type !== 'ExternalName' &&
    isSame(spec.clusterIPs ?? [], before.clusterIPs ?? []) &&
    isSame(spec.ipFamilies ?? [], before.ipFamilies ?? [])
  );
}

/** Removing the second family requires an explicit ipFamilyPolicy; the other fields are then truncated. */
function* settleReduction(spec: Draft<ServiceSpec>, before: ServiceSpec): Generator<Cause> {
  const [addresses, families] = [spec.clusterIPs ?? [], spec.ipFamilies ?? []];
  const [oldAddresses, oldFamilies] = [before.clusterIPs ?? [], before.ipFamilies ?? []];
  if (spec.ipFamilyPolicy === 'SingleStack') {
    if (addresses.length > 1 && isSame(addresses, oldAddresses)) spec.clusterIPs = addresses.slice(0, 1);
    if (families.length > 1 && isSame(families, oldFamilies)) spec.ipFamilies = families.slice(0, 1);
    return;
  }
  if (oldAddresses.length > 1 && addresses.length === 1) {
    yield invalid(policyPath, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary cluster IP");
  }
  if (oldFamilies.length > 1 && families.length === 1) {
    yield invalid(policyPath, spec.ipFamilyPolicy, "must be 'SingleStack' to release the secondary IP family");
  }
}

function* policyFaults({ ipFamilyPolicy, clusterIPs = [], ipFamilies = [] }: ServiceSpec): Generator<Cause> {
  if (ipFamilyPolicy !== 'SingleStack') return;
  const detail = (what: string) =>
    `must be 'RequireDualStack' or 'PreferDualStack' when multiple ${what} are specified`;
  if (clusterIPs.length === 2) yield invalid(policyPath, ipFamilyPolicy, detail('cluster IPs'));
  if (ipFamilies.length === 2) yield invalid(policyPath, ipFamilyPolicy, detail('IP families'));
}

function* inferFamilies(spec: Draft<ServiceSpec>, families: readonly Family[]): Generator<Cause> {
  for (const [index, address] of (spec.clusterIPs ?? []).entries()) {
    if (address === 'None') return;
    if (index < (spec.ipFamilies ?? []).length) continue;
    const family = familyOf(address);
    if (families.includes(family)) spec.ipFamilies = [...(spec.ipFamilies ?? []), family];
    else yield invalid(`spec.clusterIPs[${index}]`, spec.clusterIPs, `${family} is not configured on this cluster`);
  }
}

function fill(spec: Draft<ServiceSpec>, [primary = 'IPv4']: readonly Family[], canHaveBoth: boolean): void {
  if (!spec.ipFamilies?.length) spec.ipFamilies = [primary];
  if (spec.ipFamilyPolicy === 'SingleStack' || spec.ipFamilies.length > 1 || !canHaveBoth) return;
  spec.ipFamilies = [...spec.ipFamilies, spec.ipFamilies[0] === 'IPv4' ? 'IPv6' : 'IPv4'];
}
