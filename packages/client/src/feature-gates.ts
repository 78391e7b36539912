/** Switches of a component, set by its flag `--feature-gates`. */

/** Where a gate stands: `AllAlpha` and `AllBeta` set all gates of one stage. */
export type GateStage = 'Alpha' | 'Beta';

/** What a gate is when nothing is said of it. */
export type Gate = { readonly default: boolean; readonly stage: GateStage };

/** The gates there are, by their names. */
export type Gates<Name extends string = string> = { readonly [name in Name]: Gate };

/** The text of `--feature-gates` cannot be understood. */
export class FeatureGateError extends Error {
  override readonly name = 'FeatureGateError';
}

/** Reads `A=true,B=false`; `AllAlpha` and `AllBeta` set what nothing was said of. Throws `FeatureGateError`. */
export function parseGates<Name extends string>(gates: Gates<Name>, text: string): { [name in Name]?: boolean } {
  const said: { [name in Name]?: boolean } = {};
  const stages: { [stage in GateStage]?: boolean } = {};
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const [name = '', value] = part.split('=', 2).map((piece) => piece.trim());
    if (value === undefined) throw new FeatureGateError(`missing bool value for ${name}`);
    const isOpen = parseBoolean(value);
    if (isOpen === undefined) throw new FeatureGateError(`invalid value of ${name}=${value}`);
    if (name === 'AllAlpha') stages.Alpha = isOpen;
    else if (name === 'AllBeta') stages.Beta = isOpen;
    else if (isGateOf(gates, name)) said[name] = isOpen;
    else throw new FeatureGateError(`unrecognized feature gate: ${name}`);
  }
  for (const name of gateNames(gates)) {
    const isOpen = said[name] ?? stages[gates[name].stage];
    if (isOpen !== undefined) said[name] = isOpen;
  }
  return said;
}

/** Whether each gate is open: as was asked, or as it is by default. */
export function settleGates<Name extends string>(
  gates: Gates<Name>,
  asked: { readonly [name in Name]?: boolean },
): { [name in Name]: boolean } {
  const settled = gateNames(gates).map((name) => [name, asked[name] ?? gates[name].default]);
  // One for each name there is.
  return Object.fromEntries(settled) as { [name in Name]: boolean };
}

/** The names of some gates. */
export function gateNames<Name extends string>(gates: Gates<Name>): readonly Name[] {
  // An object of gates has no other keys.
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
