/** Plan of a simulation, as users write it: faults and user actions. `docs/contributing/simulator.md` has an example. */
import { parseYaml } from '@kruise/schema/yaml-text';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { type Fault, faultKinds } from './faults.ts';

/** An action of a user on an object. */
export type Deed = {
  readonly atMs: number;
  /** `Deployment/web`, or `shop/Deployment/web` in a namespace. */
  readonly target: ObjectName;
} & ({ readonly type: 'delete' } | { readonly type: 'patch'; readonly patch: object });

export type ObjectName = { readonly namespace: string; readonly kind: string; readonly name: string };

export type Plan = { readonly faults: readonly Fault[]; readonly deeds: readonly Deed[] };

const keys = new Set(['at', 'what', 'which', 'for', 'patch', 'delete']);

/** Parses a plan; `names` are the processes that faults can target. */
export function parsePlan(text: string, names: readonly string[]): Plan {
  const parsed = parseYaml(text) ?? [];
  if (!Array.isArray(parsed)) throw new Error('the plan must be a list');
  const entries: readonly unknown[] = parsed;
  const faults: Fault[] = [];
  const deeds: Deed[] = [];
  for (const [index, entry] of entries.entries()) {
    const refuse = (why: string) => new Error(`entry ${index + 1} of the plan ${why}`);
    if (typeof entry !== 'object' || entry === null) throw refuse('is not an object');
    // Fields are validated one by one.
    const { at, what, which, for: lasts, patch, delete: deleted, ...rest } = entry as Record<string, unknown>;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) throw refuse(`has an unknown field ${unknown}: use ${[...keys].join(', ')}`);
    const atMs = durationOf(at ?? '0s', () => refuse(`has at: ${at}, which is not a duration such as 90s or 3m`));
    if (deleted !== undefined) {
      deeds.push({ type: 'delete', atMs, target: objectName(deleted, refuse) });
    } else if (patch !== undefined) {
      if (typeof patch !== 'object' || patch === null) throw refuse('has a patch that is not an object');
      deeds.push({ type: 'patch', atMs, target: objectName(which, refuse), patch });
    } else {
      const kind = faultKinds.find((each) => each === what);
      if (!kind) throw refuse(`has an unknown fault ${what}: use one of ${faultKinds.join(', ')}`);
      if (!names.includes(String(which)))
        throw refuse(`has an unknown target ${which}: use one of ${names.join(', ')}`);
      const lastsMs = durationOf(lasts ?? '1m', () =>
        refuse(`has for: ${lasts}, which is not a duration such as 90s or 3m`),
      );
      faults.push({ kind, target: String(which), atMs, lastsMs });
    }
  }
  return { faults, deeds };
}

function durationOf(value: unknown, refuse: () => Error): number {
  try {
    return toMilliseconds(parseDuration(String(value)));
  } catch {
    throw refuse();
  }
}

function objectName(value: unknown, refuse: (why: string) => Error): ObjectName {
  const parts = String(value).split('/');
  const [name, kind, namespace = 'default'] = parts.toReversed();
  if (!name || !kind || parts.length > 3) throw refuse(`has the target ${value}, which is not of the form Kind/name`);
  return { namespace, kind, name };
}
