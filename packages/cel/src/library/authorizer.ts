/**
 * Authorization checks of Kubernetes:
 * `authorizer.group('apps').resource('deployments').namespace('default').check('create').allowed()`.
 *
 * The authorizer is passed in the value of the variable `authorizer`, see `AuthorizerValue`.
 */
import { validateDns1123Label, validateDns1123Subdomain } from '@kruise/values/names';
import { addRanges, constantCost, fixed, scale, stringFactor } from '../costs.ts';
import { type CallShape, type FunctionDeclaration, method, type Range } from '../functions.ts';
import type { Library } from '../library.ts';
import { sizeOf } from '../type-names.ts';
import { boolType, objectType, stringType, type Type } from '../types.ts';
import { EvaluationError, ObjectValue, orNoSuchOverload, type Value } from '../values.ts';

/** The type of `authorizer`. */
export const authorizerType = objectType('kubernetes.authorization.Authorizer');
/** The type of `authorizer.path(…)`. */
export const pathCheckType = objectType('kubernetes.authorization.PathCheck');
/** The type of `authorizer.group(…)`. */
export const groupCheckType = objectType('kubernetes.authorization.GroupCheck');
/** The type of `authorizer.requestResource`, and of `….resource(…)`. */
export const resourceCheckType = objectType('kubernetes.authorization.ResourceCheck');
/** The type of `….check(…)`. */
export const decisionType = objectType('kubernetes.authorization.Decision');

