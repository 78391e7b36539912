/**
 * CEL expressions of admission policies and webhooks: the variables they can use, and evaluation within a cost budget.
 */
import type { Namespace } from '@kruise/api/core/namespace';
import { compile, type Program } from '@kruise/cel/compile';
import { kubernetesEnvironment } from '@kruise/cel/environments';
import { AuthorizerValue, authorizerType, ResourceCheckValue, resourceCheckType } from '@kruise/cel/library/authorizer';
import {
  boolType,
  dynType,
  formatType,
  intType,
  isSameType,
  listType,
  mapType,
  objectType,
  stringType,
  type Type,
  timestampType,
} from '@kruise/cel/types';
import { EvaluationError, ObjectValue, orNoSuchOverload, type Value } from '@kruise/cel/values';
import type { Authorizer } from '../authorization/authorizer.ts';
import type { KubeObject } from '../object.ts';
import type { Attributes } from './admission.ts';
import type { Target } from './matching.ts';

const kindType = objectType('kubernetes.GroupVersionKind', {
  group: stringType,
  version: stringType,
  kind: stringType,
});
const resourceType = objectType('kubernetes.GroupVersionResource', {
  group: stringType,
  version: stringType,
  resource: stringType,
});
const userInfoType = objectType('kubernetes.UserInfo', {
  username: stringType,
  uid: stringType,
  groups: listType(stringType),
  extra: mapType(stringType, listType(stringType)),
});
const requestType = objectType('kubernetes.AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: userInfoType,
  dryRun: boolType,
  options: dynType,
});
const namespaceType = objectType('kubernetes.Namespace', {
  metadata: objectType('kubernetes.NamespaceMetadata', {
    name: stringType,
    generateName: stringType,
    namespace: stringType,
    labels: mapType(stringType, stringType),
    annotations: mapType(stringType, stringType),
    UID: stringType,
    creationTimestamp: timestampType,
    deletionGracePeriodSeconds: intType,
    deletionTimestamp: timestampType,
    generation: intType,
    resourceVersion: stringType,
    finalizers: listType(stringType),
  }),
  spec: objectType('kubernetes.NamespaceSpec', { finalizers: listType(stringType) }),
  status: objectType('kubernetes.NamespaceStatus', {
    conditions: listType(
      objectType('kubernetes.NamespaceCondition', {
        status: stringType,
        type: stringType,
        lastTransitionTime: timestampType,
        message: stringType,
        reason: stringType,
      }),
    ),
    phase: stringType,
  }),
});

/** Declarations of the variables that expressions of one type can use. */
export type Declarations = {
  readonly params: boolean;
  readonly authorizer: boolean;
  /** Types of the policy variables by name; undefined where no variables are allowed. */
  readonly variables?: ReadonlyMap<string, Type>;
  /** Types of object, oldObject and params for type checking. */
  readonly objectType?: Type;
  readonly paramsType?: Type;
  /** Environment of the expressions. New expressions may only use features of the previous Kubernetes minor version. */
  readonly expressions?: 'new' | 'stored';
};

/** Compiled expression, or its compilation error. */
export type Compiled = { readonly text: string; readonly program?: Program; readonly error?: string };

/** Compiles an expression that must return one of the given types; any type if none are given. */
export function compileExpression(text: string, declarations: Declarations, results?: readonly Type[]): Compiled {
  const program = compile(environmentOf(declarations), text);
  if (!program.ok) {
    const kind = program.stage === 'text' ? 'compilation failed' : 'program instantiation failed';
    return { text, error: `${kind}: ${program.message}` };
  }
  const { type } = program;
  if (!results || results.some((result) => isSameType(result, type))) return { text, program };
  const wanted = results.length === 1 ? results[0]!.name : `one of [${results.map(({ name }) => name).join(' ')}]`;
  return { text, error: `must evaluate to ${wanted} but got ${formatType(type)}` };
}

export function environmentOf({
  params,
  authorizer,
  variables,
  objectType: known,
  paramsType,
  expressions,
}: Declarations) {
  return kubernetesEnvironment({
    ...(expressions ? { expressions } : {}),
    variables: {
      object: known ?? dynType,
      oldObject: known ?? dynType,
      namespaceObject: namespaceType,
      request: requestType,
      ...(params ? { params: paramsType ?? dynType } : {}),
      ...(authorizer ? { authorizer: authorizerType, 'authorizer.requestResource': resourceCheckType } : {}),
      ...(variables ? { variables: objectType(variablesTypeName, Object.fromEntries(variables)) } : {}),
    },
  });
}

const variablesTypeName = 'kubernetes.variables';

/** Variable bindings of expressions, by name. */
export type Bindings = { readonly [name: string]: unknown };

