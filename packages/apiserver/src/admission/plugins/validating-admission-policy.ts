import {
  type ValidatingAdmissionPolicy,
  validatingAdmissionPolicy,
} from '@kruise/api/admissionregistration/validatingadmissionpolicy';
import {
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicyBinding,
} from '@kruise/api/admissionregistration/validatingadmissionpolicybinding';
import { namespace as namespaceKind } from '@kruise/api/core/namespace';
import { notFound, StatusError } from '@kruise/machinery/status';
import type { Authorizer } from '../../authorization/authorizer.ts';
import type { KubeObject } from '../../object.ts';
import type { ResourceRegistry } from '../../registry.ts';
import type { Resource } from '../../resource.ts';
import { type AdmissionPlugin, type Attributes, forbiddenWrite, isResource } from '../admission.ts';
import { bindingsOf } from '../expressions.ts';
import { derived, type Lookup } from '../lookup.ts';
import { type Criteria, convertToTarget, createMatcher, isExempt, type Target } from '../matching.ts';
import { ConfigurationError, createKinds, paramsOf } from '../policy/params.ts';
import {
  type CompiledPolicy,
  compilePolicy,
  criteriaOf,
  evaluatePolicy,
  type PolicyViolation,
} from '../policy/policy.ts';

type Binding = { readonly binding: ValidatingAdmissionPolicyBinding; readonly criteria: Criteria };

/** Denial, with the policy and binding that caused it. */
type Denial = Omit<PolicyViolation, 'index'> & { readonly policy: string; readonly binding?: string };

const codes: { readonly [reason: string]: number } = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
  Invalid: 422,
};
const maxAnnotationLength = 10 * 1024;

