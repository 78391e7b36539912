import { type Cause, invalid, notSupported, required } from '@kruise/schema/field-error';
import { parseLegacyAddress } from '@kruise/values/address';
import {
  validateDns1035Label,
  validateDns1123Subdomain,
  validatePathSegment,
  validatePortName,
  validatePortNumber,
  validateWildcardDns1123Subdomain,
} from '@kruise/values/names';
import { addressWarnings } from '../core/pod.warnings.ts';
import { validateHostname } from '../core/service.validate.ts';
import { validateLegacyIP } from '../meta/address.validate.ts';
import { invalidBare } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { refusals } from '../meta/value.validate.ts';
import type { HTTPIngressPath, Ingress, IngressBackend, IngressRule, IngressSpec } from './ingress.ts';

const classAnnotation = 'kubernetes.io/ingress.class';
const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const forbiddenInPath = ['//', '/./', '/../', '%2f', '%2F'];
const forbiddenAtEnd = ['/..', '/.'];

export function* validateIngress(ingress: Ingress): Generator<Cause> {
  yield* validate(ingress, undefined);
  const annotation = ingress.metadata.annotations?.[classAnnotation];
  const name = ingress.spec?.ingressClassName;
  if (annotation !== undefined && name !== undefined && annotation !== name) {
    const detail = 'must match `ingressClassName` when both are specified';
    yield invalid(`annotations.${classAnnotation}`, annotation, detail);
  }
}

export function* validateIngressUpdate(ingress: Ingress, old: Ingress): Generator<Cause> {
  yield* validateKindMetaUpdate(ingress.metadata, old.metadata);
  yield* validate(ingress, old);
}

function* validate({ metadata, spec = {} }: Ingress, old: Ingress | undefined): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: true, name: subdomainName });
  const { rules = [], defaultBackend, ingressClassName } = spec;
  if (rules.length === 0 && !defaultBackend) {
    yield invalidBare('spec', '[]networking.IngressRule(nil)', 'either `defaultBackend` or `rules` must be specified');
  }
  if (defaultBackend) yield* validateBackend(defaultBackend, 'spec.defaultBackend');
  // Stored rules are tolerated: hosts with wildcards used not to be validated strictly.
  const toleratesRules = old?.spec?.rules?.some(
    (rule) => isWildcard(rule.host) && [...validatePaths(rule, '')].length > 0,
  );
  for (const [index, rule] of rules.entries()) {
    const path = `spec.rules[${index}]`;
    yield* validateHost(rule.host, `${path}.host`);
    if (!toleratesRules || !isWildcard(rule.host)) yield* validatePaths(rule, path);
  }
  yield* validateTLS(spec, old?.spec);
  if (ingressClassName !== undefined) {
    yield* refusals('spec.ingressClassName', ingressClassName, validateDns1123Subdomain(ingressClassName));
  }
}

function isWildcard(host: string | undefined): boolean {
  return host?.includes('*') ?? false;
}

function* validateHost(host: string | undefined, path: string): Generator<Cause> {
  if (!host) return;
  if (parseLegacyAddress(host)) yield invalid(path, host, 'must be a DNS name, not an IP address');
  yield* refusals(path, host, validateHostName(host));
}

function validateHostName(host: string): readonly string[] {
  return isWildcard(host) ? validateWildcardDns1123Subdomain(host) : validateDns1123Subdomain(host);
}

function* validatePaths({ http }: IngressRule, path: string): Generator<Cause> {
  if (!http) return;
  if (!http.paths?.length) yield required(`${path}.http.paths`);
  for (const [index, each] of (http.paths ?? []).entries()) yield* validatePath(each, `${path}.http.paths[${index}]`);
}

