import { type Cause, duplicate, forbidden, invalid, notSupported, required } from '@kruise/schema/field-error';
import { parseLegacyAddress, unmap } from '@kruise/values/address';
import {
  validateDns1123Label,
  validateDns1123Subdomain,
  validatePortName,
  validatePortNumber,
  validateQualifiedName,
} from '@kruise/values/names';
import { cidrWarnings, validateEndpointIP, validateLegacyCIDR, validateLegacyIP } from '../meta/address.validate.ts';
import { choice } from '../meta/choice.validate.ts';
import { duplicateBare, invalidBare } from '../meta/go-value.ts';
import { validateLabels } from '../meta/labels.validate.ts';
import { serviceName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isImmutable, oneOf, orNull, refusals } from '../meta/value.validate.ts';
import { protocols } from './endpoints.validate.ts';
import { addressWarnings } from './pod.warnings.ts';
import type { LoadBalancerIngress, Service, ServicePort, ServiceSpec } from './service.ts';
import { hasClusterIP, isExternallyAccessible, isHeadless, needsHealthCheck } from './service-type.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];
const families: readonly string[] = ['IPv4', 'IPv6'];
const familyPolicies = ['PreferDualStack', 'RequireDualStack', 'SingleStack'];
const trafficPolicies = ['Cluster', 'Local'];
const maxAffinitySeconds = 86400;
const topologyHints = 'service.kubernetes.io/topology-aware-hints';
const topologyMode = 'service.kubernetes.io/topology-mode';
const sourceRangesAnnotation = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const onlyLoadBalancer = "may only be used when `type` is 'LoadBalancer'";
const mayNotChange = 'may not change once set';

export function validateService(service: Service): Generator<Cause> {
  return validate(service, undefined);
}

function* validate(service: Service, old: Service | undefined): Generator<Cause> {
  const { metadata, spec = {} } = service;
  yield* validateKindMeta(metadata, { namespaced: true, name: serviceName });
  const { [topologyMode]: mode, [topologyHints]: hints } = metadata.annotations ?? {};
  if (mode !== undefined && hints !== undefined && mode !== hints) {
    const detail = `must match annotations[${topologyHints}] when both are specified`;
    yield invalid(`metadata.annotations[${topologyMode}]`, mode, detail);
  }
  yield* validateType(spec);
  yield* validatePorts(spec.ports ?? []);
  yield* validateLabels(spec.selector, 'spec.selector');
  yield* validateAffinity(spec);
  yield* validateServiceAddresses(service, old);
  for (const [index, address] of (spec.externalIPs ?? []).entries()) {
    const at = `spec.externalIPs[${index}]`;
    const faults = [...validateLegacyIP(address, at, old?.spec?.externalIPs)];
    yield* faults.length > 0 ? faults : validateEndpointIP(address, at);
  }
  yield* choice('spec.type', spec.type, types);
  yield* validateNodePorts(spec);
  yield* validateSourceRanges(service, old);
  if (spec.allocateLoadBalancerNodePorts !== undefined && spec.type !== 'LoadBalancer') {
    yield forbidden('spec.allocateLoadBalancerNodePorts', onlyLoadBalancer);
  }
  if (spec.allocateLoadBalancerNodePorts === undefined && spec.type === 'LoadBalancer') {
    yield required('allocateLoadBalancerNodePorts');
  }
  yield* validateLoadBalancerClass(spec);
  yield* validateTrafficPolicies(spec);
}