/** ValidatingAdmissionPolicy plugin: evaluates CEL policies wherever a binding applies them. */
export function validatingAdmissionPolicies(
  lookup: Lookup,
  resources: ResourceRegistry,
  authorizer: Authorizer,
): AdmissionPlugin {
  const matcher = createMatcher(lookup, resources);
  const kindOf = createKinds(resources);
  const namespaces = lookup.of(namespaceKind);
  const compiled = new WeakMap<ValidatingAdmissionPolicy, CompiledPolicy>();
  const policies = derived(lookup.of(validatingAdmissionPolicy), (all) =>
    all.map((policy) => {
      let known = compiled.get(policy);
      if (!known) compiled.set(policy, (known = compilePolicy(policy)));
      return known;
    }),
  );
  const bindings = derived(lookup.of(validatingAdmissionPolicyBinding), (all) =>
    Map.groupBy(
      all.map((binding): Binding => ({ binding, criteria: criteriaOf(binding.spec?.matchResources) })),
      ({ binding }) => binding.spec?.policyName ?? '',
    ),
  );

  function parametersOf(
    { policy }: CompiledPolicy,
    { binding }: Binding,
    attributes: Attributes,
    resource: Resource | undefined,
  ): readonly undefined[] | Promise<readonly KubeObject[]> {
    const paramRef = binding.spec?.paramRef;
    if (!policy.spec?.paramKind || !paramRef || !resource) return [undefined];
    return paramsOf(resource, paramRef, attributes.namespace);
  }

  /** Returns the Namespace of the request; null for a Namespace itself. */
  function namespaceOf({ namespace, resource }: Attributes) {
    if (namespace === '' || isResource(resource.kind, namespaceKind)) return undefined;
    const found = namespaces.get(namespace);
    if (!found) throw notFound(namespaceKind, namespace);
    return found;
  }

  async function tryPolicy(
    policy: CompiledPolicy,
    bound: readonly Binding[],
    attributes: Attributes,
  ): Promise<Denial[]> {
    const { name } = policy.policy.metadata;
    const denials: Denial[] = [];
    const misconfigured = (error: unknown, binding?: Binding) => {
      if (!(error instanceof ConfigurationError)) throw error;
      if (policy.failsOpen) return;
      const what = binding ? 'binding' : 'policy';
      const message = `failed to configure ${what}: ${error.message}`;
      denials.push({ policy: name!, ...(binding ? { binding: binding.binding.metadata.name! } : {}), message });
    };
    const target = matcher.match(policy.criteria, attributes);
    if (!target) return denials;
    const { paramKind } = policy.policy.spec ?? {};
    const paramResource = paramKind ? kindOf(paramKind) : undefined;
    if (paramKind && !paramResource) {
      misconfigured(
        new ConfigurationError(`failed to find resource referenced by paramKind: '${printedKind(paramKind)}'`),
      );
      return denials;
    }
    const auditAnnotations = new Map<string, Set<string>>();
    for (const binding of bound) {
      if (!matcher.match(binding.criteria, attributes)) continue;
      try {
        const params = await parametersOf(policy, binding, attributes, paramResource);
        for (const each of params) {
          denials.push(...(await tryBinding(policy, binding, attributes, target, each, auditAnnotations)));
        }
      } catch (error) {
        misconfigured(error, binding);
      }
    }
    for (const [key, values] of auditAnnotations)
      attributes.context.auditAnnotations.set(`${name}/${key}`, [...values].join(', '));
    return denials;
  }

  async function tryBinding(
    policy: CompiledPolicy,
    { binding }: Binding,
    attributes: Attributes,
    target: Target,
    params: KubeObject | undefined,
    auditAnnotations: Map<string, Set<string>>,
  ): Promise<Denial[]> {
    const objects = {
      object: await convertToTarget(target, attributes, attributes.object),
      oldObject: await convertToTarget(target, attributes, attributes.oldObject),
    };
    const namespace = namespaceOf(attributes);
    const values = bindingsOf(attributes, target, objects, { authorizer, namespace, params });
    const { breaches, annotations, failures } = evaluatePolicy(policy, values);
    for (const [key, value] of annotations) {
      const seen = auditAnnotations.get(key) ?? new Set();
      auditAnnotations.set(key, seen.add(value.slice(0, maxAnnotationLength)));
    }
    const source = { policy: policy.policy.metadata.name!, binding: binding.metadata.name! };
    const actions: readonly string[] = binding.spec?.validationActions ?? [];
    for (const violation of breaches) {
      if (actions.includes('Audit')) noteBreach(attributes, binding, violation);
      if (actions.includes('Warn')) {
        attributes.context.warnings.add(
          `Validation failed for ValidatingAdmissionPolicy '${source.policy}' with binding '${source.binding}': ${violation.message}`,
        );
      }
    }
    return [
      ...(actions.includes('Deny') ? breaches.map(({ index: _, ...violation }) => ({ ...source, ...violation })) : []),
      ...failures.map((message) => ({ ...source, message })),
    ];
  }

  return {
    name: 'ValidatingAdmissionPolicy',
    handles: (attributes) => policies().length > 0 && bindings().size > 0 && !isExempt(attributes),
    async validate(attributes) {
      let first: Denial | undefined;
      for (const policy of policies()) {
        const bound = bindings().get(policy.policy.metadata.name ?? '');
        if (!bound) continue;
        const [denial] = await tryPolicy(policy, bound, attributes);
        first ??= denial;
      }
      if (first) throw denied(attributes, first);
    },
  };
}

function printedKind({ apiVersion = '', kind = '' }: { readonly apiVersion?: string; readonly kind?: string }): string {
  return `${apiVersion.includes('/') ? '' : '/'}${apiVersion}, Kind=${kind}`;
}

function noteBreach(
  { context }: Attributes,
  { metadata, spec }: ValidatingAdmissionPolicyBinding,
  { index, message }: PolicyViolation,
): void {
  const failure = {
    message,
    policy: spec?.policyName,
    binding: metadata.name,
    expressionIndex: index,
    validationActions: spec?.validationActions,
  };
  context.auditAnnotations.set('validation.policy.admission.k8s.io/validation_failure', JSON.stringify([failure]));
}

function denied(attributes: Attributes, { policy, binding, message, reason = 'Invalid' }: Denial): StatusError {
  const source = binding === undefined ? '' : ` with binding '${binding}'`;
  const text = `ValidatingAdmissionPolicy '${policy}'${source} denied request: ${message}`;
  const { status } = forbiddenWrite(attributes, text, [{ message: text }]);
  return new StatusError({ ...status, reason, code: codes[reason] ?? 422 });
}
