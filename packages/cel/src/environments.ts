/** Predefined environments: plain CEL with all its extensions, and that of Kubernetes. */
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

/** Cost limit of one evaluation in Kubernetes. */
export const perCallLimit = 1_000_000;
/** Cost limit of all evaluations for one object, or one binding of a policy. */
export const runtimeCostBudget = 10_000_000;
/** Cost limit of the match conditions of a webhook or policy. */
export const matchConditionsCostBudget = 2_500_000;

/** Options of a Kubernetes environment. */
export type KubernetesOptions = {
  readonly variables?: Readonly<Record<string, Type>>;
  /**
   * New or stored expressions. New ones may only use libraries of the previous minor version, so that a cluster can be
   * rolled back; this excludes `semver`. The default is stored.
   */
  readonly expressions?: 'new' | 'stored';
  /** Enables `Object{…}` and `JSONPatch{…}`, as in mutating admission policies. */
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

/** Returns the environment of Kubernetes 1.33 with its libraries, checks and limits. */
export function kubernetesEnvironment({ variables, expressions, mutation }: KubernetesOptions = {}): Environment {
  return withVariables(bases[expressions ?? 'stored'][mutation ? 'mutation' : 'plain'], variables ?? {});
}

/** Returns an environment with all extensions of the CEL specification and without limits. */
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