function* validateType(spec: ServiceSpec): Generator<Cause> {
  const { type, ports = [], clusterIPs = [], ipFamilies = [], ipFamilyPolicy, externalName = '' } = spec;
  const headless = isHeadless(spec);
  if (ports.length === 0 && !headless && type !== 'ExternalName') yield required('spec.ports');
  if (headless && (type === 'LoadBalancer' || type === 'NodePort')) {
    yield invalid('spec.clusterIPs[0]', clusterIPs[0], `may not be set to 'None' for ${type} services`);
  }
  if (type !== 'ExternalName') return;
  const notSet = 'may not be set for ExternalName services';
  if (clusterIPs.length > 0) yield forbidden('spec.clusterIPs', notSet);
  if (ipFamilies.length > 0) yield forbidden('spec.ipFamilies', notSet);
  if (ipFamilyPolicy !== undefined) yield forbidden('spec.ipFamilyPolicy', notSet);
  const name = externalName.endsWith('.') ? externalName.slice(0, -1) : externalName;
  if (name === '') yield required('spec.externalName');
  else yield* refusals('spec.externalName', name, validateDns1123Subdomain(name));
}

function* validatePorts(ports: readonly ServicePort[]): Generator<Cause> {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `spec.ports[${index}]`;
    const { name, protocol, targetPort = 0, appProtocol } = port;
    if (name) {
      yield* refusals(`${path}.name`, name, validateDns1123Label(name));
      if (names.has(name)) yield duplicate(`${path}.name`, name);
      names.add(name);
    } else if (ports.length > 1) yield required(`${path}.name`);
    yield* refusals(`${path}.port`, port.port, validatePortNumber(port.port));
    yield* choice(`${path}.protocol`, protocol, protocols);
    yield* refusals(
      `${path}.targetPort`,
      targetPort,
      typeof targetPort === 'number' ? validatePortNumber(targetPort) : validatePortName(targetPort),
    );
    if (appProtocol !== undefined) {
      yield* refusals(`${path}.appProtocol`, appProtocol, validateQualifiedName(appProtocol));
    }
  }
}

function* validateAffinity({ sessionAffinity, sessionAffinityConfig: config }: ServiceSpec): Generator<Cause> {
  yield* choice('spec.sessionAffinity', sessionAffinity, ['ClientIP', 'None']);
  const path = 'spec.sessionAffinityConfig';
  if (sessionAffinity === 'None' && config) yield forbidden(path, 'must not be set when session affinity is None');
  if (sessionAffinity !== 'ClientIP') return;
  const why = 'when session affinity type is ClientIP';
  const seconds = config?.clientIP?.timeoutSeconds;
  if (!config) yield required(path, why);
  else if (!config.clientIP) yield required(`${path}.clientIP`, why);
  else if (seconds === undefined) yield required(`${path}.clientIP.timeoutSeconds`, why);
  else if (seconds <= 0 || seconds > maxAffinitySeconds) {
    const detail = `must be greater than 0 and less than ${maxAffinitySeconds}`;
    yield invalid(`${path}.clientIP.timeoutSeconds`, seconds, detail);
  }
}

/**
 * Validates the addresses and IP families of a Service, as far as possible without the configuration of the cluster.
 */
export function* validateServiceAddresses({ spec = {} }: Service, old: Service | undefined): Generator<Cause> {
  if (spec.type === 'ExternalName') return;
  const { clusterIP = '', clusterIPs = [], ipFamilies = [], ipFamilyPolicy } = spec;
  const path = 'spec.clusterIPs';
  if (clusterIP === '') {
    if (clusterIPs.length > 0) yield invalid(path, clusterIPs, 'must be empty when `clusterIP` is not specified');
  } else if (clusterIPs.length === 0) yield required(path);
  else if (clusterIPs[0] !== clusterIP) yield invalid(path, clusterIPs, 'first value must match `clusterIP`');
  for (const [index, family] of ipFamilies.entries()) {
    if (!families.includes(family)) yield notSupported(`spec.ipFamilies[${index}]`, family, families);
    if (ipFamilies.indexOf(family) < index) yield duplicate(`spec.ipFamilies[${index}]`, family);
  }
  if (ipFamilyPolicy !== undefined) yield* oneOf('spec.ipFamilyPolicy', ipFamilyPolicy, familyPolicies);
  let isFaulty = false;
  for (const [index, address] of clusterIPs.entries()) {
    if (index === 0 && address === 'None') {
      if (clusterIPs.length === 1) continue;
      isFaulty = true;
      yield invalid(path, clusterIPs, "'None' must be the first and only value");
      continue;
    }
    for (const fault of validateLegacyIP(address, `${path}[${index}]`, old?.spec?.clusterIPs)) {
      isFaulty = true;
      yield fault;
    }
  }
  if (clusterIPs.length > 2) yield invalid(path, clusterIPs, 'may only hold up to 2 values');
  if (isFaulty) return;
  const found = clusterIPs.map(familyOf);
  if (clusterIPs.length > 1 && new Set(found).size < 2) {
    yield invalid(path, clusterIPs, 'may specify no more than one IP for each IP family');
  }
  if (isHeadless(spec)) return;
  for (const [index, address] of clusterIPs.entries()) {
    const family = ipFamilies[index];
    if (family === undefined || !families.includes(family) || family === found[index]) continue;
    const detail = `expected an ${family} value as indicated by \`ipFamilies[${index}]\``;
    yield invalid(`${path}[${index}]`, address, detail);
  }
}

