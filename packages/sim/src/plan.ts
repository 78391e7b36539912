/** Plan of a simulation, as users write it: faults and user actions. `docs/contributing/simulator.md` has an example. */
import { parseYaml } from '@kruise/schema/yaml-text';
import { parseDuration, toMilliseconds } from '@kruise/values/duration';
import { type Fault, faultKinds } from './faults.ts';

/** An action of a user on an object. */
export type UserAction = {
  readonly atMs: number;
  /** `Deployment/web`, or `shop/Deployment/web` in a namespace. */
  readonly target: ObjectName;
} & ({ readonly type: 'delete' } | { readonly type: 'patch'; readonly patch: object });

export type ObjectName = { readonly namespace: string; readonly kind: string; readonly name: string };

export type Plan = { readonly faults: readonly Fault[]; readonly userActions: readonly UserAction[] };

const keys = new Set(['at', 'what', 'which', 'for', 'patch', 'delete']);

/** Parses a plan; `names` are the processes that faults can target. */
export function parsePlan(text: string, names: readonly string[]): Plan {
  const parsed = parseYaml(text) ?? [];
  if (!Array.isArray(parsed)) throw new Error('the plan must be a list');
  const entries: readonly unknown[] = parsed;
  const faults: Fault[] = [];
  const userActions: UserAction[] = [];
  for (const [index, entry] of entries.entries()) {
    const reject = (why: string) => new Error(`entry ${index + 1} of the plan ${why}`);
    if (typeof entry !== 'object' || entry === null) throw reject('is not an object');
    // Fields are validated one by one.
    const { at, what, which, for: lasts, patch, delete: deleted, ...rest } = entry as Record<string, unknown>;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined) throw reject(`has an unknown field ${unknown}: use ${[...keys].join(', ')}`);
    const atMs = durationOf(at ?? '0s', () => reject(`has at: ${at}, which is not a duration such as 90s or 3m`));
    if (deleted !== undefined) {
      userActions.push({ type: 'delete', atMs, target: objectName(deleted, reject) });
    } else if (patch !== undefined) {
      if (typeof patch !== 'object' || patch === null) throw reject('has a patch that is not an object');
      userActions.push({ type: 'patch', atMs, target: objectName(which, reject), patch });
    } else {
      const kind = faultKinds.find((each) => each === what);
      if (!kind) throw reject(`has an unknown fault ${what}: use one of ${faultKinds.join(', ')}`);
      if (!names.includes(String(which)))
        throw reject(`has an unknown target ${which}: use one of ${names.join(', ')}`);
      const lastsMs = durationOf(lasts ?? '1m', () =>
        reject(`has for: ${lasts}, which is not a duration such as 90s or 3m`),
      );
      faults.push({ kind, target: String(which), atMs, lastsMs });
    }
  }
  return { faults, userActions };
}

function durationOf(value: unknown, reject: () => Error): number {
  try {
    return toMilliseconds(parseDuration(String(value)));
  } catch {
    throw reject();
  }
}

function objectName(value: unknown, reject: (why: string) => Error): ObjectName {
  const parts = String(value).split('/');
  const [name, kind, namespace = 'default'] = parts.toReversed();
  if (!name || !kind || parts.length > 3) throw reject(`has the target ${value}, which is not of the form Kind/name`);
  return { namespace, kind, name };
}