function* validatePath({ path: url = '', pathType, backend }: HTTPIngressPath, path: string): Generator<Cause> {
  if (pathType === undefined || pathType === null) {
    return yield required(`${path}.pathType`, 'pathType must be specified');
  }
  if (pathType === 'Exact' || pathType === 'Prefix') {
    if (!url.startsWith('/')) yield invalid(`${path}.path`, url, 'must be an absolute path');
    for (const part of forbiddenInPath) {
      if (url.includes(part)) yield invalid(`${path}.path`, url, `must not contain '${part}'`);
    }
    for (const end of forbiddenAtEnd) {
      if (url.endsWith(end)) yield invalid(`${path}.path`, url, `cannot end with '${end}'`);
    }
  } else if (pathType === 'ImplementationSpecific') {
    if (url !== '' && !url.startsWith('/')) yield invalid(`${path}.path`, url, 'must be an absolute path');
  } else yield notSupported(`${path}.pathType`, pathType, pathTypes);
  yield* validateBackend(backend ?? {}, `${path}.backend`);
}

function* validateBackend({ resource, service }: IngressBackend, path: string): Generator<Cause> {
  if (resource && service) return yield invalid(path, '', 'cannot set both resource and service backends');
  if (resource) return yield* validateLocalReference(resource, `${path}.resource`);
  if (!service) return yield invalid(path, '', 'resource or service backend is required');
  const { name = '', number = 0 } = service.port ?? {};
  if (!service.name) yield required(`${path}.service.name`);
  else yield* refusals(`${path}.service.name`, service.name, validateDns1035Label(service.name));
  if (name && number) yield invalid(path, '', 'cannot set both port name & port number');
  else if (name) yield* refusals(`${path}.service.port.name`, name, validatePortName(name));
  else if (number) yield* refusals(`${path}.service.port.number`, number, validatePortNumber(number));
  else yield required(path, 'port name or number is required');
}

type LocalReference = { readonly apiGroup?: string | null; readonly kind: string; readonly name: string };

/** Validates a reference to an object of any kind in the same namespace. */
export function* validateLocalReference({ apiGroup, kind, name }: LocalReference, path: string): Generator<Cause> {
  // Decoded null: the field is a pointer that is always written.
  if (apiGroup !== undefined && apiGroup !== null) {
    yield* refusals(`${path}.apiGroup`, apiGroup, validateDns1123Subdomain(apiGroup));
  }
  if (kind) yield* refusals(`${path}.kind`, kind, validatePathSegment(kind));
  else yield required(`${path}.kind`, 'kind is required');
  if (name) yield* refusals(`${path}.name`, name, validatePathSegment(name));
  else yield required(`${path}.name`, 'name is required');
}

function* validateTLS({ tls = [] }: IngressSpec, old: IngressSpec | undefined): Generator<Cause> {
  const faultsOf = (name: string | undefined) => (name ? validateDns1123Subdomain(name) : []);
  const toleratesNames = old?.tls?.some(({ secretName }) => faultsOf(secretName).length > 0);
  for (const [index, { hosts = [], secretName }] of tls.entries()) {
    for (const [at, host] of hosts.entries()) {
      yield* refusals(`spec.tls[${index}].hosts[${at}]`, host, validateHostName(host));
    }
    if (!toleratesNames) yield* refusals(`spec.tls[${index}].secretName`, secretName, faultsOf(secretName));
  }
}

export function* validateIngressStatusUpdate({ metadata, status }: Ingress, old: Ingress): Generator<Cause> {
  yield* validateKindMetaUpdate(metadata, old.metadata);
  const before = (old.status?.loadBalancer?.ingress ?? []).flatMap(({ ip }) => (ip ? [ip] : []));
  for (const [index, { ip, hostname }] of (status?.loadBalancer?.ingress ?? []).entries()) {
    const path = `status.loadBalancer.ingress[${index}]`;
    if (ip) yield* validateLegacyIP(ip, `${path}.ip`, before);
    if (hostname) yield* validateHostname(hostname, `${path}.hostname`);
  }
}

export function* ingressWarnings({ metadata, spec }: Ingress, old: Ingress | undefined): Generator<string> {
  if (old || metadata.annotations?.[classAnnotation] === undefined || spec?.ingressClassName !== undefined) return;
  yield `annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`;
}

export function* ingressStatusWarnings({ status }: Ingress): Generator<string> {
  for (const [index, { ip }] of (status?.loadBalancer?.ingress ?? []).entries()) {
    // Kubernetes reports the path of the ingress, not of its address.
    if (ip) yield* addressWarnings(ip, `status.loadBalancer.ingress[${index}]`);
  }
}