/** Returns the family of a valid address. */
export function familyOf(text: string): 'IPv4' | 'IPv6' {
  const address = parseLegacyAddress(text);
  return address && unmap(address).family === 6 ? 'IPv6' : 'IPv4';
}

function* validateNodePorts({ type, ports = [] }: ServiceSpec): Generator<Cause> {
  for (const [index, { nodePort }] of ports.entries()) {
    if (!nodePort || type !== 'ClusterIP') continue;
    yield forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'");
  }
  const nodePorts = new Set<string>();
  for (const [index, { nodePort, protocol }] of ports.entries()) {
    if (!nodePort) continue;
    const identity = `${protocol}/${nodePort}`;
    if (nodePorts.has(identity)) yield duplicate(`spec.ports[${index}].nodePort`, nodePort);
    nodePorts.add(identity);
  }
  const numbers = new Set<string>();
  for (const [index, { port, protocol }] of ports.entries()) {
    const identity = `${protocol}/${port}`;
    if (numbers.has(identity)) {
      const shown = `core.ServicePort{Name:"", Protocol:"${protocol}", AppProtocol:(*string)(nil), Port:${port}, TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}`;
      yield duplicateBare(`spec.ports[${index}]`, shown);
    }
    numbers.add(identity);
  }
}

function* validateSourceRanges({ metadata, spec = {} }: Service, old: Service | undefined): Generator<Cause> {
  const { type, loadBalancerSourceRanges: ranges = [] } = spec;
  if (ranges.length > 0) {
    const path = 'spec.LoadBalancerSourceRanges';
    if (type !== 'LoadBalancer') yield forbidden(path, onlyLoadBalancer);
    const before = old?.spec?.loadBalancerSourceRanges?.map((range) => range.trim());
    for (const [index, range] of ranges.entries()) yield* validateLegacyCIDR(range.trim(), `${path}[${index}]`, before);
    return;
  }
  const annotation = metadata.annotations?.[sourceRangesAnnotation];
  if (annotation === undefined) return;
  const path = `metadata.annotations[${sourceRangesAnnotation}]`;
  if (type !== 'LoadBalancer') yield forbidden(path, onlyLoadBalancer);
  if (old?.metadata.annotations?.[sourceRangesAnnotation] === annotation || annotation.trim() === '') return;
  for (const range of annotation.split(',')) yield* validateLegacyCIDR(range.trim(), path);
}

function* validateLoadBalancerClass({ type, loadBalancerClass }: ServiceSpec): Generator<Cause> {
  if (loadBalancerClass === undefined) return;
  if (type !== 'LoadBalancer') yield forbidden('spec.loadBalancerClass', onlyLoadBalancer);
  else yield* refusals('spec.loadBalancerClass', loadBalancerClass, validateQualifiedName(loadBalancerClass));
}

