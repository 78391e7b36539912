import { X509Certificate } from 'node:crypto';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '@kruise/api/certificates/certificatesigningrequest';
import { invalidBare } from '@kruise/api/meta/go-value';
import type { NameRule } from '@kruise/api/meta/name-rules';
import { validateKindMeta, validateKindMetaUpdate } from '@kruise/api/meta/object-meta.validate';
import { isSame } from '@kruise/machinery/json-value';
import { readEncodedRequest } from '@kruise/machinery/x509/certificate';
import type { Draft } from '@kruise/schema/draft';
import { type Cause, duplicate, forbidden, invalid, notSupported, required, tooLong } from '@kruise/schema/field-error';
import { validateDns1123Label, validateDns1123Subdomain } from '@kruise/values/names';
import { pemBlocks } from '@kruise/values/pem';
import { type RequestContext, timestamp } from '../context.ts';

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const legacySigner = 'kubernetes.io/legacy-unknown';
const leastSeconds = 600;
/** Condition types that are decisions: their status is always True. */
const decisions = ['Approved', 'Denied', 'Failed'];

/** CSR names may be any valid path segment. */
const anyName: NameRule = { whole: () => [], prefix: () => [] };

type Request = CertificateSigningRequest;

/** Sets the requesting user on a CSR; values from the client are ignored. */
export function prepareRequest(draft: Draft<Request>, { user }: RequestContext): void {
  const { username, uid, groups, extra } = user;
  const { username: _, uid: __, groups: ___, extra: ____, ...asked } = draft.spec;
  draft.spec = {
    ...asked,
    username,
    ...(uid === undefined ? {} : { uid }),
    groups: [...groups],
    ...(extra ? { extra: Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]])) } : {}),
  };
  delete draft.status;
}

/** Keeps the spec, which is immutable. */
export function keepRequest(draft: Draft<Request>, old: Request): void {
  draft.spec = old.spec as Draft<Request>['spec'];
}

/** A signer writes the certificate and the Failed condition, but not the approval. */
export function prepareSigning(draft: Draft<Request>, old: Request, context: RequestContext): void {
  for (const type of ['Approved', 'Denied']) {
    const before = ofType(old, type);
    const now = ofType(draft as Request, type);
    if (before.length !== now.length || !draft.status?.conditions) continue;
    const kept = [...before];
    draft.status.conditions = draft.status.conditions.map((condition) =>
      condition.type === type ? (kept.shift() as typeof condition) : condition,
    );
  }
  fillInTimes(draft, old, context);
}

/** An approver only writes conditions. */
export function prepareApproval(draft: Draft<Request>, old: Request, context: RequestContext): void {
  fillInTimes(draft, old, context);
  const conditions = draft.status?.conditions;
  const { conditions: _, ...status } = old.status ?? {};
  draft.status = { ...(status as NonNullable<typeof draft.status>), ...(conditions ? { conditions } : {}) };
}

function fillInTimes(draft: Draft<Request>, old: Request, context: RequestContext): void {
  const now = timestamp(context);
  for (const condition of draft.status?.conditions ?? []) {
    condition.lastUpdateTime ??= now;
    const same = old.status?.conditions?.find(
      ({ type, status, lastTransitionTime }) =>
        type === condition.type && status === condition.status && lastTransitionTime,
    );
    condition.lastTransitionTime ??= same?.lastTransitionTime ?? now;
  }
}

function ofType({ status }: Request, type: string): readonly CertificateSigningRequestCondition[] {
  return status?.conditions?.filter((condition) => condition.type === type) ?? [];
}

export function* validateRequest(request: Request, old?: Request): Generator<Cause> {
  const { metadata, spec, status } = request;
  yield* validateKindMeta(metadata, { namespaced: false, name: anyName });
  yield* validatePem(spec.request);
  yield* validateUsages(spec.usages ?? [], old?.spec.usages);
  const signer = spec.signerName ?? '';
  if (signer === legacySigner && old?.spec.signerName !== legacySigner) {
    yield invalid('spec.signerName', signer, 'the legacy signerName is not allowed via this API version');
  } else yield* validateSignerName(signer);
  const seconds = spec.expirationSeconds;
  if (seconds != null && seconds < leastSeconds) {
    const detail = 'may not specify a duration less than 600 seconds (10 minutes)';
    yield invalid('spec.expirationSeconds', seconds, detail);
  }
  yield* validateConditions(request, old);
  if (old && (status?.certificate ?? '') === (old.status?.certificate ?? '')) return;
  const fault = certificateFault(status?.certificate ?? '');
  if (fault !== undefined) yield invalid('status.certificate', '<certificate data>', fault);
}

function* validatePem(base64: string | null | undefined): Generator<Cause> {
  const fault = requestFault(base64 ?? '');
  if (fault === undefined) return;
  const bytes = Buffer.from(base64 ?? '', 'base64');
  const isMissing = base64 === undefined || base64 === null;
  const shown = isMissing ? '[]byte(nil)' : `[]byte{${[...bytes].map((byte) => `0x${byte.toString(16)}`).join(', ')}}`;
  yield invalidBare('spec.request', shown, fault);
}

