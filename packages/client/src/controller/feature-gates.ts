/** Feature gates of a component, set by its flag `--feature-gates`. */

/** Maturity stage of a gate. `AllAlpha` and `AllBeta` set all gates of a stage. */
export type GateStage = 'Alpha' | 'Beta';

/** Default value and stage of a feature gate. */
export type Gate = { readonly default: boolean; readonly stage: GateStage };

/** Feature gates by name. */
export type Gates<Name extends string = string> = { readonly [name in Name]: Gate };

/** The value of `--feature-gates` is invalid. */
export class FeatureGateError extends Error {
  override readonly name = 'FeatureGateError';
}

/**
 * Parses `A=true,B=false`. `AllAlpha` and `AllBeta` set the gates of their stage that are not listed. Throws
 * `FeatureGateError`.
 *
 * ```ts
 * parseGates({ FastStart: { default: false, stage: 'Alpha' } }, 'AllAlpha=true'); // { FastStart: true }
 * ```
 */
export function parseGates<Name extends string>(gates: Gates<Name>, text: string): { [name in Name]?: boolean } {
  const explicit: { [name in Name]?: boolean } = {};
  const stages: { [stage in GateStage]?: boolean } = {};
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const [name = '', value] = part.split('=', 2).map((piece) => piece.trim());
    if (value === undefined) throw new FeatureGateError(`missing bool value for ${name}`);
    const isEnabled = parseBoolean(value);
    if (isEnabled === undefined) throw new FeatureGateError(`invalid value of ${name}=${value}`);
    if (name === 'AllAlpha') stages.Alpha = isEnabled;
    else if (name === 'AllBeta') stages.Beta = isEnabled;
    else if (isGateOf(gates, name)) explicit[name] = isEnabled;
    else throw new FeatureGateError(`unrecognized feature gate: ${name}`);
  }
  for (const name of gateNames(gates)) {
    const isEnabled = explicit[name] ?? stages[gates[name].stage];
    if (isEnabled !== undefined) explicit[name] = isEnabled;
  }
  return explicit;
}

/** Returns whether each gate is enabled: the override if there is one, otherwise the default. */
export function resolveGates<Name extends string>(
  gates: Gates<Name>,
  overrides: { readonly [name in Name]?: boolean },
): { [name in Name]: boolean } {
  const resolved = gateNames(gates).map((name) => [name, overrides[name] ?? gates[name].default]);
  // The entries contain every name.
  return Object.fromEntries(resolved) as { [name in Name]: boolean };
}

/** Returns the names of the gates. */
export function gateNames<Name extends string>(gates: Gates<Name>): readonly Name[] {
  // The object has no other keys than gate names.
  return Object.keys(gates) as Name[];
}

function isGateOf<Name extends string>(gates: Gates<Name>, name: string): name is Name {
  return Object.hasOwn(gates, name);
}

function parseBoolean(text: string): boolean | undefined {
  if (['1', 't', 'T', 'TRUE', 'true', 'True'].includes(text)) return true;
  if (['0', 'f', 'F', 'FALSE', 'false', 'False'].includes(text)) return false;
  return undefined;
}