function* validateTrafficPolicies(spec: ServiceSpec): Generator<Cause> {
  const { externalTrafficPolicy, healthCheckNodePort, internalTrafficPolicy, trafficDistribution } = spec;
  if (isExternallyAccessible(spec)) {
    yield* choice('spec.externalTrafficPolicy', externalTrafficPolicy, trafficPolicies);
  } else if (externalTrafficPolicy) {
    const detail = 'may only be set for externally-accessible services';
    yield invalid('spec.externalTrafficPolicy', externalTrafficPolicy, detail);
  }
  if (needsHealthCheck(spec)) {
    if (!healthCheckNodePort) yield required('spec.healthCheckNodePort');
    else yield* refusals('spec.healthCheckNodePort', healthCheckNodePort, validatePortNumber(healthCheckNodePort));
  } else if (healthCheckNodePort) {
    const detail = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    yield invalid('spec.healthCheckNodePort', healthCheckNodePort, detail);
  }
  if (internalTrafficPolicy !== undefined) {
    yield* oneOf('spec.internalTrafficPolicy', internalTrafficPolicy, trafficPolicies);
  } else if (spec.type === 'NodePort' || spec.type === 'LoadBalancer' || spec.type === 'ClusterIP') {
    yield required('spec.internalTrafficPolicy');
  }
  if (trafficDistribution !== undefined) {
    yield* oneOf('spec.trafficDistribution', trafficDistribution, ['PreferClose']);
  }
}

export function* validateServiceUpdate(service: Service, old: Service): Generator<Cause> {
  yield* validateKindMetaUpdate(service.metadata, old.metadata);
  const [spec, before] = [service.spec ?? {}, old.spec ?? {}];
  if (spec.type !== 'ExternalName' && before.type !== 'ExternalName') {
    yield* validateAddressChange(spec, before);
    yield* validateFamilyChange(spec, before);
  }
  if (before.type === 'LoadBalancer' && spec.type === 'LoadBalancer') {
    if (spec.loadBalancerClass !== before.loadBalancerClass) {
      yield invalid('spec.loadBalancerClass', orNull(spec.loadBalancerClass), mayNotChange);
    }
  }
  yield* validateLoadBalancerClass(spec);
  if (needsHealthCheck(before) && needsHealthCheck(spec)) {
    if ((spec.healthCheckNodePort ?? 0) !== (before.healthCheckNodePort ?? 0)) {
      yield forbidden('spec.healthCheckNodePort', isImmutable);
    }
  }
  yield* validate(service, old);
}

/** A secondary address may be added or removed. The primary address is immutable. */
function* validateAddressChange(spec: ServiceSpec, before: ServiceSpec): Generator<Cause> {
  if (isHeadless(spec) && isHeadless(before)) return;
  const [now, old] = [spec.clusterIPs ?? [], before.clusterIPs ?? []];
  if (now.length === old.length) {
    for (const [index, address] of old.entries()) {
      if (address !== now[index]) yield invalid(`spec.clusterIPs[${index}]`, now, mayNotChange);
    }
    return;
  }
  if (now.length === 0) {
    yield invalidBare('spec.clusterIPs[0]', '[]string(nil)', 'primary clusterIP can not be unset');
  } else if (old.length > 0 && now[0] !== old[0]) yield invalid('spec.clusterIPs[0]', now, mayNotChange);
  if (old.length > now.length && now.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary clusterIP";
    yield invalid('spec.ipFamilyPolicy', orNull(spec.ipFamilyPolicy), detail);
  }
}

