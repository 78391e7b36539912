/** Pod security policy from the labels of a namespace. */
import { type Cause, invalid } from '@kruise/schema/field-error';

export type Level = 'privileged' | 'baseline' | 'restricted';

/** Level of the Pod Security Standards at a Kubernetes minor version. */
export type LevelVersion = { readonly level: Level; readonly version: 'latest' | number };

/** Levels that are enforced, recorded in the audit log, and returned as warnings. */
export type Policy = { readonly enforce: LevelVersion; readonly audit: LevelVersion; readonly warn: LevelVersion };

const prefix = 'pod-security.kubernetes.io/';
const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const privileged: LevelVersion = { level: 'privileged', version: 'latest' };

type Labels = { readonly [name: string]: string };
type ParsedPolicy = { readonly policy: Policy; readonly faults: readonly Cause[] };

const none: Labels = {};
/** Memo by label object: every Pod write reads the labels of its namespace, and labels rarely change. */
const known = new WeakMap<Labels, ParsedPolicy>();

/** Returns the policy of a namespace and the errors in its labels. */
export function policyOf(labels: Labels = none): ParsedPolicy {
  let parsed = known.get(labels);
  if (!parsed) known.set(labels, (parsed = readPolicy(labels)));
  return parsed;
}

function readPolicy(labels: Labels): ParsedPolicy {
  const faults: Cause[] = [];
  // An invalid label means `restricted` in enforce mode, and `privileged` in the audit and warn modes.
  const enforce = read(labels, 'enforce', 'restricted', faults);
  const audit = read(labels, 'audit', 'privileged', faults);
  const warn = read(labels, 'warn', 'privileged', faults);
  const policy: Policy = {
    enforce: { level: enforce.level ?? 'privileged', version: enforce.version ?? 'latest' },
    audit: { level: audit.level ?? 'privileged', version: audit.version ?? 'latest' },
    warn: { level: warn.level ?? 'privileged', version: warn.version ?? 'latest' },
  };
  // Without a warn label, warnings use the enforced level.
  const isWarnUnset = warn.level === undefined && enforce.isValid && policy.enforce.level !== 'privileged';
  if (!isWarnUnset) return { policy, faults };
  const version = warn.version ?? policy.enforce.version;
  return { policy: { ...policy, warn: { level: policy.enforce.level, version } }, faults };
}

function read(
  labels: Labels,
  mode: string,
  ifUnreadable: Level,
  faults: Cause[],
): { readonly level?: Level; readonly isValid: boolean; readonly version?: LevelVersion['version'] } {
  const level = labels[`${prefix}${mode}`];
  const isValid = level !== undefined && levels.includes(level as Level);
  if (level !== undefined && !isValid) {
    faults.push(invalid(pathOf(mode), level, `must be one of ${levels.join(', ')}`));
  }
  const text = labels[`${prefix}${mode}-version`];
  const minor = /^v1\.(0|[1-9][0-9]*)$/.exec(text ?? '')?.[1];
  if (text !== undefined && text !== 'latest' && minor === undefined) {
    faults.push(invalid(pathOf(`${mode}-version`), text, 'must be "latest" or "v1.x"'));
  }
  return {
    ...(level === undefined ? {} : { level: isValid ? (level as Level) : ifUnreadable }),
    isValid,
    ...(text === undefined ? {} : { version: minor === undefined ? 'latest' : Number(minor) }),
  };
}

function pathOf(name: string): string {
  return `metadata.labels[${prefix}${name}]`;
}

/** Formats a level: `restricted:latest`, `baseline:v1.20`. */
export function formatLevel({ level, version }: LevelVersion): string {
  return `${level}:${version === 'latest' ? version : `v1.${version}`}`;
}

export function isSameLevel(one: LevelVersion, other: LevelVersion): boolean {
  return one.level === other.level && one.version === other.version;
}

/** Returns the rank of a level by strictness. */
export function strictness(level: Level): number {
  return levels.indexOf(level);
}

/** Reports whether all modes of a policy are privileged, which means that nothing is checked. */
export function isPrivileged({ enforce, audit, warn }: Policy): boolean {
  return [enforce, audit, warn].every(({ level }) => level === privileged.level);
}
