import type { Draft } from '@kruise/schema/draft';
import { type Cause, forbidden, invalid, required, tooLong } from '@kruise/schema/field-error';
import { validateDns1123Label, validateDns1123Subdomain, validateDomainPrefixedPath } from '@kruise/values/names';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta, validateKindMetaUpdate } from '../meta/object-meta.validate.ts';
import { isImmutable, oneOf, refusals } from '../meta/value.validate.ts';
import { validateLocalReference } from './ingress.validate.ts';
import type { IngressClass, IngressClassParametersReference } from './ingressclass.ts';

const maxControllerLength = 250;

export function defaultIngressClass({ spec }: Draft<IngressClass>): void {
  if (spec?.parameters) spec.parameters.scope ??= 'Cluster';
}

export function* validateIngressClass({ metadata, spec = {} }: IngressClass): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  const { controller = '', parameters } = spec;
  if (Buffer.byteLength(controller) > maxControllerLength) yield tooLong('spec.controller', maxControllerLength);
  if (controller === '') yield required('spec.controller');
  else yield* validateController(controller);
  if (parameters) yield* validateParameters(parameters, 'spec.parameters');
}

function* validateController(controller: string): Generator<Cause> {
  const [domain = '', path = ''] = controller.split(/\/(.*)/s, 2);
  // Kubernetes reports only the invalid domain.
  const isDomainFaulty = domain !== '' && path !== '' && validateDns1123Subdomain(domain).length > 0;
  if (isDomainFaulty) yield* refusals('spec.controller', domain, validateDns1123Subdomain(domain));
  else yield* refusals('spec.controller', controller, validateDomainPrefixedPath(controller));
}

function* validateParameters(parameters: IngressClassParametersReference, path: string): Generator<Cause> {
  yield* validateLocalReference(parameters, path);
  const { scope, namespace } = parameters;
  if (scope === undefined) return yield required(`${path}.scope`);
  yield* oneOf(`${path}.scope`, scope, ['Cluster', 'Namespace']);
  if (scope === 'Namespace') {
    if (namespace === undefined) yield required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'");
    else yield* refusals(`${path}.namespace`, namespace, validateDns1123Label(namespace));
  } else if (scope === 'Cluster' && namespace !== undefined) {
    yield forbidden(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'");
  }
}

export function* validateIngressClassUpdate(object: IngressClass, old: IngressClass): Generator<Cause> {
  yield* validateKindMetaUpdate(object.metadata, old.metadata);
  const controller = object.spec?.controller ?? '';
  if (controller !== (old.spec?.controller ?? '')) yield invalid('spec.controller', controller, isImmutable);
  yield* validateIngressClass(object);
}
