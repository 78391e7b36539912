/** The environments there are: plain CEL with all its extensions, and Kubernetes'. */
import { createEnvironment, type Environment, withVariables } from './environment.ts';
import { authorizerLibrary } from './library/authorizer.ts';
import { bindingsLibrary, twoVariableLibrary } from './library/comprehensions.ts';
import { encodersLibrary } from './library/encoders.ts';
import { equalityCosts } from './library/equality.ts';
import { formatsLibrary } from './library/formats.ts';
import { listsLibrary } from './library/lists.ts';
import { mathLibrary } from './library/math.ts';
import { mutationLibrary } from './library/mutation.ts';
import { networkLibrary } from './library/network.ts';
import { optionalLibrary } from './library/optionals.ts';
import { quantityLibrary } from './library/quantity.ts';
import { regexLibrary } from './library/regex.ts';
import { semverLibrary } from './library/semver.ts';
import { setsLibrary } from './library/sets.ts';
import { standardLibrary } from './library/standard.ts';
import { latestStringsLibrary, stringsLibrary } from './library/strings.ts';
import { urlLibrary } from './library/url.ts';
import {
  durationLiterals,
  formatCalls,
  homogeneousLiterals,
  regexLiterals,
  timestampLiterals,
} from './library/validators.ts';
import type { Library } from './library.ts';
import type { Type } from './types.ts';

/** What one evaluation may cost in Kubernetes. */
export const perCallLimit = 1_000_000;
/** What all evaluations for one object, or one binding of a policy, may cost together. */
export const runtimeCostBudget = 10_000_000;
/** The same for the match conditions of a webhook or policy. */
export const matchConditionsCostBudget = 2_500_000;

/** How a Kubernetes environment is to be. */
export type KubernetesOptions = {
  readonly variables?: Readonly<Record<string, Type>>;
  /**
   * Whether the expression is new, or comes from storage. New ones may use only what the previous minor version knew,
   * so that a cluster can be rolled back; here that leaves out `semver`. Stored ones is the default.
   */
  readonly expressions?: 'new' | 'stored';
  /** Whether `Object{…}` and `JSONPatch{…}` can be written, as in mutating admission policies. */
  readonly mutation?: boolean;
};

const sinceLastVersion = [
  standardLibrary,
  urlLibrary,
  regexLibrary,
  listsLibrary,
  authorizerLibrary,
  optionalLibrary,
  quantityLibrary,
  stringsLibrary,
  setsLibrary,
  networkLibrary,
  formatsLibrary,
  twoVariableLibrary,
  equalityCosts,
];

const kubernetes = (...more: readonly Library[]): Environment =>
  createEnvironment({
    libraries: [...sinceLastVersion, ...more],
    optionals: true,
    validators: [durationLiterals, timestampLiterals, regexLiterals, homogeneousLiterals, formatCalls],
    costLimit: perCallLimit,
  });

const bases = {
  stored: { plain: kubernetes(semverLibrary), mutation: kubernetes(semverLibrary, mutationLibrary) },
  new: { plain: kubernetes(), mutation: kubernetes(mutationLibrary) },
};

/** The environment of Kubernetes 1.33: its libraries, its checks and its limits. */
export function kubernetesEnvironment({ variables, expressions, mutation }: KubernetesOptions = {}): Environment {
  return withVariables(bases[expressions ?? 'stored'][mutation ? 'mutation' : 'plain'], variables ?? {});
}

/** CEL with every extension the specification has, and without limits. */
export function plainEnvironment(
  options: { readonly variables?: Readonly<Record<string, Type>>; readonly container?: string } = {},
): Environment {
  return createEnvironment({
    ...options,
    libraries: [
      standardLibrary,
      optionalLibrary,
      latestStringsLibrary,
      setsLibrary,
      mathLibrary,
      encodersLibrary,
      twoVariableLibrary,
      bindingsLibrary,
      networkLibrary,
    ],
    optionals: true,
    quotedFields: true,
  });
}
