/**
 * Cost estimates of Kubernetes for comparing values of its own types: they are small, whatever the length of their
 * text.
 */

import { fixed, scale, stringFactor } from '../costs.ts';
import type { CallEstimate, CallShape } from '../functions.ts';
import type { Library } from '../library.ts';
import { authorizerType, decisionType, groupCheckType, pathCheckType, resourceCheckType } from './authorizer.ts';
import { formatType } from './formats.ts';
import { cidrType, ipType } from './network.ts';
import { quantityType } from './quantity.ts';
import { semverType } from './semver.ts';
import { urlType } from './url.ts';

const ofFixedSize: ReadonlySet<string> = new Set(
  [
    ipType,
    cidrType,
    quantityType,
    semverType,
    authorizerType,
    pathCheckType,
    groupCheckType,
    resourceCheckType,
    decisionType,
  ].map(({ name }) => name),
);
const maxFormatNameLength = 64n;

function estimate({ args: [left, right] }: CallShape): CallEstimate | undefined {
  const { name } = left!.type;
  if (name !== right!.type.name) return undefined;
  if (ofFixedSize.has(name)) return { cost: fixed(1) };
  if (name === formatType.name) return { cost: scale({ min: 1n, max: maxFormatNameLength }, stringFactor) };
  if (name === urlType.name) return { cost: scale({ min: 1n, max: right!.computedSize?.max ?? 1n }, stringFactor) };
  return undefined;
}

/** Adds the cost estimates to `==`. */
export const equalityCosts: Library = { functions: [{ name: '_==_', overloads: [], cost: { estimate } }] };
