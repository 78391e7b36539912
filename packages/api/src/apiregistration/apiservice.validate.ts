import type { Draft } from '@kruise/schema/draft';
import { type Cause, invalid, notSupported, required } from '@kruise/schema/field-error';
import { quote } from '@kruise/values/go-syntax';
import {
  validateDns1035Label,
  validateDns1123Subdomain,
  validatePathSegment,
  validatePortNumber,
} from '@kruise/values/names';
import { validateObjectMeta, validateObjectMetaUpdate } from '../meta/object-meta.validate.ts';
import { refusals } from '../meta/value.validate.ts';
import type { APIService } from './apiservice.ts';

export function defaultAPIService({ spec }: Draft<APIService>): void {
  if (spec?.service) spec.service.port ??= 443;
}

/** Local APIServices are available from the start. */
export function prepareAPIServiceForCreate(object: Draft<APIService>, now: string): void {
  if (object.spec?.service) return;
  object.status = {
    conditions: [
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: now,
        reason: 'Local',
        message: 'Local APIServices are always available',
      },
    ],
  };
}

export function* validateAPIService({ metadata, spec }: APIService): Generator<Cause> {
  const { group = '', version = '', groupPriorityMinimum = 0, versionPriority = 0, service } = spec ?? {};
  const { caBundle, insecureSkipTLSVerify = false } = spec ?? {};
  const expected = `${version}.${group}`;
  const nameFaults = (name: string) => {
    const faults = validatePathSegment(name);
    if (faults.length > 0 || name === expected) return faults;
    return [`must be \`spec.version+"."+spec.group\`: ${quote(expected)}`];
  };
  yield* validateObjectMeta(metadata, { namespaced: false, name: { whole: nameFaults, prefix: nameFaults } });
  if (group) yield* refusals('spec.group', group, validateDns1123Subdomain(group));
  else if (version !== 'v1') {
    yield required('spec.group', 'only v1 may have an empty group and it better be legacy kube');
  }
  yield* refusals('spec.version', version, validateDns1035Label(version));
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20000) {
    yield invalid('spec.groupPriorityMinimum', groupPriorityMinimum, 'must be positive and less than 20000');
  }
  if (versionPriority <= 0 || versionPriority > 1000) {
    yield invalid('spec.versionPriority', versionPriority, 'must be positive and less than 1000');
  }
  const skips = 'spec.insecureSkipTLSVerify';
  if (!service) {
    if (caBundle) {
      const shown = `${Buffer.byteLength(caBundle, 'base64')} bytes`;
      yield invalid('spec.caBundle', shown, 'local APIServices may not have a caBundle');
    }
    if (insecureSkipTLSVerify) yield invalid(skips, true, 'local APIServices may not have insecureSkipTLSVerify');
    return;
  }
  if (!service.namespace) yield required('spec.service.namespace');
  if (!service.name) yield required('spec.service.name');
  const portFaults = validatePortNumber(service.port ?? 0);
  if (portFaults.length > 0) {
    yield invalid('spec.service.port', service.port ?? 0, `port is not valid: ${portFaults.join(', ')}`);
  }
  if (insecureSkipTLSVerify && caBundle) yield invalid(skips, true, 'may not be true if caBundle is present');
}

export function* validateAPIServiceUpdate(object: APIService, old: APIService): Generator<Cause> {
  yield* validateObjectMetaUpdate(object.metadata, old.metadata);
  yield* validateAPIService(object);
}

export function* validateAPIServiceStatusUpdate({ metadata, status }: APIService, old: APIService): Generator<Cause> {
  yield* validateObjectMetaUpdate(metadata, old.metadata);
  const statuses = ['True', 'False', 'Unknown'];
  for (const [index, condition] of (status?.conditions ?? []).entries()) {
    if (statuses.includes(condition.status)) continue;
    yield notSupported(`status.conditions[${index}].status`, condition.status, statuses);
  }
}
