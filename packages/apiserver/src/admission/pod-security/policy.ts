/** What the labels of a namespace say about the Pods in it. */
import { type Cause, invalid } from '@kruise/schema/field-error';

export type Level = 'privileged' | 'baseline' | 'restricted';

/** A level as it was in one minor version of Kubernetes. */
export type LevelVersion = { readonly level: Level; readonly version: 'latest' | number };

/** What is refused, what is noted in the audit log, what is warned of. */
export type Policy = { readonly enforce: LevelVersion; readonly audit: LevelVersion; readonly warn: LevelVersion };

const prefix = 'pod-security.kubernetes.io/';
const levels: readonly Level[] = ['privileged', 'baseline', 'restricted'];
const privileged: LevelVersion = { level: 'privileged', version: 'latest' };

type Labels = { readonly [name: string]: string };
type Reading = { readonly policy: Policy; readonly faults: readonly Cause[] };

const none: Labels = {};
/** Labels of namespaces are read with every Pod, and hardly ever change. */
const known = new WeakMap<Labels, Reading>();

/** The policy of a namespace, and what is wrong with its labels. */
export function policyOf(labels: Labels = none): Reading {
  let reading = known.get(labels);
  if (!reading) known.set(labels, (reading = readPolicy(labels)));
  return reading;
}

function readPolicy(labels: Labels): Reading {
  const faults: Cause[] = [];
  // What cannot be read is taken for the strictest where it is enforced, for nothing where it only informs.
  const enforce = read(labels, 'enforce', 'restricted', faults);
  const audit = read(labels, 'audit', 'privileged', faults);
  const warn = read(labels, 'warn', 'privileged', faults);
  const policy: Policy = {
    enforce: { level: enforce.level ?? 'privileged', version: enforce.version ?? 'latest' },
    audit: { level: audit.level ?? 'privileged', version: audit.version ?? 'latest' },
    warn: { level: warn.level ?? 'privileged', version: warn.version ?? 'latest' },
  };
  // Who enforces and says nothing of warnings is warned of the same.
  const isSilent = warn.level === undefined && enforce.isValid && policy.enforce.level !== 'privileged';
  if (!isSilent) return { policy, faults };
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

/** `restricted:latest`, `baseline:v1.20`. */
export function printed({ level, version }: LevelVersion): string {
  return `${level}:${version === 'latest' ? version : `v1.${version}`}`;
}

export function isSameLevel(one: LevelVersion, other: LevelVersion): boolean {
  return one.level === other.level && one.version === other.version;
}

/** How strict a level is. */
export function strictness(level: Level): number {
  return levels.indexOf(level);
}

/** Whether a policy says nothing at all. */
export function isPrivileged({ enforce, audit, warn }: Policy): boolean {
  return [enforce, audit, warn].every(({ level }) => level === privileged.level);
}