function requestFault(base64: string): string | undefined {
  try {
    readEncodedRequest(base64);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function* validateUsages(given: readonly string[], before: readonly string[] | null | undefined): Generator<Cause> {
  if (given.length === 0) yield required('spec.usages');
  // Values that an earlier version accepted remain valid.
  const isLax = before?.some((usage) => !usages.includes(usage)) ?? false;
  for (const [index, usage] of given.entries()) {
    if (!isLax && !usages.includes(usage)) yield notSupported(`spec.usages[${index}]`, usage, usages);
  }
  if (before && new Set(before).size < before.length) return;
  for (const [index, usage] of given.entries()) {
    if (given.indexOf(usage) < index) yield duplicate(`spec.usages[${index}]`, usage);
  }
}

function* validateSignerName(name: string): Generator<Cause> {
  const field = 'spec.signerName';
  if (name === '') {
    yield required(field);
    return;
  }
  const [domain = '', path = '', ...more] = name.split('/');
  if (more.length > 0 || !name.includes('/')) {
    yield invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'");
    return;
  }
  const longestDomain = 253;
  if (domain.length > longestDomain) yield tooLong(field, longestDomain);
  yield* labelFaults(field, domain, validateDns1123Label);
  if (!domain.includes('.')) {
    yield invalid(field, domain, 'should be a domain with at least two segments separated by dots');
  }
  yield* labelFaults(field, path, validateDns1123Subdomain);
  const longestPath = 253 + 1 + 63;
  if (path.length > longestPath) yield tooLong(field, longestPath);
}

/** Yields the errors of the first invalid label. */
function* labelFaults(field: string, value: string, faultsOf: (label: string) => readonly string[]): Generator<Cause> {
  for (const label of value.split('.')) {
    const faults = faultsOf(label);
    for (const fault of faults) yield invalid(field, value, `validating label ${JSON.stringify(label)}: ${fault}`);
    if (faults.length > 0) return;
  }
}

function* validateConditions(request: Request, old: Request | undefined): Generator<Cause> {
  const before = old?.status?.conditions ?? [];
  const wasTwice = new Set(before.map(({ type }) => type)).size < before.length;
  const wasBoth = before.some(({ type }) => type === 'Approved') && before.some(({ type }) => type === 'Denied');
  const wasEmpty = before.some(({ type }) => type === '');
  const seen = new Set<string>();
  for (const [index, { type, status }] of (request.status?.conditions ?? []).entries()) {
    const path = `status.conditions[${index}]`;
    if (type === '' && !wasEmpty) yield required(`${path}.type`);
    const allowed = decisions.includes(type) ? ['True'] : ['False', 'True', 'Unknown'];
    if (status === '') yield required(`${path}.status`);
    else if (!allowed.includes(status)) yield notSupported(`${path}.status`, status, allowed);
    const opposite = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined;
    if (opposite && seen.has(opposite) && !wasBoth) {
      yield invalid(`${path}.type`, type, 'Approved and Denied conditions are mutually exclusive');
    }
    if (seen.has(type) && !wasTwice) yield duplicate(`${path}.type`, type);
    seen.add(type);
  }
}

function certificateFault(base64: string): string | undefined {
  if (base64 === '') return undefined;
  const text = Buffer.from(base64, 'base64').toString('latin1');
  const blocks = [...pemBlocks(text)];
  if (blocks.length === 0) return 'must contain at least one CERTIFICATE PEM block';
  for (const { label, content, text: block } of blocks) {
    if (label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(label)}`;
    if (content.includes(':')) return 'no PEM block headers are permitted';
    try {
      new X509Certificate(block);
    } catch {
      return 'x509: malformed certificate';
    }
  }
  return undefined;
}

/** Fields that a strategy may set. */
export type Allowed = { readonly approval: boolean; readonly certificate: boolean };

export function* validateRequestUpdate(request: Request, old: Request, allowed: Allowed): Generator<Cause> {
  yield* validateRequest(request, old);
  const field = 'status.conditions';
  for (const type of decisions) {
    if (ofType(request, type).length < ofType(old, type).length) {
      yield forbidden(field, `updates may not remove a condition of type ${JSON.stringify(type)}`);
    }
  }
  if (!allowed.approval) {
    for (const type of ['Approved', 'Denied']) {
      const [now, before] = [ofType(request, type), ofType(old, type)];
      if (now.length > before.length) {
        yield forbidden(field, `updates may not add a condition of type ${JSON.stringify(type)}`);
      } else if (now.length === before.length && !isSame(now, before)) {
        yield forbidden(field, `updates may not modify a condition of type ${JSON.stringify(type)}`);
      }
    }
  }
  const before = old.status?.certificate ?? '';
  if ((request.status?.certificate ?? '') !== before) {
    if (!allowed.certificate) yield forbidden('status.certificate', 'updates may not set certificate content');
    else if (before !== '')
      yield forbidden('status.certificate', 'updates may not modify existing certificate content');
  }
  yield* validateKindMetaUpdate(request.metadata, old.metadata);
}