export function bindingsOf(
  attributes: Attributes,
  target: Target,
  objects: { readonly object: KubeObject | undefined; readonly oldObject: KubeObject | undefined },
  {
    authorizer,
    namespace,
    params,
  }: {
    readonly authorizer: Authorizer;
    readonly namespace?: Namespace | undefined;
    readonly params?: KubeObject | undefined;
  },
): Bindings {
  const { context, resource, subresource, namespace: namespaceName, name } = attributes;
  const { username, uid, groups, extra } = context.user;
  const user = { name: username, groups, ...(uid ? { uid } : {}), ...(extra ? { extra } : {}) };
  const authorizerValue = new AuthorizerValue(user, (checkedAttributes) => {
    const decision = authorizer.authorize(
      'path' in checkedAttributes
        ? {
            user: userOf(checkedAttributes.user),
            verb: checkedAttributes.verb,
            resource: false,
            path: checkedAttributes.path,
          }
        : {
            user: userOf(checkedAttributes.user),
            verb: checkedAttributes.verb,
            resource: true,
            group: checkedAttributes.group,
            version: '*',
            plural: checkedAttributes.resource,
            subresource: checkedAttributes.subresource,
            namespace: checkedAttributes.namespace,
            name: checkedAttributes.name,
            ...(checkedAttributes.fieldSelector === '' ? {} : { fieldSelector: checkedAttributes.fieldSelector }),
            ...(checkedAttributes.labelSelector === '' ? {} : { labelSelector: checkedAttributes.labelSelector }),
          },
    );
    if (decision instanceof Promise) return { allowed: false, error: 'the authorizer cannot answer at once' };
    return { allowed: decision.verdict === 'allow', reason: decision.reason };
  });
  return {
    object: objects.object ?? null,
    oldObject: objects.oldObject ?? null,
    params: params ?? null,
    namespaceObject: namespace ?? null,
    request: requestOf(attributes, target),
    authorizer: authorizerValue,
    'authorizer.requestResource': new ResourceCheckValue(authorizerValue, {
      group: resource.kind.group,
      resource: resource.kind.plural,
      subresource,
      namespace: namespaceName,
      name,
    }),
  };
}

function userOf({ name, groups = [], ...rest }: AuthorizerValue['user']) {
  return { username: name, groups, ...rest };
}

/** Returns the `request` variable of reviews and expressions, without the objects. */
export function requestOf(attributes: Attributes, target: Target) {
  const { context, kind, resource, subresource, name, namespace, operation, dryRun, options } = attributes;
  const { username, uid, groups, extra } = context.user;
  const { group, version, plural } = resource.kind;
  return {
    kind: { group: target.kind.group, version: target.kind.version, kind: target.kind.kind },
    resource: { group: target.resource.group, version: target.resource.version, resource: target.resource.plural },
    ...(subresource === '' ? {} : { subResource: subresource }),
    requestKind: { group: kind.group, version: kind.version, kind: kind.kind },
    requestResource: { group, version, resource: plural },
    ...(subresource === '' ? {} : { requestSubResource: subresource }),
    ...(name === '' ? {} : { name }),
    ...(namespace === '' ? {} : { namespace }),
    operation,
    userInfo: {
      username,
      ...(uid ? { uid } : {}),
      ...(groups.length > 0 ? { groups } : {}),
      ...(extra && Object.keys(extra).length > 0 ? { extra } : {}),
    },
    dryRun,
    options,
  };
}

/** Remaining evaluation cost, shared by the expressions of a list and the variables that they use. */
export type Budget = { remaining: number };

/** Error: the cost budget is exhausted, so evaluation stops. */
export class OutOfBudget extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

export type Evaluated = { readonly value?: Exclude<Value, EvaluationError>; readonly error?: string };

/** Evaluates an expression and subtracts its cost from the budget. */
export function evaluate({ text, program, error }: Compiled, bindings: Bindings, budget: Budget): Evaluated {
  if (!program) return { error: `compilation error: ${error}` };
  const outcome = program.evaluate(bindings);
  if (outcome.cost > budget.remaining) throw new OutOfBudget();
  budget.remaining -= outcome.cost;
  if ('error' in outcome) return { error: `expression '${text}' resulted in error: ${outcome.error}` };
  return { value: outcome.value };
}

/** The `variables` object: each variable is computed on first use. */
export class Variables extends ObjectValue {
  readonly typeName = variablesTypeName;
  readonly #compiled: ReadonlyMap<string, Compiled>;
  readonly #bindings: Bindings;
  readonly #budget: Budget;
  readonly #known = new Map<string, Value>();

  constructor(compiled: ReadonlyMap<string, Compiled>, bindings: Bindings, budget: Budget) {
    super();
    this.#compiled = compiled;
    this.#bindings = { ...bindings, variables: this };
    this.#budget = budget;
  }

  equals(other: Value): boolean | EvaluationError {
    return other === this || orNoSuchOverload(other);
  }

  override field(name: string): Value | undefined {
    let value = this.#known.get(name);
    if (value === undefined) this.#known.set(name, (value = this.#compute(name)));
    return value;
  }

  #compute(name: string): Value {
    const { program, error } = this.#compiled.get(name) ?? {};
    if (!program) return new EvaluationError(`composited variable "${name}" fails to compile: ${error}`);
    const outcome = program.evaluate(this.#bindings);
    if (outcome.cost > this.#budget.remaining) throw new OutOfBudget();
    this.#budget.remaining -= outcome.cost;
    if (!('error' in outcome)) return outcome.value;
    return new EvaluationError(`composited variable "${name}" fails to evaluate: ${outcome.error}`);
  }
}