function* validateFamilyChange(spec: ServiceSpec, before: ServiceSpec): Generator<Cause> {
  if (isHeadless(spec) || isHeadless(before)) return;
  const [now, old] = [spec.ipFamilies ?? [], before.ipFamilies ?? []];
  const path = 'spec.ipFamilies[0]';
  const shown = `[]core.IPFamily{${now.map((family) => `"${family}"`).join(', ')}}`;
  if (now.length === old.length) {
    for (const [index, family] of old.entries()) {
      if (family !== now[index]) yield invalidBare(path, shown, mayNotChange);
    }
    return;
  }
  if (old.length > now.length && (spec.clusterIPs ?? []).length === 0) {
    yield invalidBare(path, shown, 'primary ipFamily can not be unset');
  }
  if (old.length > 0 && now.length > 0 && now[0] !== old[0]) {
    yield invalid(path, spec.clusterIPs ?? [], mayNotChange);
  }
  if (old.length > now.length && now.length === 1 && spec.ipFamilyPolicy !== 'SingleStack') {
    const detail = "must be set to 'SingleStack' when releasing the secondary ipFamily";
    yield invalid('spec.ipFamilyPolicy', orNull(spec.ipFamilyPolicy), detail);
  }
}

export function* validateServiceStatusUpdate(
  { metadata, spec = {}, status = {} }: Service,
  old: Service,
): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  const path = 'status.loadBalancer.ingress';
  const ingresses = status.loadBalancer?.ingress ?? [];
  if (spec.type !== 'LoadBalancer' && ingresses.length > 0) {
    return yield forbidden(path, "may only be used when `spec.type` is 'LoadBalancer'");
  }
  const before = (old.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  for (const [index, ingress] of ingresses.entries()) yield* validateIngress(ingress, before, `${path}[${index}]`);
}

function* validateIngress(
  { ip, ipMode, hostname }: LoadBalancerIngress,
  before: readonly string[],
  path: string,
): Generator<Cause> {
  if (ip) yield* validateLegacyIP(ip, `${path}.ip`, before);
  if (ipMode === undefined) {
    if (ip) yield required(`${path}.ipMode`, 'must be specified when `ip` is set');
  } else if (!ip) yield forbidden(`${path}.ipMode`, 'may not be specified when `ip` is not set');
  else yield* oneOf(`${path}.ipMode`, ipMode, ['Proxy', 'VIP']);
  if (hostname) yield* validateHostname(hostname, `${path}.hostname`);
}

/** Validates the host name of a load balancer. */
export function* validateHostname(hostname: string, path: string): Generator<Cause> {
  yield* refusals(path, hostname, validateDns1123Subdomain(hostname));
  if (parseLegacyAddress(hostname)) yield invalid(path, hostname, 'must be a DNS name, not an IP address');
}

export function* serviceWarnings(service: Service): Generator<string> {
  const { metadata, spec = {} } = service;
  if (metadata.annotations?.[topologyHints] !== undefined) {
    yield `annotation ${topologyHints} is deprecated, please use ${topologyMode} instead`;
  }
  const { clusterIPs = [], externalIPs = [], loadBalancerIP, loadBalancerSourceRanges = [] } = spec;
  if (hasClusterIP(service)) {
    for (const [index, address] of clusterIPs.entries()) yield* addressWarnings(address, `spec.clusterIPs[${index}]`);
  }
  for (const [index, address] of externalIPs.entries()) yield* addressWarnings(address, `spec.externalIPs[${index}]`);
  if (loadBalancerIP) yield* addressWarnings(loadBalancerIP, 'spec.loadBalancerIP');
  for (const [index, range] of loadBalancerSourceRanges.entries()) {
    yield* cidrWarnings(range, `spec.loadBalancerSourceRanges[${index}]`);
  }
  if (spec.type === 'ExternalName') {
    if (externalIPs.length > 0) yield 'spec.externalIPs is ignored when spec.type is "ExternalName"';
  } else if (spec.externalName) yield 'spec.externalName is ignored when spec.type is not "ExternalName"';
}

export function* serviceStatusWarnings({ status }: Service): Generator<string> {
  for (const [index, { ip }] of (status?.loadBalancer?.ingress ?? []).entries()) {
    // Kubernetes reports the path of the ingress, not of its address.
    if (ip) yield* addressWarnings(ip, `status.loadBalancer.ingress[${index}]`);
  }
}