/** The user of a check. */
export type User = {
  readonly name: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

/** Attributes of a check: a path, or a resource. Selectors are unparsed. */
export type Attributes =
  | { readonly user: User; readonly verb: string; readonly path: string }
  | {
      readonly user: User;
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource: string;
      readonly namespace: string;
      readonly name: string;
      readonly fieldSelector: string;
      readonly labelSelector: string;
    };

/** Result of a check. */
export type Decision = { readonly allowed: boolean; readonly reason?: string; readonly error?: string };

/** Authorizes synchronously, because an evaluation cannot wait. */
export type Authorize = (attributes: Attributes) => Decision;

abstract class AuthorizationValue extends ObjectValue {
  // cel-go compares only identity, which never finds two of these equal.
  equals(other: Value): boolean | EvaluationError {
    return orNoSuchOverload(other);
  }
}

/** Value of `authorizer`: a user, and the authorizer. */
export class AuthorizerValue extends AuthorizationValue {
  readonly typeName = authorizerType.name;
  readonly user: User;
  readonly authorize: Authorize;

  constructor(user: User, authorize: Authorize) {
    super();
    this.user = user;
    this.authorize = authorize;
  }
}

class PathCheck extends AuthorizationValue {
  readonly typeName = pathCheckType.name;
  readonly authorizer: AuthorizerValue;
  readonly path: string;

  constructor(authorizer: AuthorizerValue, path: string) {
    super();
    this.authorizer = authorizer;
    this.path = path;
  }
}

class GroupCheck extends AuthorizationValue {
  readonly typeName = groupCheckType.name;
  readonly authorizer: AuthorizerValue;
  readonly group: string;

  constructor(authorizer: AuthorizerValue, group: string) {
    super();
    this.authorizer = authorizer;
    this.group = group;
  }
}

type ResourceAttributes = Omit<Extract<Attributes, { resource: string }>, 'user' | 'verb'>;

/** Value of `authorizer.requestResource`, and the result of `resource(…)` and the functions after it. */
export class ResourceCheckValue extends AuthorizationValue {
  readonly typeName = resourceCheckType.name;
  readonly authorizer: AuthorizerValue;
  readonly attributes: ResourceAttributes;

  constructor(authorizer: AuthorizerValue, attributes: Partial<ResourceAttributes> & { resource: string }) {
    super();
    this.authorizer = authorizer;
    const unset = { group: '', subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };
    this.attributes = { ...unset, ...attributes };
  }
}

class DecisionValue extends AuthorizationValue {
  readonly typeName = decisionType.name;
  readonly decision: Decision;

  constructor(decision: Decision) {
    super();
    this.decision = decision;
  }
}

function serviceAccount(authorizer: AuthorizerValue, namespace: string, name: string): Value {
  if (validateDns1123Subdomain(name).length > 0) return new EvaluationError('Invalid service account name');
  if (validateDns1123Label(namespace).length > 0) return new EvaluationError('Invalid service account namespace');
  const user: User = {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
  };
  return new AuthorizerValue(user, authorizer.authorize);
}

const isBlank = (text: Value): boolean => (text as string).trim() === '';

/** Returns a function that sets one attribute of a resource check. */
const setter = (
  name: 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector',
  id: string,
  cost: FunctionDeclaration['cost'] = constantCost(1),
): FunctionDeclaration => ({
  name,
  overloads: [
    method(id, [resourceCheckType, stringType], resourceCheckType, (check, value) => {
      const { authorizer, attributes } = check as ResourceCheckValue;
      return new ResourceCheckValue(authorizer, { ...attributes, [name]: value as string });
    }),
  ],
  ...(cost && { cost }),
});

const reader = (name: string, id: string, type: Type, read: (decision: Decision) => Value): FunctionDeclaration => ({
  name,
  overloads: [method(id, [decisionType], type, (value) => read((value as DecisionValue).decision))],
  cost: constantCost(1),
});

/**
 * Returns the cost of parsing a selector: a list and, for every second character, possibly a requirement, which is a
 * list in an object.
 */
function selectorCost(length: Range): Range {
  const requirements = scale(length, 0.5);
  return addRanges(addRanges(fixed(10), scale(length, stringFactor)), scale(requirements, 50));
}

const selector: FunctionDeclaration['cost'] = {
  actual: ([, text]) => Number(selectorCost(fixed(sizeOf(text!))).max),
  estimate: ({ args }: CallShape) => ({ cost: selectorCost(args[0]!.size) }),
};

/** The authorizer library. A check is so expensive that an evaluation can afford only two. */
export const authorizerLibrary: Library = {
  functions: [
    {
      name: 'path',
      overloads: [
        method('authorizer_path', [authorizerType, stringType], pathCheckType, (authorizer, path) =>
          isBlank(path!)
            ? new EvaluationError('path must not be empty')
            : new PathCheck(authorizer as AuthorizerValue, path as string),
        ),
      ],
      cost: constantCost(1),
    },
    {
      name: 'group',
      overloads: [
        method(
          'authorizer_group',
          [authorizerType, stringType],
          groupCheckType,
          (authorizer, group) => new GroupCheck(authorizer as AuthorizerValue, group as string),
        ),
      ],
      cost: constantCost(1),
    },
    {
      name: 'serviceAccount',
      overloads: [
        method(
          'authorizer_serviceaccount',
          [authorizerType, stringType, stringType],
          authorizerType,
          (authorizer, namespace, name) =>
            serviceAccount(authorizer as AuthorizerValue, namespace as string, name as string),
        ),
      ],
      cost: constantCost(1),
    },
    {
      name: 'resource',
      overloads: [
        method('groupcheck_resource', [groupCheckType, stringType], resourceCheckType, (check, resource) => {
          if (isBlank(resource!)) return new EvaluationError('resource must not be empty');
          const { authorizer, group } = check as GroupCheck;
          return new ResourceCheckValue(authorizer, { group, resource: resource as string });
        }),
      ],
      cost: constantCost(1),
    },
    setter('subresource', 'resourcecheck_subresource'),
    setter('namespace', 'resourcecheck_namespace'),
    setter('name', 'resourcecheck_name'),
    setter('fieldSelector', 'authorizer_fieldselector', selector),
    setter('labelSelector', 'authorizer_labelselector', selector),
    {
      name: 'check',
      overloads: [
        method('pathcheck_check', [pathCheckType, stringType], decisionType, (check, verb) => {
          const { authorizer, path } = check as PathCheck;
          return new DecisionValue(authorizer.authorize({ user: authorizer.user, verb: verb as string, path }));
        }),
        method('resourcecheck_check', [resourceCheckType, stringType], decisionType, (check, verb) => {
          const { authorizer, attributes } = check as ResourceCheckValue;
          return new DecisionValue(
            authorizer.authorize({ user: authorizer.user, verb: verb as string, ...attributes }),
          );
        }),
      ],
      cost: constantCost(350_000),
    },
    reader('errored', 'decision_errored', boolType, ({ error }) => error !== undefined),
    reader('error', 'decision_error', stringType, ({ error }) => error ?? ''),
    reader('allowed', 'decision_allowed', boolType, ({ allowed }) => allowed),
    reader('reason', 'decision_reason', stringType, ({ reason }) => reason ?? ''),
  ],
};
